#!/usr/bin/env python3
"""test_models.py DEVICE: every shared model gives its golden's results through the plugin, with the
whole of it on the device but for what has no kernel there; a second process compiles nothing and gives the same bits.

The processes are this script with a folder as second argument: results.json and the cache go there.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import plugin

NOT_ON_GPUS = {"TFLite_Detection_PostProcess"}
# LiteRT has no kernels for some of their operators. Its own XNNPACK delegate does, but it is left out here.
UNRESOLVED = ("hair_segmentation", "selfie_segmentation")
# PoCL compiles for minutes what the other devices show as well: Plugin.EveryModelOnOpenCl, of the label `slow`, runs all.
ONE_MODEL_IN = {"opencl": 3}
WITHOUT_XNNPACK = plugin.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES


def run_golden(golden, device, folder):
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    interpreter = plugin.open_interpreter(
        golden.model, device, cache_dir=folder / "cache", report=report, log=folder / "log.txt"
    )
    results = plugin.run(interpreter, golden.inputs)
    bits = hashlib.sha256(b"".join(values.tobytes() for values in results)).hexdigest()
    disagreements = golden.disagreements(results)
    del interpreter  # writes the cache and the report
    return {"bits": bits, "disagreements": disagreements, "report": json.loads(report.read_text())}


def run_all(device, folder):
    results = {golden.name: run_golden(golden, device, folder) for golden in plugin.goldens(ONE_MODEL_IN.get(device, 1))}
    (folder / "results.json").write_text(json.dumps(results))


class Models(unittest.TestCase):
    device = None

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.cold, cls.warm = (cls.results_of_a_process(pathlib.Path(folder)) for _ in range(2))

    @classmethod
    def results_of_a_process(cls, folder):
        subprocess.run([sys.executable, __file__, cls.device, folder], check=True, timeout=900)
        return json.loads((folder / "results.json").read_text())

    def test_results_are_the_goldens(self):
        self.assertGreater(len(self.cold), 10 // ONE_MODEL_IN.get(self.device, 1))
        for name, result in self.cold.items():
            with self.subTest(name):
                self.assertEqual(result["disagreements"], [])

    def test_networks_that_the_interpreter_alone_refuses_run(self):
        for name in UNRESOLVED:
            with self.subTest(name):
                (golden,) = (golden for golden in plugin.goldens() if golden.model.stem == name)
                with self.assertRaisesRegex(RuntimeError, "unresolved custom op"):
                    plugin.open_interpreter(golden.model, None, resolver=WITHOUT_XNNPACK)
                interpreter = plugin.open_interpreter(golden.model, self.device, resolver=WITHOUT_XNNPACK)
                self.assertEqual(golden.disagreements(plugin.run(interpreter, golden.inputs)), [])

    def test_the_device_runs_all_that_it_has_kernels_for(self):
        for name, result in self.cold.items():
            with self.subTest(name):
                report = result["report"]
                self.assertEqual(len(report["partitions"]), 1)
                self.assertLessEqual({node["op"] for node in report["left_to_interpreter"]}, NOT_ON_GPUS)
                session = report["partitions"][0]["session"]
                self.assertEqual(session["device"]["backend"], self.device)
                if self.device != "cpu":
                    self.assertEqual(session["ops"]["on_cpu"], 0)

    def test_a_second_process_compiles_nothing_and_gives_the_same_bits(self):
        for name, result in self.warm.items():
            with self.subTest(name):
                programs = result["report"]["partitions"][0]["session"]["programs"]
                self.assertEqual((programs["compiled"], programs["spirv_compiled"]), (0, 0))
                self.assertEqual(programs["loaded"], programs["distinct"])
                self.assertEqual(result["bits"], self.cold[name]["bits"])


def main():
    device = sys.argv[1]
    if len(sys.argv) > 2:
        run_all(device, pathlib.Path(sys.argv[2]))
        return 0
    if plugin.shared_folder() is None:
        print("SKIP: the folder of shared models is not there")
        return plugin.SKIPPED
    plugin.skip_without(device)
    Models.device = device
    return 0 if unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
