#!/usr/bin/env python3
"""test_behaviour.py DEVICE: what programs do with the plugin: options, partitions, resized inputs, state, threads, the
cache, reports. The operator that Hearth does not take is DILATE with a number that is no constant."""

import json
import pathlib
import sys
import tempfile
import threading
import unittest

import numpy as np
import plugin

sys.path.insert(0, str(plugin.ROOT / "tests" / "oracle"))
import flatbuffer_net  # noqa: E402
import model_archive  # noqa: E402

DEMO = plugin.ROOT / "tools" / "demo" / "shapes_f32.tflite"
LSTM = model_archive.Archive()["lstm_full_plain.tflite"]
SHAPE = (1, 8, 8, 4)
LSTM_WIDTH = 160


def two_part_net(weight_type=flatbuffer_net.FLOAT32):
    """conv, relu, DILATE, add, conv, relu6: a delegate can take what lies before and behind the third."""
    random = np.random.default_rng(7)
    net = flatbuffer_net.Net()

    def conv(x):
        weights = random.uniform(-1, 1, (4, 3, 3, 4)).astype(np.float32)
        if weight_type == flatbuffer_net.FLOAT32:
            filters = net.const(weights)
        else:
            filters = net.op("DEQUANTIZE", [net.const(weights.astype(np.float16))], [net.tensor(weights.shape)])
        options = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
        bias = net.const(random.uniform(-1, 1, 4).astype(np.float32))
        return net.op("CONV_2D", [x, filters, bias], [net.tensor(SHAPE)], options="Conv2D", **options)

    first = net.op("RELU", [conv(net.input(SHAPE))], [net.tensor(SHAPE)])
    ones, zero = net.const(np.ones(4, np.int32)), net.tensor((), variable=True)
    same = net.op("DILATE", [first, ones, zero], [net.tensor(SHAPE)])
    total = net.op("ADD", [first, same], [net.tensor(SHAPE)], options="Add")
    last = net.op("RELU6", [conv(total)], [net.tensor(SHAPE)])
    return net.finish([last])


def two_lstm_layers():
    net, random = flatbuffer_net.Net(), np.random.default_rng(9)
    y = net.input((1, 4, LSTM_WIDTH))

    def matrix():
        weights = random.integers(-127, 128, (LSTM_WIDTH, LSTM_WIDTH))
        return net.const(weights, flatbuffer_net.INT8, (0.001, 0))

    for _ in range(2):
        weights = [matrix() for _ in range(8)]
        biases = [net.const(np.zeros(LSTM_WIDTH, np.float32)) for _ in range(4)]
        states = [net.tensor((1, LSTM_WIDTH), variable=True) for _ in range(2)]
        operands = [y, *weights, -1, -1, -1, *biases, -1, -1, *states]
        activation = flatbuffer_net.schema.ActivationFunctionType.TANH
        options = {"options": "UnidirectionalSequenceLSTM", "fusedActivationFunction": activation}
        made = [net.tensor((1, 4, LSTM_WIDTH))]
        y = net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, made, 2, **options)
    return net.finish([y])


def noise(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def wide_net(batch=1):
    net = flatbuffer_net.Net()
    x = net.input((batch, 4))
    half = net.const(np.full((1, 1), 0.5, np.float32))
    y = net.op("MUL", [x, half], [net.tensor((batch, 4))], options="Mul")
    return net.finish([net.op("SOFTMAX", [y], [net.tensor((batch, 4))], options="Softmax", beta=1.0)])


class Behaviour(unittest.TestCase):
    device = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report_path, self.log_path = self.folder / "report.json", self.folder / "log.txt"

    def open(self, model, **options):
        return plugin.open_interpreter(model, self.device, report=self.report_path, log=self.log_path, **options)

    def report(self):
        return json.loads(self.report_path.read_text())

    def expect_same(self, model, inputs, results):
        for expected, actual in zip(plugin.run(plugin.open_interpreter(model, None), inputs), results, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4 * max(1, np.abs(expected).max()))

    def test_an_unknown_option_is_an_error_that_lists_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "no option is called 'devise' .did you mean 'device'\\?.; there are device, precision, preference"):
            plugin.load_delegate(plugin.PLUGIN, {"devise": "cpu"})

    def test_a_device_that_is_not_there_leaves_a_sentence_and_the_interpreters_own_path(self):
        with self.assertRaisesRegex(RuntimeError, "no usable device is called 'gramophone'"):
            plugin.open_interpreter(DEMO, "gramophone")

    def test_partitions_around_an_unknown_operator_give_the_same_results_and_it_is_named_once(self):
        model, x = two_part_net(), noise(SHAPE)
        interpreter = self.open(model)
        for _ in range(3):
            self.expect_same(model, [x], plugin.run(interpreter, [x]))
        report = self.report()
        self.assertEqual([len(part["nodes"]) for part in report["partitions"]], [2, 3])
        self.assertEqual([node["op"] for node in report["left_to_interpreter"]], ["DILATE"])
        self.assertEqual(self.log_path.read_text().count("DILATE"), 1)

    def test_the_largest_partitions_are_taken(self):
        model, x = two_part_net(), noise(SHAPE)
        for options, expected in (
            ({"max_partitions": 1}, [3]),
            ({"max_delegated_partitions": 0}, [3]),  # the reference reads it as 1
            ({"min_nodes_per_partition": 3}, [3]),
            ({"min_nodes_per_partition": 4}, []),
        ):
            with self.subTest(options):
                self.expect_same(model, [x], plugin.run(self.open(model, **options), [x]))
                self.assertEqual([len(part["nodes"]) for part in self.report()["partitions"]], expected)

    def test_partitions_read_float16_weights_that_the_interpreter_widens(self):
        model, x = two_part_net(flatbuffer_net.FLOAT16), noise(SHAPE)
        self.expect_same(model, [x], plugin.run(self.open(model), [x]))
        # Two operators and the DEQUANTIZE that is read with them; three and one.
        totals = [part["session"]["ops"]["total"] for part in self.report()["partitions"]]
        self.assertEqual(totals, [3, 4])

    def test_resized_inputs(self):
        model = wide_net()
        interpreter = self.open(model)
        for batch in (1, 5, 2, 5):
            interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], [batch, 4])
            interpreter.allocate_tensors()
            x = noise((batch, 4), batch)
            (actual,) = plugin.run(interpreter, [x])
            powers = np.exp(0.5 * x)
            np.testing.assert_allclose(actual, powers / powers.sum(axis=1, keepdims=True), atol=1e-6)
            self.assertEqual(len(self.report()["partitions"][-1]["nodes"]), 2)

    def test_state_persists_and_is_reset_with_the_interpreters_variables(self):
        interpreter, plain = self.open(LSTM), plugin.open_interpreter(LSTM, None)
        inputs = [noise(details["shape"], 3) for details in plain.get_input_details()]
        for _ in range(2):
            results = []
            for _ in range(3):
                results.append(plugin.run(interpreter, inputs)[0])
                np.testing.assert_allclose(results[-1], plugin.run(plain, inputs)[0], atol=1e-5)
            self.assertGreater(np.abs(results[2] - results[0]).max(), 1e-4)
            for either in (interpreter, plain):
                either.reset_all_variables()

    def test_two_lstm_layers_of_8_bit_weights(self):
        """The weights, 410 kB, are most of the file, and are asked about without being copied."""
        model = two_lstm_layers()
        x = noise((1, 4, LSTM_WIDTH))
        interpreter, plain = self.open(model), plugin.open_interpreter(model, None)
        for _ in range(2):
            (expected,), (actual,) = plugin.run(plain, [x]), plugin.run(interpreter, [x])
            np.testing.assert_allclose(actual, expected, atol=2e-2)  # the interpreter rounds what it multiplies
        self.assertEqual([len(part["nodes"]) for part in self.report()["partitions"]], [2])

    def test_operators_stay_with_the_interpreter_by_name_and_by_number(self):
        model, x = two_part_net(), noise(SHAPE)
        for options, expected in (
            ({"cpu_ops": "relu6"}, [2, 2]),
            ({"cpu_ops": "CONV_2D,op:3"}, [1, 1]),
            ({"cpu_ops": "relu,conv_2d,add,relu6"}, []),
        ):
            with self.subTest(options):
                self.expect_same(model, [x], plugin.run(self.open(model, **options), [x]))
                self.assertEqual([len(part["nodes"]) for part in self.report()["partitions"]], expected)
                self.assertIn("the option cpu_ops names it", self.log_path.read_text())

    def test_threads_preference_and_tuning_are_those_of_sessions(self):
        model, x = two_part_net(), noise(SHAPE)
        options = {"threads": 2, "preference": "sustained_speed", "tune": "fast", "cache_dir": self.folder / "cache"}
        self.expect_same(model, [x], plugin.run(self.open(model, **options), [x]))
        modes = {part["session"]["tuning"]["mode"] for part in self.report()["partitions"]}
        self.assertEqual(modes, {"fast"})

    def test_what_is_made_is_stored_at_once_when_asked(self):
        for store, is_stored in (("later", False), ("now", True)):
            folder = self.folder / store
            interpreter = self.open(wide_net(), cache_dir=folder, store=store)
            plugin.run(interpreter, [noise((1, 4))])
            written = self.report()["partitions"][0]["session"]["cache"]["bytes_written"]
            self.assertEqual(written > 0, is_stored and self.device != "cpu")

    def test_quantized_networks_stay_with_the_interpreter_when_they_are_not_allowed(self):
        net = flatbuffer_net.Net()
        quant = (0.1, 0)
        x = net.input((4,), flatbuffer_net.INT8, quant)
        model = net.finish([net.op("RELU", [x], [net.tensor((4,), flatbuffer_net.INT8, quant)], version=2)])
        values = np.array([-3, 5, -7, 9], np.int8)
        for options in ({"allow_quantized": 0}, {"experimental_flags": 0}):
            with self.subTest(options):
                np.testing.assert_array_equal(plugin.run(self.open(model, **options), [values])[0], [0, 5, 0, 9])
                self.assertIn("quantized tensors are not allowed", self.log_path.read_text())
        np.testing.assert_array_equal(plugin.run(self.open(model), [values])[0], [0, 5, 0, 9])
        self.assertEqual(len(self.report()["partitions"]), 1)

    def test_one_delegate_serves_several_interpreters(self):
        delegate = plugin.load_delegate(plugin.PLUGIN, {"device": self.device})
        model, x = two_part_net(), noise(SHAPE)
        interpreters = [plugin.open_interpreter(model, None, delegate=delegate) for _ in range(3)]
        for interpreter in interpreters + interpreters:
            self.expect_same(model, [x], plugin.run(interpreter, [x]))

    def test_threads_with_an_interpreter_each(self):
        model, failures = two_part_net(), []

        def work(seed):
            try:
                interpreter = plugin.open_interpreter(model, self.device, cache_dir=self.folder / "cache")
                for turn in range(5):
                    x = noise(SHAPE, seed * 10 + turn)
                    self.expect_same(model, [x], plugin.run(interpreter, [x]))
            except Exception as error:  # noqa: BLE001: told by the test's thread
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_with_the_references_names_the_cache_is_used_when_flag_folder_and_token_are_given(self):
        given = {"experimental_flags": 9, "serialization_dir": self.folder / "cache", "model_token": "net"}
        x = noise((1, 4))
        for missing in (*given, None):
            options = {key: value for key, value in given.items() if key != missing}
            interpreter = self.open(wide_net(), **options)
            plugin.run(interpreter, [x])
            del interpreter
            self.assertEqual((self.folder / "cache" / "hearth.db").exists(), missing is None, missing)

    def test_our_own_name_for_the_cache_folder_suffices(self):
        plugin.run(self.open(wide_net(), cache_dir=self.folder / "cache", max_cache_size="64M"), [noise((1, 4))])
        self.assertTrue((self.folder / "cache" / "hearth.db").exists())

    def test_a_profile_is_logged_and_reported(self):
        interpreter = self.open(DEMO, profiling=1)
        inputs = [noise(details["shape"]) for details in interpreter.get_input_details()]
        for _ in range(3):
            plugin.run(interpreter, inputs)
        del interpreter
        (part,) = self.report()["partitions"]
        self.assertEqual(part["invocations"], 3)
        self.assertGreater(sum(row["milliseconds"] for row in part["profile"]), 0)
        self.assertIn("3 invocations of", self.log_path.read_text())

    def test_a_report_replaces_no_pipe_link_or_folder(self):
        real, link, folder = self.folder / "real.json", self.folder / "link.json", self.folder / "folder.json"
        link.symlink_to(real)
        folder.mkdir()
        for path in (link, folder):
            self.report_path = path
            interpreter = self.open(DEMO)
            plugin.run(interpreter, [noise(details["shape"]) for details in interpreter.get_input_details()])
            del interpreter
        self.assertTrue(link.is_symlink())
        self.assertTrue(json.loads(real.read_text())["partitions"])
        self.assertIn("cannot be written", self.log_path.read_text())
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"log.txt"}, {"real.json", "link.json", "folder.json"})

    def test_less_precision_is_used_where_the_device_has_it_and_a_warning_elsewhere(self):
        x = noise((1, 4))
        (exact,) = plugin.run(self.open(wide_net()), [x])
        (result,) = plugin.run(self.open(wide_net(), is_precision_loss_allowed=1), [x])
        np.testing.assert_allclose(result, exact, atol=2e-2)
        precision = self.report()["partitions"][0]["session"]["precision"]
        self.assertEqual(precision, "fp32" if self.log_path.exists() else "fp16")
        if precision == "fp32":
            self.assertIn("precision fp16 is not available on", self.log_path.read_text())


if __name__ == "__main__":
    Behaviour.device = sys.argv[1]
    plugin.skip_without(Behaviour.device)
    unittest.main(argv=sys.argv[:1], verbosity=2)
