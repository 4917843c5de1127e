#!/usr/bin/env python3
"""test_mixed.py DEVICE: whatever Hearth refuses stays with the interpreter: models that mix such operators with others give
the interpreter's results, also where sizes depend on data and change from one invocation to the next."""

import pathlib
import sys
import tempfile
import unittest

import mixed_models
import numpy as np
import plugin


def inputs_of_a_model():
    """Also one in which WHERE finds nothing."""
    random = np.random.default_rng(3)
    shape = (mixed_models.ROWS, mixed_models.COLUMNS)
    for low, high in ((-2, 2), (-1, 4), (-3, -1), (-2, 2)):
        yield random.uniform(low, high, shape).astype(np.float32)


class Mixed(unittest.TestCase):
    device = None

    def test_every_model_gives_the_interpreters_results_with_a_part_of_it_on_the_device(self):
        for name, make in mixed_models.MODELS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                report, model = pathlib.Path(folder) / "report.json", make()
                options = {"report": report, "log": pathlib.Path(folder) / "log.txt"}
                plain, mixed = plugin.open_interpreter(model, None), plugin.open_interpreter(model, self.device, **options)
                for x in inputs_of_a_model():
                    for expected, actual in zip(plugin.run(plain, [x]), plugin.run(mixed, [x]), strict=True):
                        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)
                self.assertGreater(len(plugin.read_report(report)["partitions"]), 0)

    def test_an_input_of_another_size(self):
        for name in ("where", "reverse_sequence", "fill_of_computed_shape"):
            with self.subTest(name):
                model = mixed_models.MODELS[name]()
                results = []
                for device in (None, self.device):
                    interpreter = plugin.open_interpreter(model, device)
                    index = interpreter.get_input_details()[0]["index"]
                    interpreter.resize_tensor_input(index, [mixed_models.ROWS, 2 * mixed_models.COLUMNS])
                    interpreter.allocate_tensors()
                    x = np.linspace(-1, 1, 2 * mixed_models.ROWS * mixed_models.COLUMNS, dtype=np.float32)
                    results.append(plugin.run(interpreter, [x.reshape(mixed_models.ROWS, -1)]))
                for expected, actual in zip(*results, strict=True):
                    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


if __name__ == "__main__":
    Mixed.device = sys.argv[1]
    plugin.skip_without(Mixed.device)
    unittest.main(argv=sys.argv[:1], verbosity=2)
