#!/usr/bin/env python3
"""test_models.py DEVICE: every shared model gives its golden's results in LiteRT 2's CompiledModel, on the GPU alone and
with the CPU, all of it on the device but for what has no kernel there; a second process compiles nothing and gives the
same bits.

The processes are this script with a folder as second argument: results.json and the cache go there.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import compiled
import plugin

NOT_ON_GPUS = {"TFLite_Detection_PostProcess"}
REFUSED_BY_LITERT = {"mnist_lstm_f32"}  # "Variable tensors not yet supported"
# PoCL compiles for minutes what the other devices show as well: EveryModelOnOpenCl, of the label `slow`, runs all.
ONE_MODEL_IN = {"opencl": 3}


def run_golden(golden, device, folder, accelerators):
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    compiled.set_options(device, cache_dir=folder / "cache", report=report, store="now")
    model = compiled.open_model(golden.model, accelerators)
    results = compiled.run(model, golden.inputs)
    is_full = model.is_fully_accelerated()
    model.close()  # writes the report
    return {
        "bits": hashlib.sha256(b"".join(values.tobytes() for values in results)).hexdigest(),
        "disagreements": golden.disagreements(results),
        "is_full": is_full,
        "report": json.loads(report.read_text()),
    }


def run_all(device, folder):
    goldens = [golden for golden in plugin.goldens(ONE_MODEL_IN.get(device, 1)) if golden.name not in REFUSED_BY_LITERT]
    results = {
        golden.name: {name: run_golden(golden, device, folder, accelerators)
                      for name, accelerators in (("alone", compiled.GPU), ("with_cpu", compiled.BOTH))}
        for golden in goldens
    }
    (folder / "results.json").write_text(json.dumps(results))


class Models(unittest.TestCase):
    device = None

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.cold, cls.warm = (cls.results_of_a_process(pathlib.Path(folder)) for _ in range(2))

    @classmethod
    def results_of_a_process(cls, folder):
        done = subprocess.run([sys.executable, __file__, cls.device, folder], stderr=subprocess.PIPE, text=True, timeout=900)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads((folder / "results.json").read_text())

    @staticmethod
    def left_of(way):
        return {node["op"] for node in way["report"]["left_to_interpreter"]}

    def test_results_are_the_goldens(self):
        self.assertGreater(len(self.cold), 10 // ONE_MODEL_IN.get(self.device, 1))
        for name, result in self.cold.items():
            for way, of_way in result.items():
                with self.subTest(name, way=way):
                    self.assertEqual(of_way["disagreements"], [])
                    if not self.left_of(result["with_cpu"]):
                        self.assertEqual(of_way["bits"], result["alone"]["bits"])

    def test_the_device_runs_all_that_it_has_kernels_for(self):
        for name, result in self.cold.items():
            for way, of_way in result.items():
                with self.subTest(name, way=way):
                    # Alone it also runs what the CPU does sooner.
                    self.assertLessEqual(self.left_of(of_way), NOT_ON_GPUS if way == "with_cpu" else set())
                    self.assertEqual(of_way["is_full"], not self.left_of(of_way))
                    (partition,) = of_way["report"]["partitions"]
                    self.assertEqual(partition["session"]["device"]["backend"], self.device)
                    if self.device != "cpu":
                        self.assertEqual(partition["session"]["ops"]["on_cpu"], 0)

    def test_a_second_process_compiles_nothing_and_gives_the_same_bits(self):
        for name, result in self.warm.items():
            with self.subTest(name):
                programs = result["with_cpu"]["report"]["partitions"][0]["session"]["programs"]
                self.assertEqual((programs["compiled"], programs["spirv_compiled"]), (0, 0))
                self.assertEqual(programs["loaded"], programs["distinct"])
                self.assertEqual(result["with_cpu"]["bits"], self.cold[name]["with_cpu"]["bits"])


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
