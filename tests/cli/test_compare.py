"""Where two devices differ: `hearth compare`.

    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_compare.py
"""

import json
import os
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402
from cli_case import CliTest, INT8_MODEL, MODEL, PICTURE, npy  # noqa: E402

LOG = 73


class Compare(CliTest):
    def compare(self, model, *arguments, expect=0):
        report = self.folder / "c.json"
        self.run_hearth("compare", model, *arguments, "--no-cache", "--json", report, expect=expect)
        return json.loads(report.read_text())

    def test_a_device_agrees_with_itself_to_the_bit(self):
        report = self.compare(MODEL, "--device", "cpu", "--input", PICTURE)
        self.assertEqual([output["max_difference"] for output in report["outputs"]], [0])
        self.assertFalse(report["over"])
        self.assertNotIn("layers", report)

    def test_mesas_oldest_software_driver_computes_what_the_cpu_does(self):
        old = {"GALLIUM_DRIVER": "softpipe"}
        devices = json.loads(self.run_hearth("devices", "--json", "-", variables=old).stdout)["devices"]
        if not any(d["usable"] and d["name"] == "softpipe" for d in devices):
            self.skipTest("no softpipe")
        self.run_hearth("compare", MODEL, "--device", "gles", "--input", PICTURE, "--no-cache", variables=old)

    def test_numbers_of_64_bits_are_compared_with_all_their_digits(self):
        model = self.oracle_model("stablehlo_multiply_float64.tflite")
        values = [1 / 3 + k for k in range(15)]
        x = self.file("x.npy", npy("<f8", (3, 5), struct.pack("<15d", *values)))
        y = self.file("y.npy", npy("<f8", (3, 5), struct.pack("<15d", *[1e300] * 15)))
        report = self.compare(model, "--device", "cpu", "--against", "reference", "--input", x, "--input", y)
        (output,) = report["outputs"]
        self.assertEqual((output["dtype"], output["max_difference"]), ("float64", 0))
        self.assertEqual(output["worst"]["ours"], values[0] * 1e300)
        self.assertAlmostEqual(output["allowed_difference"] / (1e-4 * values[-1] * 1e300), 1)

    def test_a_device_that_a_driver_stands_in_for_is_compared_with_the_cpu(self):
        devices = self.run_json("devices")["devices"]
        drivers = [d["id"] for d in devices if d["usable"] and d["type"] == "cpu" and d["backend"] != "cpu"]
        if not drivers:
            self.skipTest("no software driver is usable")
        report = self.compare(MODEL, "--device", drivers[0], "--simulate", "navi21", "--input", PICTURE)
        self.assertIn("Navi 21", report["device"]["name"])
        self.assertEqual(report["against"]["id"], "cpu")
        self.assertFalse(report["over"])

    def test_the_cpu_agrees_with_the_reference_in_every_layer(self):
        report = self.compare(MODEL, PICTURE, "--device", "cpu", "--against", "reference", "--per-layer")
        self.assertEqual((report["device"]["id"], report["against"]["id"]), ("cpu", "reference"))
        self.assertIsNone(report["first_over"])
        self.assertGreaterEqual(len(report["layers"]), 39)
        self.assertEqual(report["layers"][-1]["name"], "Identity")
        for layer in report["layers"]:
            self.assertLessEqual(layer["max_difference"], layer["allowed_difference"])
            self.assertAlmostEqual(abs(layer["worst"]["ours"] - layer["worst"]["theirs"]), layer["max_difference"], delta=1e-6)

    def test_the_first_layer_that_is_too_far_off_is_named_and_the_exit_code_is_1(self):
        # 8-bit roundings differ from those of the reference, and the differences grow from layer to layer.
        report = self.compare(INT8_MODEL, PICTURE, "--device", "cpu", "--against", "reference", "--per-layer", expect=1)
        over = [layer["over"] for layer in report["layers"]]
        first = over.index(True)
        self.assertGreater(first, 0)
        self.assertEqual(report["first_over"], report["layers"][first])

    def test_infinities_and_numbers_that_are_none_agree_with_themselves(self):
        data = struct.pack("<4f", 1.0, 0.0, -1.0, 1000.0)
        model = self.file("log.tflite", flat_model.chain([LOG], [1, 4]))
        report = self.compare(model, self.file("x.npy", npy("<f4", (1, 4), data)), "--device", "cpu", "--against", "reference")
        self.assertFalse(report["over"])

    def test_random_inputs_will_do_and_missing_ones_are_told(self):
        self.compare(MODEL, "--random-inputs", "7", "--device", "cpu")
        self.assert_one_error(self.run_hearth("compare", MODEL, "--device", "cpu", expect=3), "--random-inputs")

    def test_the_picture_has_a_row_for_each_layer(self):
        drawn = self.folder / "c.png"
        self.compare(MODEL, PICTURE, "--device", "cpu", "--per-layer", "--picture", drawn)
        self.assertGreater(struct.unpack(">II", drawn.read_bytes()[16:24])[1], 39 * 10)

    def test_numbers_that_16_bits_do_not_hold_are_counted_and_explain_a_difference(self):
        devices = [d for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device with 16-bit storage is usable")
        x = self.file("x.npy", npy("<f4", (1, 4, 5, 3), struct.pack("<60f", *[40000.0] * 7 + [1.0] * 53)))
        # The input names are those of the file; the estimate of sizes does not know that these are large.
        model = self.oracle_model("add_same.tflite")
        for precision in ("fp16", "fp32_16"):
            chosen = ("--device", devices[0]["id"], "--precision", precision)
            report = self.compare(model, *chosen, "--against", "cpu", "--input", x, "--input", x, expect=1)
            (layer,) = report["range"]
            self.assertEqual((layer["op"], layer["clamped"], layer["elements"]), ("add", 7, 60))
            done = self.run_hearth("run", model, *chosen, "--input", x, "--input", x, "--check-range", "--no-cache", "--json", "-")
            self.assertEqual(json.loads(done.stdout)["range"], report["range"])
        exact = self.compare(model, "--device", devices[0]["id"], "--against", "cpu", "--input", x, "--input", x)
        self.assertEqual(exact["range"], [])

    def test_a_device_without_16_bits_clamps_no_weights(self):
        content = bytearray(pathlib.Path(MODEL).read_bytes())
        struct.pack_into("<f", content, flat_model.place_of(content, 4, 4, 0), 70000.0)  # the bias of a convolution
        model = self.file("large.tflite", content)
        done = self.run_hearth("run", model, "--device", "cpu", "--precision", "fp16", "--random-inputs", "1", "--check-range",
                               "--no-cache", "--json", "-")
        report = json.loads(done.stdout)
        self.assertEqual((report["precision"], report["range"]), ("fp32", []))

    def test_a_device_that_is_not_there_is_exit_code_4(self):
        for arguments in (("--device", "nope"), ("--device", "cpu", "--against", "nope")):
            self.assert_one_error(self.run_hearth("compare", MODEL, PICTURE, *arguments, expect=4), "'nope'")


if __name__ == "__main__":
    unittest.main()
