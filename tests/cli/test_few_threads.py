"""A system that gives few threads or none: each verb works, or says what is wrong; nothing ends in an abort.

HEARTH_BIN names the program:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_few_threads.py
"""

import json
import os
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli_case  # noqa: E402
import flat_model  # noqa: E402
from cli_case import MODEL, PICTURE, PROGRAM, TIMEOUT_S  # noqa: E402

# A user that runs nothing else: the system counts a user's threads, not a process's.
USER = 54321
TANH = 28


class FewThreads(cli_case.CliTest):
    def setUp(self):
        if os.getuid() != 0:
            self.skipTest("only root can take the identity of a user without threads")
        super().setUp()
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir()
        os.chown(self.home, USER, USER)

    def run_with(self, threads, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        return subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=environment, user=USER, group=USER, extra_groups=[], preexec_fn=limit,
                              timeout=TIMEOUT_S, check=False)

    def devices(self):
        listed = json.loads(self.run_with(1000, "devices", "--json", "-").stdout)["devices"]
        return sorted({device["backend"] for device in listed if device["usable"]} & {"cpu", "gles", "vulkan"})

    def test_the_cpu_works_without_any(self):
        few = self.run_with(0, "run", MODEL, PICTURE, "--device", "cpu", "--threads", "4", "--json", "-")
        self.assertEqual(few.returncode, 0, few.stderr)
        many = self.run_with(1000, "run", MODEL, PICTURE, "--device", "cpu", "--threads", "4", "--json", "-")
        self.assertEqual(json.loads(few.stdout)["outputs"], json.loads(many.stdout)["outputs"])

    # OpenCL's driver here, PoCL, ends the process itself when it gets no thread.
    def test_a_device_works_or_is_refused_with_a_sentence(self):
        model = self.file("model.tflite", flat_model.elementwise({"main": TANH}, [1, 8, 8, 4]))
        for device in self.devices():
            for start in ("ready", "hot"):
                for threads in range(9):
                    with self.subTest(device=device, start=start, threads=threads):
                        done = self.run_with(threads, "run", model, "--random-inputs", "1", "--device", device, "--start",
                                             start)
                        self.assertIn(done.returncode, (0, 4), done.stderr)
                        if done.returncode == 4:
                            self.assertIn("hearth: error: device '" + device, done.stderr)


if __name__ == "__main__":
    unittest.main()
