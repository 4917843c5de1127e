"""Whole `hearth run` calls on randomly damaged stores: each exits 0 with the same output bits as without a cache.

    HEARTH_BIN=build/release/bin/hearth python3 tests/cli/damaged_stores.py [STORES [SEED [DEVICE]]]

Exit code 77: no device but the CPU, which keeps nothing. The drivers' own caches are left as they are: they only make
the starts that find nothing shorter.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HEARTH_BIN", str(ROOT / "build/release/bin/hearth"))
PREFERRED = ("gles", "vulkan", "opencl")  # the one that starts fastest first
TANH = 28


def damage(data, rng):
    """One kind of damage, as a disk, a copy that broke off or a stranger would do it."""
    size = len(data)
    if size == 0:
        return
    kind = rng.randrange(6)
    at = rng.randrange(size)
    page = at // 4096 * 4096
    if kind == 0:
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        data[page:page + 4096] = bytes(len(data[page:page + 4096]))
    elif kind == 3:
        other = rng.randrange(size) // 4096 * 4096
        if max(page, other) + 4096 <= size:
            data[page:page + 4096], data[other:other + 4096] = data[other:other + 4096], data[page:page + 4096]
    elif kind == 4:
        noise = rng.randbytes(min(rng.randint(1, 30000), size - at))
        data[at:at + len(noise)] = noise
    else:
        data += rng.randbytes(rng.randint(1, 50000))


class Starts:
    """Runs of one model on one device with the cache in `folder`."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device
        self.cache, self.output = folder / "cache", folder / "output"
        self.model = folder / "model.tflite"
        self.model.write_bytes(flat_model.elementwise({"main": TANH}, [1, 8, 8, 4]))

    def run(self, *arguments):
        """Exit code, the output's bytes, warnings, the report."""
        shutil.rmtree(self.output, ignore_errors=True)
        done = subprocess.run([PROGRAM, "run", str(self.model), "--device", self.device, "--random-inputs", "1",
                               "--output-dir", str(self.output), "--json", "-", *arguments], capture_output=True,
                              text=True, timeout=300, check=False, env=dict(os.environ, HEARTH_CACHE_DIR=str(self.cache)))
        bits = b"".join(file.read_bytes() for file in sorted(self.output.glob("*"))) if self.output.exists() else b""
        return done.returncode, bits, done.stderr, json.loads(done.stdout) if done.returncode == 0 else {}


def try_store(starts, sound, rng):
    """What a start made of one damaged copy of the files `sound`: the exit code, the bits, what was said, the report."""
    shutil.rmtree(starts.cache, ignore_errors=True)
    starts.cache.mkdir(mode=0o700)
    for name, data in sound.items():
        copy = bytearray(data)
        if name == "hearth.db" or rng.randrange(4) == 0:
            for _ in range(rng.randint(1, 3)):
                damage(copy, rng)
        (starts.cache / name).write_bytes(copy)
        (starts.cache / name).chmod(0o600)
    return starts.run()


def main():
    stores = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    listed = json.loads(subprocess.run([PROGRAM, "devices", "--json", "-"], capture_output=True, check=True).stdout)
    usable = {device["backend"]: device["id"] for device in reversed(listed["devices"]) if device["usable"]}
    device = sys.argv[3] if len(sys.argv) > 3 else next((usable[name] for name in PREFERRED if name in usable), None)
    if device is None:
        print("skipped: no device but the CPU, which keeps nothing")
        return 77
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="hearth-damaged-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        starts = Starts(pathlib.Path(name), device)
        code, expected, said, _ = starts.run("--no-cache")
        if code != 0 or not expected:
            print(f"without a cache: exit code {code}\n{said}")
            return 1
        starts.run()
        code, bits, said, report = starts.run()
        sound = {file.name: file.read_bytes() for file in starts.cache.iterdir() if file.name != "hearth.lock"}
        if code != 0 or bits != expected or report["cache"]["misses"] != 0 or report["cache"]["hits"] == 0:
            print(f"the sound store is not used: exit code {code}, {report.get('cache')}\n{said}")
            return 1
        counts = collections.Counter()
        for store in range(stores):
            code, bits, said, report = try_store(starts, sound, rng)
            if code != 0 or bits != expected:
                print(f"store {store}, seed {seed}: exit code {code}, {'same' if bits == expected else 'OTHER'} bits\n{said}")
                return 1
            counts["warned"] += bool(said)
            counts["compiled again"] += report["programs"]["compiled"] > 0
            if store % 100 == 99:
                print(f"{store + 1} of {stores} damaged stores on {device}: all as without a cache; {dict(counts)}", flush=True)
    if counts["compiled again"] == 0 and stores >= 20:
        print(f"no damage cost anything (seed {seed}): the stores were not damaged where it counts")
        return 1
    print(f"{stores} damaged stores on {device}, seed {seed}: every run exits 0 with the same bits; {dict(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
