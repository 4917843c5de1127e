"""A cache that can't be used: the model runs, its results are the same, one warning names the reason.

HEARTH_BIN names the program. A device that keeps something is needed to see more than the CPU:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_cache_trouble.py
"""

import fcntl
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HEARTH_BIN", str(ROOT / "build/release/bin/hearth"))
TIMEOUT_S = 120
NOBODY = 65534
TANH = 28


def devices():
    listed = json.loads(subprocess.run([PROGRAM, "devices", "--json", "-"], capture_output=True, check=True).stdout)
    return {device["backend"]: device["id"] for device in reversed(listed["devices"]) if device["usable"]}


class CacheCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        usable = devices()
        cls.device = next((usable[name] for name in ("gles", "vulkan", "opencl") if name in usable), "cpu")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-trouble-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.folder.chmod(0o755)
        self.model = self.folder / "model.tflite"
        self.model.write_bytes(flat_model.elementwise({"main": TANH}, [1, 8, 8, 4]))
        self.expected = self.run_model("--no-cache")[0]

    def run_model(self, *arguments, user=None, variables=None, most_file_bytes=None):
        """The output's bytes, the lines on standard error, the report."""
        output = pathlib.Path(tempfile.mkdtemp(prefix="hearth-output-"))
        self.addCleanup(shutil.rmtree, output, True)
        output.chmod(0o777)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("HEARTH_CACHE", "XDG_CACHE", "MESA_SHADER_CACHE"))}
        environment.update(variables or {"HEARTH_CACHE_DIR": str(self.folder / "cache")})
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        if most_file_bytes is not None:
            sizes = (most_file_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
            identity["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, sizes)
        done = subprocess.run([PROGRAM, "run", str(self.model), "--device", self.device, "--random-inputs", "1",
                               "--output-dir", str(output), "--json", "-", *map(str, arguments)], capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False, env=environment, cwd="/", **identity)
        self.assertEqual(done.returncode, 0, done.stderr)
        bits = b"".join(file.read_bytes() for file in sorted(output.glob("*.npy")))
        self.assertTrue(bits)
        return bits, done.stderr.splitlines(), json.loads(done.stdout)

    def run_as_nobody(self, variables):
        """As a user whom permissions bind; skips where that can't be had."""
        if os.geteuid() != 0:
            return self.run_model(variables=variables)
        probe = subprocess.run([PROGRAM, "--version"], capture_output=True, check=False, user=NOBODY, group=NOBODY,
                               extra_groups=[], cwd="/") if os.access("/", os.X_OK) else None
        if probe is None or probe.returncode != 0:
            self.skipTest("the program can't be run by another user here")
        return self.run_model(user=NOBODY, variables=variables)

    def assert_runs_with_one_warning(self, result, *parts):
        bits, lines, report = result
        self.assertEqual(bits, self.expected)
        about_cache = [line for line in lines if line.startswith("hearth: ") and "cache" in line]  # drivers have theirs
        self.assertEqual(len(about_cache), 1, lines)
        for part in parts:
            self.assertIn(part, about_cache[0])
        return report

    def mount(self, size):
        folder = self.folder / "small"
        folder.mkdir(mode=0o700)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", str(folder)],
                              capture_output=True, text=True, check=False) if shutil.which("mount") else None
        if done is None or done.returncode != 0:
            self.skipTest(f"mounting is not allowed here: {done.stderr.strip() if done else 'no mount'}")
        self.addCleanup(subprocess.run, ["umount", str(folder)], check=False)
        return folder


class Trouble(CacheCase):
    def test_a_full_disk(self):
        if self.device == "cpu":
            self.skipTest("no device but the CPU, which keeps nothing")
        folder = self.mount("128k")
        result = self.run_model(variables={"HEARTH_CACHE_DIR": str(folder)})
        self.assert_runs_with_one_warning(result, "full")

    def test_a_disk_that_is_full_from_the_beginning(self):
        folder = self.mount("16k")
        (folder / "filler").write_bytes(bytes(16384))
        result = self.run_model(variables={"HEARTH_CACHE_DIR": str(folder)})
        self.assert_runs_with_one_warning(result, str(folder))

    def test_warming_a_cache_that_keeps_nothing_fails(self):
        if self.device == "cpu":
            self.skipTest("no device but the CPU, which keeps nothing")
        folder = self.mount("4m")
        line = [PROGRAM, "cache", "warm", str(self.model), "--device", self.device, "--cache", str(folder / "cache")]
        other = self.folder / "other.tflite"
        other.write_bytes(flat_model.elementwise({"main": TANH}, [1, 8, 8, 8]))
        subprocess.run(line, check=True, capture_output=True, timeout=TIMEOUT_S)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        subprocess.run(line, check=True, capture_output=True, timeout=TIMEOUT_S)  # it has all that the model needs
        line[3] = str(other)
        done = subprocess.run(line, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, f"could not be stored: .*{folder}.*can't be written")

    def doctors_advice(self, folder):
        done = subprocess.run([PROGRAM, "cache", "doctor", "--cache", str(folder), "--json", "-"], capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return [finding["command"] for finding in json.loads(done.stdout)["findings"] if finding["trouble"]]

    def test_the_doctor_sends_a_small_or_read_only_disk_that_holds_nothing_elsewhere(self):
        folder = self.mount("1m")
        self.assertEqual(self.doctors_advice(folder), ["export HEARTH_CACHE_DIR=/a/folder/of/a/local/disk"])
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        self.assertEqual(self.doctors_advice(folder), ["export HEARTH_CACHE_DIR=/a/folder/of/a/local/disk"])

    def test_a_limit_on_the_size_of_files(self):
        self.assert_runs_with_one_warning(self.run_model(most_file_bytes=8192), "ulimit -f")

    def folder_to_read(self, file_mode):
        self.run_model()
        cache = self.folder / "cache"
        for path in (cache, *cache.iterdir()):
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
            path.chmod(0o500 if path == cache else file_mode)
        self.addCleanup(cache.chmod, 0o700)
        return cache

    def test_a_folder_whose_files_alone_can_be_written_is_no_full_disk(self):
        cache = self.folder_to_read(0o600)
        result = self.run_as_nobody({"HEARTH_CACHE_DIR": str(cache)})
        self.assert_runs_with_one_warning(result, "can't be written", f"chmod u+rwx '{cache}'")
        self.assertNotIn("disk is full", "".join(result[1]))

    def test_a_folder_that_can_only_be_read(self):
        cache = self.folder_to_read(0o400)
        report = self.assert_runs_with_one_warning(self.run_as_nobody({"HEARTH_CACHE_DIR": str(cache)}),
                                                   "can't be written")
        if self.device != "cpu":
            self.assertEqual(report["programs"]["compiled"], 0, "what the folder holds is to be used")

    def test_a_home_that_can_not_be_written(self):
        home = self.folder / "home"
        home.mkdir(mode=0o555)
        self.assert_keeps_its_cache_elsewhere(lambda: self.run_as_nobody({"HOME": str(home)}))

    def test_no_home_at_all(self):
        environment = {"PATH": os.environ.get("PATH", "")}
        saved = os.environ.pop("HOME", None)
        try:
            self.assert_keeps_its_cache_elsewhere(lambda: self.run_as_nobody(environment))
        finally:
            if saved is not None:
                os.environ["HOME"] = saved

    def assert_keeps_its_cache_elsewhere(self, run):
        """In a private folder, from which the second start is warm."""
        bits, warnings, report = run()
        file = pathlib.Path(report["cache"]["path"])
        self.addCleanup(shutil.rmtree, file.parent, True)
        self.assertEqual(bits, self.expected)
        self.assertEqual(warnings, [])
        self.assertRegex(str(file.parent), "^(/var)?/tmp/hearth-[0-9]+$")
        self.assertEqual(file.parent.stat().st_mode & 0o777, 0o700)
        self.assertEqual(run()[2]["programs"]["compiled"], 0)


class Options(CacheCase):
    """The options that say what stands around the cache folder."""

    def setUp(self):
        super().setUp()
        if self.device == "cpu":
            self.skipTest("no device but the CPU, which keeps nothing")

    def test_a_layer_makes_a_start_warm_and_is_not_written(self):
        layer = self.folder / "layer"
        self.run_model(variables={"HEARTH_CACHE_DIR": str(layer)})
        before = (layer / "hearth.db").read_bytes()
        bits, lines, report = self.run_model("--cache-layer", layer, "--trust-cache-layers")
        self.assertEqual((bits, lines), (self.expected, []))
        self.assertEqual((report["programs"]["compiled"], report["cache"]["misses"]), (0, 0))
        self.assertEqual((layer / "hearth.db").read_bytes(), before)
        missing = self.folder / "none"
        self.assert_runs_with_one_warning(
            self.run_model("--cache-layer", missing, "--cache-layer", layer, "--trust-cache-layers"), str(missing))

    def test_a_layer_runs_only_when_a_trusted_key_signed_it(self):
        self.run_model(variables={"HEARTH_CACHE_DIR": str(self.folder / "made")})
        key, bundle = self.folder / "key", self.folder / "bundle.tar"
        if subprocess.run([PROGRAM, "cache", "key", str(key)], capture_output=True, check=False).returncode != 0:
            self.skipTest("libsodium is not installed")
        subprocess.run([PROGRAM, "cache", "export", str(bundle), "--sign", str(key), "--cache", str(self.folder / "made")],
                       capture_output=True, check=True)
        report = self.assert_runs_with_one_warning(self.run_model("--cache-layer", bundle), str(bundle), "--trust-cache-layers")
        self.assertGreater(report["programs"]["compiled"], 0)
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        bits, lines, report = self.run_model("--cache-layer", bundle, "--cache-layer-keys", f"{key}.pub")
        self.assertEqual((bits, lines), (self.expected, []))
        self.assertEqual((report["programs"]["compiled"], report["cache"]["misses"]), (0, 0))

    def test_a_limit_that_holds_nothing_is_one_warning_with_advice(self):
        self.assert_runs_with_one_warning(self.run_model("--cache-max-size", "64K"), "raise its limit")

    def test_pruning_below_an_empty_store_says_why_it_stays_larger(self):
        self.run_model()
        done = subprocess.run([PROGRAM, "cache", "prune", "--max-size", "100K", "--yes", "--cache", str(self.folder / "cache")],
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("an empty store takes 245760 bytes", done.stderr)

    def test_a_locked_store_is_no_device_that_is_not_usable(self):
        self.run_model()
        with open(self.folder / "cache" / "hearth.lock", "rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run([PROGRAM, "cache", "clear", "--yes", "--cache", str(self.folder / "cache")], capture_output=True,
                                  text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("another process keeps", done.stderr)

    def test_a_damaged_cache_is_work_that_failed_and_the_remedy_is_named(self):
        self.run_model()
        cache = self.folder / "cache"
        bundle = self.folder / "bundle.tar"
        for line in (["ls"], ["ls", "--model", self.model, "--device", self.device], ["stats"], ["ls", "--by-model"],
                     ["warm", "--from-cache", "--device", self.device], ["export", bundle]):
            for file in cache.glob("hearth.db*"):
                file.unlink()
            (cache / "hearth.db").write_bytes(b"x" * 5000)
            (cache / "hearth.db").chmod(0o600)
            done = subprocess.run([PROGRAM, "cache", *map(str, line), "--cache", str(cache)], capture_output=True, text=True,
                                  timeout=TIMEOUT_S, check=False)
            self.assertEqual(done.returncode, 1, (line, done.stderr))
            self.assertIn("hearth cache verify --repair", done.stderr, line)
        self.assertFalse(bundle.exists())

    def test_a_size_that_is_none_is_wrong_usage(self):
        done = subprocess.run([PROGRAM, "run", str(self.model), "--cache-max-size", "much"], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'much' is not a size", done.stderr)

    def test_a_cache_that_is_only_to_be_read_stays_empty(self):
        bits, _, report = self.run_model("--cache-read-only")
        self.assertEqual(bits, self.expected)
        self.assertEqual(report["cache"]["bytes_written"], 0)
        self.assertFalse((self.folder / "cache" / "hearth.db").exists())

    def test_a_server_that_is_not_there_is_one_warning(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        key = self.folder / "key"
        made = subprocess.run([PROGRAM, "cache", "key", str(key)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"no signatures here: {made.stderr.strip()}")
        result = self.run_model("--cache-server", address, "--cache-server-keys", f"{key}.pub", "--cache-server-sign", key)
        self.assert_runs_with_one_warning(result, "server")
        result = self.run_model("--cache-server", address, "--cache-server-keys", self.folder / "no-such-file",
                                "--cache", self.folder / "other")
        self.assert_runs_with_one_warning(result, "no-such-file")


if __name__ == "__main__":
    unittest.main()
