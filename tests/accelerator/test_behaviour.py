#!/usr/bin/env python3
"""test_behaviour.py DEVICE: what programs do with CompiledModel: partial graphs, the GPU alone, signatures, other shapes,
options from the environment, several models and threads, and objects that go in any order."""

import gc
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import compiled
import numpy as np
import plugin
from ai_edge_litert.environment import Environment

sys.path.insert(0, str(plugin.ROOT / "tests" / "oracle"))
import flatbuffer_net  # noqa: E402

F32 = compiled.DEMO / "shapes_f32.tflite"
INT8 = compiled.DEMO / "shapes_int8.tflite"


def noise(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def chain(*names, shape=(1, 4, 4, 8), open_batch=False):
    """Operators with one input, one behind the other."""
    net = flatbuffer_net.Net()
    y = net.input(shape)
    for name in names:
        options = {"SOFTMAX": {"options": "Softmax", "beta": 1.0}, "NEG": {"options": "Neg"}}.get(name, {})
        y = net.op(name, [y], [net.tensor(shape)], **options)
    if open_batch:
        for tensor in net.tensors:
            tensor.shapeSignature = [-1, *shape[1:]]
    return net.finish([y])


def two_signatures():
    """`twice`: a + a. `product`: a * b, and b."""
    shape = (1, 8)
    first, second = flatbuffer_net.Net(), flatbuffer_net.Net()
    a = first.input(shape)
    sum_ = first.op("ADD", [a, a], [first.tensor(shape)], options="Add")
    b, c = second.input(shape), second.input(shape)
    product = second.op("MUL", [b, c], [second.tensor(shape)], options="Mul")
    first.further = [second.finish([product])]
    signatures = [("twice", {"a": a}, {"sum": sum_}), ("product", {"b": b, "c": c}, {"product": product})]
    return flatbuffer_net.with_signatures(first.finish([sum_]), signatures)


class Behaviour(unittest.TestCase):
    device = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report_path, self.log_path = self.folder / "report.json", self.folder / "log.txt"
        self.set_options()

    def set_options(self, device=None, **options):
        files = {"report": self.report_path, "log_file": self.log_path, "cache_dir": self.folder / "cache"}
        compiled.set_options(device or self.device, **{**files, **options})

    def report(self):
        return json.loads(self.report_path.read_text())

    def expect_same(self, model, inputs, results, index=0):
        expected = compiled.run(compiled.open_model(model, compiled.CPU), inputs, index)
        for wanted, actual in zip(expected, results, strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-4 * max(1, np.abs(wanted).max()))

    def test_partitions_around_what_is_left_to_litert_give_its_results(self):
        self.set_options(cpu_ops="softmax")
        model, x = chain("NEG", "SOFTMAX", "TANH", "SOFTMAX", "NEG"), noise((1, 4, 4, 8))
        opened = compiled.open_model(model, compiled.BOTH)
        signature = compiled.Signature(opened)
        for _ in range(3):
            self.expect_same(model, [x], signature.run([x]))
        report = self.report()
        self.assertEqual([part["nodes"] for part in report["partitions"]], [[0], [2], [4]])
        self.assertEqual([node["op"] for node in report["left_to_interpreter"]], ["SOFTMAX", "SOFTMAX"])
        self.assertIn("SOFTMAX (node 1, 3)", self.log_path.read_text())

    def test_an_input_that_others_read_too_reaches_them(self):
        self.set_options(cpu_ops="softmax")
        net = flatbuffer_net.Net()
        x = net.input((1, 8))
        soft = net.op("SOFTMAX", [x], [net.tensor((1, 8))], options="Softmax", beta=1.0)
        neg = net.op("NEG", [x], [net.tensor((1, 8))], options="Neg")
        total = net.op("ADD", [soft, neg], [net.tensor((1, 8))], options="Add")
        model = net.finish([total, neg, soft])
        opened = compiled.open_model(model, compiled.BOTH)
        for seed in (1, 2):
            self.expect_same(model, [noise((1, 8), seed)], compiled.run(opened, [noise((1, 8), seed)]))

    def test_the_gpu_alone_refuses_what_it_cannot_run_and_says_why(self):
        self.set_options(cpu_ops="softmax", log_file=None)
        code = (
            "import compiled, test_behaviour\n"
            f"compiled.open_model(test_behaviour.chain('NEG', 'SOFTMAX'), compiled.GPU)\n"
        )
        failed = subprocess.run([sys.executable, "-c", code], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("SOFTMAX (node 1)", failed.stderr)
        self.assertIn("allow the CPU too", failed.stderr)
        self.assertIn("RuntimeError", failed.stderr)

    def test_a_device_that_is_not_there_leaves_the_model_to_the_cpu_or_is_an_error(self):
        self.set_options(device="gramophone")
        opened = compiled.open_model(F32, compiled.BOTH)
        x = noise((1, 96, 96, 3))
        self.expect_same(F32, [x], compiled.run(opened, [x]))
        with self.assertRaises(RuntimeError):
            compiled.open_model(F32, compiled.GPU)

    def test_a_wrong_option_is_an_error(self):
        self.set_options(precision="fp7")
        with self.assertRaises(RuntimeError):
            compiled.open_model(F32, compiled.BOTH)

    def test_the_environment_sets_the_plugins_options(self):
        self.set_options(precision="fp16", threads=1, max_partitions=1, profiling=1)
        x = noise((1, 96, 96, 3))
        with compiled.open_model(F32, compiled.GPU) as opened:
            compiled.run(opened, [x])
        partition = self.report()["partitions"][0]
        self.assertEqual(partition["session"]["threads"], 1)
        self.assertGreater(len(partition["profile"]), 0)
        if partition["session"]["precision"] != "fp16":
            self.assertIn("precision fp16 is not available", self.log_path.read_text())

    def test_the_cache_is_on_unless_told_otherwise(self):
        x = noise((1, 96, 96, 3))
        for options, has_cache in (({}, True), ({"cache": "off"}, False)):
            self.set_options(**options)
            with compiled.open_model(F32, compiled.GPU) as opened:
                compiled.run(opened, [x])
            cache = self.report()["partitions"][0]["session"]["cache"]
            self.assertEqual(cache["path"] != "", has_cache, cache)
        self.assertTrue((self.folder / "cache" / "hearth.db").exists())

    def test_signatures_are_networks_of_their_own(self):
        model = two_signatures()
        opened = compiled.open_model(model, compiled.GPU)
        twice, product = compiled.Signature(opened, 0), compiled.Signature(opened, 1)
        for seed in (1, 2):
            a, b = noise((1, 8), seed), noise((1, 8), seed + 10)
            np.testing.assert_allclose(twice.run([a])[0], a + a, rtol=1e-6)
            np.testing.assert_allclose(product.run([a, b])[0], a * b, rtol=1e-6)
        self.assertTrue(opened.is_fully_accelerated())

    def test_an_open_shape_is_chosen_and_changed(self):
        model = chain("NEG", "TANH", open_batch=True)
        opened = compiled.open_model(model, compiled.GPU)
        for batch in (1, 3, 2, 3):
            opened.resize_input_tensor(0, [batch, 4, 4, 8])
            x = noise((batch, 4, 4, 8), batch)
            (y,) = compiled.run(opened, [x])
            self.assertEqual(y.shape, x.shape)
            np.testing.assert_allclose(y, np.tanh(-x), rtol=0, atol=1e-5)

    def test_a_larger_buffer_makes_an_open_shape_larger(self):
        opened = compiled.open_model(chain("NEG", open_batch=True), compiled.GPU)
        small = compiled.Signature(opened)
        (y,) = small.run([noise((1, 4, 4, 8))])
        np.testing.assert_array_equal(y, -noise((1, 4, 4, 8)))

    def test_8_bits_stay_what_they_are(self):
        x = np.random.default_rng(4).integers(-128, 128, (1, 96, 96, 3)).astype(np.int8)
        opened = compiled.open_model(INT8, compiled.GPU)
        (y,) = compiled.run(opened, [x])
        (expected,) = compiled.run(compiled.open_model(INT8, compiled.CPU), [x])
        self.assertLessEqual(np.abs(y.astype(int) - expected).max(), 16)

    def test_several_models_and_threads_do_not_disturb_each_other(self):
        environment = Environment.create(runtime_path=str(compiled.RUNTIME))
        x = noise((1, 96, 96, 3))
        opened = [compiled.open_model(F32, compiled.GPU, environment) for _ in range(3)]
        (expected,) = compiled.run(opened[0], [x])
        problems = []

        def work(model):
            signature = compiled.Signature(model)
            for _ in range(5):
                if not np.array_equal(signature.run([x])[0], expected):
                    problems.append("another result")

        threads = [threading.Thread(target=work, args=[model]) for model in opened]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    def test_objects_go_in_any_order(self):
        code = (
            "import compiled, gc, numpy, sys\n"
            "from ai_edge_litert.environment import Environment\n"
            "x = numpy.zeros((1, 96, 96, 3), numpy.float32)\n"
            "def make():\n"
            "  environment = Environment.create(runtime_path=str(compiled.RUNTIME))\n"
            f"  model = compiled.open_model({str(F32)!r}, compiled.GPU, environment)\n"
            "  signature = compiled.Signature(model)\n"
            "  signature.run([x])\n"
            "  return environment, model, signature\n"
            "environment, model, signature = make()\n"
        )
        ends = {
            "environment first": "environment.close(); model._environment = None; del environment; gc.collect(); signature.run([x]); model.close()",
            "model first": "model.close(); signature.model = None; del model; gc.collect(); del signature; del environment",
            "buffers first": "signature.inputs.clear(); signature.outputs.clear(); gc.collect(); model.close(); environment.close()",
            "a circle": "model.circle = [model, environment, signature]; del environment, model, signature; gc.collect()",
            "globals at the end": "kept = make()",
            "on a thread": "import threading; t = threading.Thread(target=make); t.start(); t.join(); gc.collect()",
        }
        for name, end in ends.items():
            with self.subTest(name):
                done = subprocess.run([sys.executable, "-c", code + end], cwd=pathlib.Path(__file__).parent, capture_output=True,
                                      text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_a_thousand_runs_keep_no_memory(self):
        signature = compiled.Signature(compiled.open_model(chain("NEG", "TANH"), compiled.GPU))
        x = noise((1, 4, 4, 8))

        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

        for _ in range(200):
            signature.run([x])
        gc.collect()
        before = resident()
        for _ in range(1000):
            signature.run([x])
        self.assertLess(resident() - before, 8 << 20)


if __name__ == "__main__":
    Behaviour.device = sys.argv[1]
    plugin.skip_without(Behaviour.device)
    unittest.main(argv=sys.argv[:1], verbosity=2)
