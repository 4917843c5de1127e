"""A model in a read-only image that is replaced by another of the same size, inode and times, as reproducible builds
make them: the answer is the new model's, on every device, whatever the cache remembers.

HEARTH_BIN names the program. Mounting needs root; without it everything is skipped.
"""

import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli_case import INT8_MODEL, PICTURE, CliTest  # noqa: E402

BUILT_AT = 1_700_000_000  # every time in every image
INPUT_SCALE = struct.pack("<f", 2 / 255)  # of the demo model, whose plan holds it


def ran(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def make_squashfs(folder, image):
    return ran("mksquashfs", str(folder), str(image), "-all-root", "-all-time", str(BUILT_AT), "-mkfs-time", str(BUILT_AT))


def make_erofs(folder, image):
    return ran("mkfs.erofs", f"-T{BUILT_AT}", "--all-root", "-U", "12345678-1234-5678-1234-567812345678", str(image),
               str(folder))


def make_ext4(folder, image):
    made = ran("mke2fs", "-q", "-t", "ext4", "-U", "12345678-1234-5678-1234-567812345678", "-d", str(folder), str(image),
               "8M")
    for field in ("ctime", "mtime", "crtime"):
        if made.returncode == 0:
            made = ran("debugfs", "-w", "-R", f"set_inode_field /model.tflite {field} @{BUILT_AT}", str(image))
    return made


MAKERS = {"squashfs": ("mksquashfs", make_squashfs), "erofs": ("mkfs.erofs", make_erofs), "ext4": ("mke2fs", make_ext4)}


class ReplacedImages(CliTest):
    def setUp(self):
        super().setUp()
        first = pathlib.Path(INT8_MODEL).read_bytes()
        self.assertIn(INPUT_SCALE, first)
        # As if it had been trained again on brighter pictures: nothing but the scale of the input differs.
        self.models = {"first": first, "second": first.replace(INPUT_SCALE, struct.pack("<f", 3 / 255))}
        self.point = self.folder / "mounted"
        self.point.mkdir()

    def image(self, kind, name, with_digest):
        tool, make = MAKERS[kind]
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        content = self.folder / f"{name}-content"
        content.mkdir(exist_ok=True)
        (content / "model.tflite").write_bytes(self.models[name])
        if with_digest:
            digest = hashlib.sha256(self.models[name]).hexdigest()
            (content / "model.tflite.sha256").write_text(f"{digest}  model.tflite\n")
        image = self.folder / f"{name}.{kind}"
        made = make(content, image)
        self.assertEqual(made.returncode, 0, made.stderr)
        return image

    def mount(self, image):
        done = ran("mount", "-o", "loop,ro", str(image), str(self.point))
        if done.returncode != 0:
            self.skipTest(f"mounting an image is not allowed here: {done.stderr.strip()}")

    def run_model(self, device, *arguments):
        output = self.folder / "output"
        shutil.rmtree(output, True)
        report = self.run_json("run", self.point / "model.tflite", PICTURE, "--device", device, "--output-dir", output,
                               *arguments)
        return b"".join(file.read_bytes() for file in sorted(output.iterdir())), report

    def stamp(self):
        info = (self.point / "model.tflite").stat()
        return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns

    def check(self, kind, known_by, with_digest=False):
        images = [self.image(kind, name, with_digest) for name in ("first", "second")]
        listed = json.loads(self.run_hearth("devices", "--json", "-").stdout)["devices"]
        devices = sorted({device["backend"] for device in listed if device["usable"]})
        runs = []
        for image in images:
            self.mount(image)
            try:
                runs.append({device: (self.run_model(device), self.run_model(device), self.run_model(device, "--no-cache"))
                             for device in devices})
                runs[-1]["stamp"] = self.stamp()
            finally:
                self.assertEqual(ran("umount", str(self.point)).returncode, 0)
        self.assertEqual(runs[0]["stamp"], runs[1]["stamp"], "the images are not alike: this test shows nothing")
        for device in devices:
            for run in runs:
                (cold, _), (warm, _), (uncached, _) = run[device]
                self.assertEqual(cold, uncached, f"{device} on {kind}")
                self.assertEqual(warm, uncached, f"{device} on {kind}")
            self.assertNotEqual(runs[0][device][0][0], runs[1][device][0][0], "the two models must differ")
        for device in devices:
            reports = [run[device][1][1] for run in runs]
            self.assertEqual([report["programs"]["compiled"] for report in reports], [0, 0])
            self.assertEqual([report["cache"]["model_known_by"] for report in reports], [known_by, known_by])
            self.assertNotEqual(*[report["model"]["fingerprint"] for report in reports])

    def test_squashfs(self):
        self.check("squashfs", "content")

    def test_erofs(self):
        self.check("erofs", "content")

    def test_ext4(self):
        self.check("ext4", "content")

    def test_an_image_that_states_the_digest_is_not_read_for_it(self):
        self.check("squashfs", "digest file", with_digest=True)


if __name__ == "__main__":
    unittest.main()
