"""Machines that lack what others have: the program works there, or says what is missing.

HEARTH_BIN names the program:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_poor_machines.py
"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli_case  # noqa: E402
from cli_case import MODEL, PICTURE, PROGRAM, TIMEOUT_S  # noqa: E402


class PoorMachines(cli_case.CliTest):
    def run_behind(self, script, *arguments):
        """The program, started by what `script` ends with: exec "$@"."""
        return subprocess.run(["sh", "-c", script, "sh", PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=self.environment(), timeout=TIMEOUT_S, check=False)

    def run_without(self, mounted, *arguments):
        hide = f'mount -t tmpfs none {mounted} && exec "$@"'
        allowed = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", mounted], capture_output=True,
                                 check=False)
        if allowed.returncode != 0:
            self.skipTest(f"hiding {mounted} needs the right to mount")
        return self.run_behind(f"exec unshare --mount sh -c '{hide}' sh \"$@\"", *arguments)

    def usable(self, backend):
        listed = json.loads(self.run_behind('exec "$@"', "devices", "--json", "-").stdout)["devices"]
        return any(device["usable"] and device["backend"] == backend for device in listed)

    def test_without_proc_the_cpu_works_and_says_why_it_is_slow(self):
        arguments = ("run", MODEL, PICTURE, "--device", "cpu", "--json", "-", "--output-dir")
        poor = self.run_without("/proc", *arguments, self.folder / "poor")
        self.assertEqual(poor.returncode, 0, poor.stderr)
        report = json.loads(poor.stdout)
        usual = json.loads(self.run_behind('exec "$@"', *arguments, self.folder / "usual").stdout)
        for ours, theirs in zip(report["outputs"], usual["outputs"], strict=True):
            for a, b in zip(self.numbers(ours["file"]), self.numbers(theirs["file"]), strict=True):
                self.assertLessEqual(abs(a - b), 1e-4 * max(1, abs(b)))
        if "XNNPACK" not in report["device"]["driver"]:
            self.skipTest("built without XNNPACK")
        self.assertIn("/proc", " ".join(report["warnings"]))
        self.assertIn("XNNPACK", poor.stderr)
        self.assertNotIn("XNNPACK", " ".join(usual["warnings"]))

    @staticmethod
    def numbers(file):
        _, _, data = cli_case.read_npy(file)
        return struct.unpack(f"<{len(data) // 4}f", data)

    def test_without_proc_vulkan_finds_its_compiler(self):
        if not self.usable("vulkan"):
            self.skipTest("no Vulkan device")
        poor = self.run_without("/proc", "run", MODEL, PICTURE, "--device", "vulkan", "--no-cache")
        self.assertEqual(poor.returncode, 0, poor.stderr)

    def reason_against_gles(self, library_path):
        """Why OpenGL ES can't be used where libraries are looked for in this folder first."""
        done = self.run_behind(f'LD_LIBRARY_PATH="{library_path}" exec "$@"', "devices", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        (device,) = [device for device in json.loads(done.stdout)["devices"] if device["backend"] == "gles"]
        self.assertFalse(device["usable"])
        return device["reason"]

    def test_without_a_library_of_opengl_es_its_name_is_the_reason(self):
        if not self.usable("gles"):
            self.skipTest("no OpenGL ES device")
        for library in ("libepoxy.so.0", "libEGL.so.1", "libGLESv2.so.2"):
            with self.subTest(library=library):
                folder = self.folder / library
                folder.mkdir()
                (folder / library).write_bytes(b"")
                self.assertIn(library, self.reason_against_gles(folder))

    def test_a_library_of_opengl_es_that_lacks_functions_is_not_called(self):
        if not self.usable("gles"):
            self.skipTest("no OpenGL ES device")
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        for library, function, lacks in (("libEGL.so.1", "eglGetCurrentContext", " has no egl"), ("libGLESv2.so.2", "glFinish", " has no gl")):
            with self.subTest(library=library):
                folder = self.folder / library
                folder.mkdir()
                code = f"void *{function}(void) {{ return 0; }}"
                subprocess.run([compiler, "-shared", "-xc", "-", "-o", folder / library], input=code, text=True, check=True)
                self.assertIn(library + lacks, self.reason_against_gles(folder))

    def test_a_cache_is_made_under_any_umask(self):
        poor = self.run_behind('umask 0177 && exec "$@"', "run", MODEL, PICTURE, "--device", "cpu", "--json", "-")
        self.assertEqual(poor.returncode, 0, poor.stderr)
        self.assertEqual(json.loads(poor.stdout)["warnings"], [])
        self.assertEqual((self.folder / "cache").stat().st_mode & 0o777, 0o700)



class CrashingDrivers(cli_case.CliTest):
    """Drivers of our own that end the process when a loader asks them anything."""

    SOURCE = """
        #include <stdlib.h>
        void* vk_icdGetInstanceProcAddr(void* instance, const char* name) { abort(); }
        void* clGetExtensionFunctionAddress(const char* name) { abort(); }
        int clIcdGetPlatformIDsKHR(unsigned count, void* platforms, unsigned* found) { abort(); }
    """

    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler for a driver")
        source, library = self.file("driver.c", self.SOURCE.encode()), self.folder / "libdriver.so"
        subprocess.run([compiler, "-w", "-shared", "-fPIC", "-o", library, source], check=True)
        manifest = self.file("driver.json", json.dumps(
            {"file_format_version": "1.0.0", "ICD": {"library_path": str(library), "api_version": "1.1.0"}}).encode())
        vendors = self.folder / "vendors"
        vendors.mkdir()
        (vendors / "driver.icd").write_text(f"{library}\n")
        self.drivers = {"vulkan": {"VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)},
                        "opencl": {"OCL_ICD_VENDORS": f"{vendors}/"}}

    def cases(self):
        """(backend, variables) of each that this build has, with a cache of its own."""
        listed = {device["backend"] for device in self.run_json("devices")["devices"]}
        return [(backend, dict(variables, HEARTH_CACHE_DIR=str(self.folder / backend)))
                for backend, variables in self.drivers.items() if backend in listed]

    def device(self, backend, variables):
        listed = json.loads(self.run_hearth("devices", "--json", "-", variables=variables).stdout)["devices"]
        return next(device for device in listed if device["backend"] == backend)

    def test_end_one_start_and_are_left_out_of_the_next_ones(self):
        for backend, variables in self.cases():
            self.run_hearth("devices", variables=variables, expect=-signal.SIGABRT)
            for _ in range(2):
                device = self.device(backend, variables)
                self.assertFalse(device["usable"])
                self.assertIn("its driver crashed while its devices were looked for", device["reason"])
            done = self.run_hearth("run", MODEL, "--random-inputs", "1", variables=variables)
            self.assertIn(f"warning: {backend}: its driver crashed", done.stderr)
            named = self.run_hearth("run", MODEL, "--random-inputs", "1", "--device", backend, variables=variables,
                                    expect=4)
            self.assert_one_error(named, "its driver crashed")
            doctor = self.run_hearth("cache", "doctor", variables=variables, expect=1)
            self.assertIn(f"HEARTH_BACKENDS=+{backend} hearth devices", doctor.stdout)
            mended = {"HEARTH_CACHE_DIR": variables["HEARTH_CACHE_DIR"]}
            self.assertIn("crashed", self.device(backend, mended)["reason"])
            usual = self.device(backend, {})
            again = self.device(backend, dict(mended, HEARTH_BACKENDS=f"+{backend}"))
            self.assertEqual((again["usable"], again["reason"]), (usual["usable"], usual["reason"]))
            self.assertEqual(self.device(backend, mended)["usable"], usual["usable"])

    def test_are_left_out_where_the_user_says_so(self):
        for backend, variables in self.cases():
            device = self.device(backend, dict(variables, HEARTH_BACKENDS=f"-{backend}"))
            self.assertEqual((device["usable"], device["reason"]), (False, "HEARTH_BACKENDS leaves it out"))
        wrong = self.run_hearth("run", MODEL, "--random-inputs", "1", variables={"HEARTH_BACKENDS": "-metal"})
        self.assertIn("HEARTH_BACKENDS has '-metal'", wrong.stderr)

    def test_do_not_end_the_problem_report(self):
        for backend, variables in self.cases():
            report = json.loads(self.run_hearth("diagnose", "-", variables=variables).stdout)
            reasons = {device["backend"]: device["reason"] for device in report["devices"]}
            self.assertIn("its driver crashed", reasons[backend])


if __name__ == "__main__":
    unittest.main()
