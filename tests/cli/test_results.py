"""What `hearth run` says that outputs mean, and the pictures that it draws of them.

    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_results.py
"""

import itertools
import json
import os
import re
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import detector_heads  # noqa: E402
import flat_model  # noqa: E402
from cli_case import CliTest, MODEL, PICTURE, SHARED, npy, png, read_npy  # noqa: E402

NEG, LOGISTIC, SOFTMAX, TANH = 59, 14, 25, 28
MODELS, IMAGES, LABELS = SHARED / "models", SHARED / "images", SHARED / "labels"


def predicted(kind, left, up, corner):
    """What the filters of a PNG's rows add to a byte: its neighbours' bytes decide."""
    if kind == 1:
        return left
    if kind == 3:
        return (left + up) // 2
    distances = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    return (left, up, corner)[distances.index(min(distances))]


def read_png(path):
    """Width, height and rows of RGB bytes."""
    file = path.read_bytes()
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colours = struct.unpack(">IIBB", file[16:26])
    assert (depth, colours) == (8, 2)
    at, packed = 8, b""
    while at < len(file):
        size, kind = struct.unpack(">I4s", file[at:at + 8])
        packed += file[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    data, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        kind, line = data[y * (3 * width + 1)], bytearray(data[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        if kind == 2:
            line = bytearray((value + up) & 255 for value, up in zip(line, above))
        elif kind:
            for x in range(3 * width):
                left, up = (line[x - 3] if x >= 3 else 0), above[x]
                line[x] = (line[x] + predicted(kind, left, up, above[x - 3] if x >= 3 else 0)) & 255
        rows.append(bytes(line))
        above = line
    return width, height, rows


def jpeg_with_orientation(jpeg, orientation, order):
    tiff = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


class ResultsTest(CliTest):
    def run_cpu(self, model, *arguments):
        return self.run_json("run", model, "--device", "cpu", "--no-cache", *arguments)

    def model(self, code, shape, name="m.tflite"):
        return self.file(name, flat_model.chain([code], list(shape)))

    def meaning(self, code, shape, *arguments):
        return self.run_cpu(self.model(code, shape), "--random-inputs", "1", *arguments)["outputs"][0]["meaning"]


class Meanings(ResultsTest):
    def test_shapes_and_operators_decide_what_an_output_means(self):
        for code, shape, meaning in ((SOFTMAX, (1, 10), "classes"), (NEG, (1, 10), "classes"), (NEG, (1, 1), "none"),
                                     (NEG, (2, 3, 4), "none"), (LOGISTIC, (1, 8, 8, 5), "class-map"),
                                     (NEG, (1, 8, 8, 2), "mask"), (LOGISTIC, (1, 8, 8, 3), "image"),
                                     (NEG, (1, 8, 8, 3), "class-map"), (NEG, (1, 8, 8, 1), "image")):
            with self.subTest(code=code, shape=shape):
                self.assertEqual(self.meaning(code, shape), meaning)

    def test_what_is_not_sure_is_numbers_until_show_decides(self):
        for shape, shown in (((1, 896, 18), "image"), ((1, 21, 7098), "image"), ((1, 195), "classes")):
            with self.subTest(shape=shape):
                self.assertEqual(self.meaning(NEG, shape), "none")
                self.assertEqual(self.meaning(NEG, shape, "--show", shown), shown)

    def test_a_scaling_that_does_not_fit_is_blamed_on_who_gave_it(self):
        model = self.model(NEG, (1, 8, 8, 3))
        recipe = self.file("m.tflite.hearth.json", b'{"mean": [1, 2], "std": [1, 2]}')
        line = ("run", model, "--device", "cpu", "--input", self.file("p.png", png(8, 8, (1, 2, 3))))
        self.assert_one_error(self.run_hearth(*line, expect=3), f"the mean or std of {recipe} has 2 values")
        options = ("--mean", "1,2", "--std", "3,4")
        self.assert_one_error(self.run_hearth(*line, *options, expect=3), "the mean or std of --mean and --std has 2 values")

    def test_pictures_go_into_inputs_with_channels_first(self):
        line = ("--input", self.file("p.png", png(6, 8, (10, 20, 30))), "--mean", "0", "--std", "1", "--output-dir", self.folder)
        for shape, floats in (((1, 8, 6, 3), (-10, -20, -30) * 48), ((1, 3, 8, 6), (-10,) * 48 + (-20,) * 48 + (-30,) * 48)):
            with self.subTest(shape=shape):
                (output,) = self.run_cpu(self.model(NEG, shape), *line)["outputs"]
                self.assertEqual(output["meaning"], "class-map")
                self.assertEqual(read_npy(output["file"]), ("<f4", shape, struct.pack("<144f", *floats)))

    def test_show_says_otherwise(self):
        self.assertEqual(self.meaning(NEG, (1, 8, 8, 3), "--show", "image"), "image")
        self.assertEqual(self.meaning(NEG, (1, 10), "--show", "none"), "none")

    def test_what_an_output_can_not_mean_is_refused(self):
        done = self.run_hearth("run", self.model(NEG, (1, 10)), "--device", "cpu", "--random-inputs", "1", "--show", "mask", expect=3)
        self.assert_one_error(done, "--show mask", "'y'")

    def test_a_picture_of_nothing_is_refused_before_the_run(self):
        done = self.run_hearth("run", self.model(NEG, (1, 1)), "--device", "cpu", "--random-inputs", "1", "--picture",
                               self.folder / "p.png", expect=3)
        self.assert_one_error(done, "a single number")
        self.assertFalse((self.folder / "p.png").exists())

    def test_a_picture_is_a_png_file(self):
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--input", PICTURE, "--picture", self.folder / "p.jpg", expect=3)
        self.assert_one_error(done, ".png")

    def test_two_channels_are_a_mask_with_the_share_that_the_scores_give(self):
        values = [(0.0, 5.0), (5.0, 0.0), (5.0, 0.0), (5.0, 0.0)]
        data = struct.pack("<8f", *(-v for pair in values for v in pair))
        report = self.run_cpu(self.model(NEG, (1, 2, 2, 2)), "--input", self.file("x.npy", npy("<f4", (1, 2, 2, 2), data)))
        self.assertEqual(report["outputs"][0]["mask"], {"share": 0.25, "threshold": 0.5})

    def test_a_class_map_names_each_class_that_is_there(self):
        data = b"".join(struct.pack("<3f", *(-float(k == winner) for k in range(3))) for winner in (0, 2, 2, 2))
        labels = self.file("l.txt", b"sky\nsea\nsand\n")
        report = self.run_cpu(self.model(NEG, (1, 2, 2, 3)), "--input", self.file("x.npy", npy("<f4", (1, 2, 2, 3), data)),
                              "--labels", labels)
        self.assertEqual(report["outputs"][0]["areas"], [{"class": 2, "label": "sand", "share": 0.75},
                                                         {"class": 0, "label": "sky", "share": 0.25}])


class Heads(ResultsTest):
    def inputs(self, shape, numbers):
        x = npy("<f4", tuple(shape), struct.pack(f"<{len(numbers)}f", *(-number for number in numbers)))
        picture = self.file("p.png", png(detector_heads.WIDTH, detector_heads.HEIGHT, (1, 2, 3)))
        return "--input", f"picture={picture}", "--input", f"x={self.file('x.npy', x)}"

    def assert_box(self, output):
        (box,) = output["boxes"]
        self.assertEqual(box["class"], 1)
        for key, expected in (("score", 0.8), ("left", 45 / 96), ("top", 12 / 64), ("right", 75 / 96), ("bottom", 28 / 64)):
            self.assertAlmostEqual(box[key], expected, places=5)

    def test_yolo_is_shown_when_it_is_sure_or_asked_for_by_option_or_recipe(self):
        for name, shape, numbers, word, is_sure in detector_heads.HEADS:
            with self.subTest(name=name):
                path = self.file("h.tflite", flat_model.head([1, detector_heads.HEIGHT, detector_heads.WIDTH, 3], shape))
                recipe = self.folder / "h.tflite.hearth.json"
                recipe.unlink(missing_ok=True)
                inputs = self.inputs(shape, numbers)
                (output,) = self.run_cpu(path, *inputs)["outputs"]
                if is_sure:
                    self.assert_box(output)
                else:
                    self.assertEqual(output["meaning"], "none")
                    self.assertTrue(output["meaning_reason"].startswith("not sure"), output)
                    self.assertIn(f"--show {word}", output["meaning_reason"])
                (output,) = self.run_cpu(path, *inputs, "--show", word, "--save-recipe")["outputs"]
                self.assert_box(output)
                self.assertEqual(json.loads(recipe.read_text()), {"meaning": word})
                (output,) = self.run_cpu(path, *inputs, "--picture", self.folder / "drawn.png")["outputs"]
                self.assert_box(output)

    def test_no_picture_is_drawn_of_what_its_numbers_contradict(self):
        _, shape, numbers, _, _ = detector_heads.HEADS[0]
        path = self.file("h.tflite", flat_model.head([1, detector_heads.HEIGHT, detector_heads.WIDTH, 3], shape))
        done = self.run_hearth("run", path, "--device", "cpu", *self.inputs(shape, [9 * number for number in numbers]),
                               "--picture", self.folder / "d.png", expect=3)
        self.assert_one_error(done, "--picture: nothing that can be drawn", "not sure: it could be YOLO's boxes")
        self.assertFalse((self.folder / "d.png").exists())


class Recipes(ResultsTest):
    def test_a_recipe_says_what_the_command_line_does_not(self):
        model = self.model(NEG, (1, 8, 8, 3))
        labels = self.file("l.txt", b"a\nb\nc\n")
        picture = self.file("x.png", png(8, 8, (10, 20, 30)))
        recipe = self.folder / "m.tflite.hearth.json"
        line = (model, "--input", picture)
        self.run_cpu(*line, "--mean", "0", "--std", "255", "--show", "image", "--save-recipe")
        self.assertEqual(json.loads(recipe.read_text()), {"mean": [0], "std": [255], "meaning": "image"})
        told = self.run_hearth("run", *line, "--device", "cpu").stdout
        self.assertIn(f"(x - 0) / 255, as {recipe} says", told)
        self.assertIn(f"meaning: image (asked for by {recipe})", told)
        # What is said later is added, and the command line comes first.
        self.run_cpu(*line, "--labels", labels, "--show", "class-map", "--save-recipe")
        self.assertEqual(json.loads(recipe.read_text()),
                         {"mean": [0], "std": [255], "labels": ["a", "b", "c"], "meaning": "class-map"})
        areas = self.run_cpu(*line)["outputs"][0]["areas"]
        self.assertEqual([area["label"] for area in areas], ["a"])
        self.assertIn("(x - 0) / 1, as asked for", self.run_hearth("run", *line, "--device", "cpu", "--mean", "0", "--std", "1").stdout)
        self.assert_one_error(self.run_hearth("run", *line, "--device", "cpu", "--save-recipe", expect=3), "there is nothing to save")

    def test_a_recipe_that_can_not_be_read_is_not_replaced(self):
        model, recipe = self.model(NEG, (1, 8, 8, 3)), self.file("m.tflite.hearth.json", b'{"lables": ["by hand"]}')
        done = self.run_hearth("run", model, "--device", "cpu", "--random-inputs", "1", "--show", "image", "--save-recipe", expect=3)
        self.assert_one_error(done, "would lose an earlier recipe", "'lables' is none of")
        self.assertIn("by hand", recipe.read_text())

    def test_a_recipe_that_is_wrong_is_told_and_not_used(self):
        line = ("run", self.model(NEG, (1, 8, 8, 3)), "--device", "cpu", "--random-inputs", "1")
        self.file("m.tflite.hearth.json", b'{"mean": 0}')
        done = self.run_hearth(*line)
        self.assertIn("m.tflite.hearth.json: 'mean' and 'std' go together; it is not used\n", done.stderr)
        recipe = self.file("m.tflite.hearth.json", b'{"meaning": "boxes"}')
        self.assert_one_error(self.run_hearth(*line, expect=3), f"{recipe} boxes: no output of this model")
        self.file("m.tflite.hearth.json", b'{"meaning": "cats"}')
        self.assert_one_error(self.run_hearth(*line, expect=3), "'meaning' is 'cats', which is no value of --show")


class Written(ResultsTest):
    def test_nothing_that_is_read_is_replaced(self):
        model, labels = self.model(NEG, (1, 8, 8, 3)), self.file("l.txt", b"a\nb\nc\n")
        folder = self.folder / "photos"
        folder.mkdir()
        picture = folder / "x.png"
        picture.write_bytes(png(8, 8, (10, 20, 30)))
        line = ("run", model, "--device", "cpu", "--show", "image")
        before = picture.read_bytes(), labels.read_bytes(), model.read_bytes()
        for more, named in (((picture, "--picture", picture), picture), ((folder, "--picture", folder), picture),
                            ((picture, "--picture", folder / "." / "x.png"), picture), ((f"x={picture}", "--picture", picture), picture),
                            ((picture, "--labels", labels, "--json", labels), labels), ((picture, "--json", picture), picture),
                            ((picture, "--picture", self.folder / "new.png", "--json", self.folder / "new.png"), "new.png")):
            self.assert_one_error(self.run_hearth(*line, *more, expect=3), str(named), "would be replaced")
        self.assertEqual((picture.read_bytes(), labels.read_bytes(), model.read_bytes()), before)
        self.run_hearth(*line, folder, "--picture", self.folder / "drawn")
        self.assertTrue((self.folder / "drawn" / "x.png").exists())

    def test_labels_may_begin_with_a_byte_order_mark_and_are_shown_as_utf_8(self):
        model, labels = self.model(NEG, (1, 3)), self.file("l.txt", b"\xef\xbb\xbfzero\n\xff\ntwo\n")
        (output,) = self.run_cpu(model, "--random-inputs", "1", "--show", "classes", "--labels", labels)["outputs"]
        self.assertEqual({label["label"] for label in output["top"]}, {"zero", "\ufffd", "two"})


class Doubts(ResultsTest):
    def doubts(self, code, shape, picture, *arguments):
        model = self.model(code, shape)
        return self.run_cpu(model, "--input", picture, *arguments)["warnings"]

    def checkered(self, size):
        rows = b"".join(b"\0" + bytes(255 * ((x // 2 + y // 2) % 2) for x in range(size) for _ in range(3)) for y in range(size))
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        return self.file("c.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
                         + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

    def test_a_ruined_result_names_the_scaling_to_try_next(self):
        flat, checkered = self.file("f.png", png(32, 32, (9, 9, 9))), self.checkered(32)
        show = ("--show", "image")
        for scaling, advice in (((), "--mean 0 --std 255"), (("--mean", "0", "--std", "255"), "--mean 0 --std 1"),
                                (("--mean", "0", "--std", "1"), "--mean 123.675,116.28,103.53 --std 58.395,57.12,57.375"),
                                (("--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"), "see the model's documentation"),
                                (("--mean", "3"), "--mean 127.5 --std 127.5")):
            (doubt,) = self.doubts(LOGISTIC, (1, 32, 32, 3), flat, *show, *scaling)
            self.assertIn("the image 'y' is nearly constant", doubt)
            self.assertTrue(doubt.endswith(advice) or advice in doubt, (scaling, doubt))
        (doubt,) = self.doubts(TANH, (1, 32, 32, 3), checkered, *show, "--mean", "127.5", "--std", "10")
        self.assertIn("nearly all black and white", doubt)
        (doubt,) = self.doubts(LOGISTIC, (1, 32, 32, 1), checkered, "--show", "mask")
        self.assertIn("the mask 'y' is ragged", doubt)
        (doubt,) = self.doubts(LOGISTIC, (1, 32, 32, 3), flat, "--show", "class-map")
        self.assertIn("of one class", doubt)

    def test_what_looks_sound_and_what_a_recipe_scales_is_not_doubted(self):
        flat = self.file("f.png", png(32, 32, (9, 9, 9)))
        self.assertEqual(self.doubts(LOGISTIC, (1, 32, 32, 3), self.checkered(32), "--show", "image"), [])
        self.assertEqual(self.run_cpu(MODEL, "--input", PICTURE)["warnings"], [])
        self.file("m.tflite.hearth.json", b'{"mean": 127.5, "std": 127.5}')
        self.assertEqual(self.doubts(LOGISTIC, (1, 32, 32, 3), flat, "--show", "image"), [])

    def test_super_resolution_and_hair_are_led_to_their_scaling(self):
        for name, right, trouble in (("edsr_f32b5_f32_in90x160", ("0", "1"), "nearly constant"),
                                     ("hair_segmentation", ("0", "255"), "ragged")):
            path = MODELS / f"{name}.tflite"
            if not path.exists():
                self.skipTest(f"{path} is not there: set HEARTH_SHARED to the shared data")
            mean, std = "127.5", "127.5"
            for _ in range(4):
                warnings = self.run_cpu(path, "--input", IMAGES / "grace_hopper.jpg", "--mean", mean, "--std", std)["warnings"]
                if not warnings:
                    break
                self.assertIn(trouble, warnings[0])
                mean, std = re.search(r"try --mean (\S+) --std (\S+)$", warnings[0]).groups()
            self.assertEqual((mean, std), right, name)


class InputPictures(ResultsTest):
    def output_of(self, name, *arguments):
        model = self.model(NEG, (1, 2, 3, 3))
        self.run_cpu(model, "--output-dir", self.folder / name, "--mean", "0", "--std", "1", *arguments)
        return struct.unpack("<18f", read_npy(self.folder / name / "0_y.npy")[2])

    def test_photographs_are_turned_as_their_exif_data_say(self):
        jpeg = IMAGES / "burger.jpg"
        if not jpeg.exists():
            self.skipTest(f"{jpeg} is not there: set HEARTH_SHARED to the shared data")
        original = jpeg.read_bytes()
        upright = self.output_of("upright", "--input", jpeg)
        for order in "<>":
            turned = self.file("turned.jpg", jpeg_with_orientation(original, 3, order))
            rows = [upright[3 * k:3 * k + 3] for k in range(6)]
            expected = [value for pixel in reversed(rows) for value in pixel]
            for got, wanted in zip(self.output_of("turned", "--input", turned), expected):
                self.assertAlmostEqual(got, wanted, delta=0.01)

    def test_damaged_exif_data_are_passed_over(self):
        jpeg = IMAGES / "burger.jpg"
        if not jpeg.exists():
            self.skipTest(f"{jpeg} is not there: set HEARTH_SHARED to the shared data")
        whole = jpeg_with_orientation(jpeg.read_bytes(), 6, "<")
        for at, byte in ((14, 0xff), (16, 0xff), (20, 0xff), (24, 9), (4, 0)):
            damaged = bytearray(whole)
            damaged[at] = byte
            self.run_hearth("run", self.model(NEG, (1, 2, 3, 3)), "--device", "cpu", "--input", self.file("d.jpg", bytes(damaged)))

    def test_a_fourth_channel_that_the_picture_has_not_is_0(self):
        model = self.model(NEG, (1, 2, 2, 4))
        self.run_cpu(model, "--input", self.file("p.png", png(2, 2, (255, 255, 255))), "--output-dir", self.folder / "o")
        values = struct.unpack("<16f", read_npy(self.folder / "o" / "0_y.npy")[2])
        self.assertEqual(values, (-1.0, -1.0, -1.0, 0.0) * 4)

    def test_how_pixels_were_scaled_is_told(self):
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--no-cache", "--input", PICTURE)
        self.assertIn("(x - 127.5) / 127.5, the default", done.stdout)


class RealModels(ResultsTest):
    """What the pictures show is in the JSON: held against what a person sees in the photographs."""

    def result(self, model, image, *arguments):
        path = MODELS / (model + ".tflite")
        if not path.exists():
            self.skipTest(f"{path} is not there: set HEARTH_SHARED to the shared data")
        drawn = self.folder / "drawn.png"
        report = self.run_cpu(path, "--input", IMAGES / image, "--picture", drawn, *arguments)
        picture = read_png(drawn)
        self.assertGreater(len(set(b"".join(picture[2][::8]))), 20, "one colour only")
        return report["outputs"], picture

    def test_ssd_finds_the_dogs(self):
        outputs, _ = self.result("ssd_mobilenet_v1_1.0_quant", "dogs.jpg", "--labels", LABELS / "coco_labels.txt")
        self.assertEqual([o["meaning"] for o in outputs], ["boxes"] * 4)
        self.assertEqual([o.get("part_of") for o in outputs], [None, 0, 0, 0])
        dogs = [box for box in outputs[0]["boxes"] if box["label"] == "dog"]
        self.assertGreaterEqual(len(dogs), 1)
        for box in dogs:
            self.assertTrue(-0.05 <= box["left"] < box["right"] <= 1.05 and -0.05 <= box["top"] < box["bottom"] <= 1.05, box)
        self.assertFalse([o for o in outputs if "top" in o])

    def test_ssd_finds_the_dogs_whatever_the_order_of_its_outputs(self):
        path = MODELS / "ssd_mobilenet_v1_1.0_quant.tflite"
        if not path.exists():
            self.skipTest(f"{path} is not there: set HEARTH_SHARED to the shared data")
        content = path.read_bytes()
        at = flat_model.place_of(content, 2, 0, 2)  # the first subgraph's outputs
        outputs = struct.unpack_from("<4i", content, at)
        found = set()
        for order in itertools.permutations(outputs):
            changed = self.file("ordered.tflite", content[:at] + struct.pack("<4i", *order) + content[at + 16:])
            report = self.run_cpu(changed, "--input", IMAGES / "dogs.jpg")["outputs"]
            (boxes,) = [output["boxes"] for output in report if "boxes" in output]
            self.assertTrue(all(0 <= box["score"] <= 1 for box in boxes))
            found.add(tuple((box["class"], box["score"], box["left"], box["bottom"]) for box in boxes))
        self.assertEqual(len(found), 1)
        self.assertIn(17, [box[0] for box in found.pop()])  # a dog

    def test_blazeface_finds_one_face_with_its_eyes_above_its_mouth(self):
        outputs, _ = self.result("face_detection_front", "grace_hopper.jpg")
        faces = outputs[0]["boxes"]
        self.assertEqual(len(faces), 1)
        points = {point["name"]: point for point in faces[0]["keypoints"]}
        self.assertLess(points["left eye"]["y"], points["mouth"]["y"])
        self.assertTrue(faces[0]["left"] < points["nose"]["x"] < faces[0]["right"])

    def test_posenet_stands_upright(self):
        outputs, _ = self.result("posenet_mobilenet_v1_100_257x257_f32_dequant", "person_standing.jpg")
        keypoints = next(o["keypoints"] for o in outputs if "keypoints" in o)
        self.assertEqual(keypoints["kind"], "body")
        at = {point["name"]: point["y"] for point in keypoints["points"]}
        self.assertTrue(at["nose"] < at["left shoulder"] < at["left hip"] < at["left knee"] < at["left ankle"], at)

    def test_masks_of_people_and_hair_cover_part_of_the_picture(self):
        for model, image, low, high in (("selfie_segmentation", "grace_hopper.jpg", 0.3, 0.9),
                                        ("meet_segmentation_144x256_f32", "person_192_192_3.jpg", 0.2, 0.9),
                                        ("hair_segmentation", "grace_hopper.jpg", 0.01, 0.3)):
            with self.subTest(model=model):
                outputs, _ = self.result(model, image, "--mean", "0", "--std", "255")
                self.assertEqual(outputs[0]["meaning"], "mask")
                self.assertTrue(low < outputs[0]["mask"]["share"] < high, outputs[0]["mask"])

    def test_deeplab_names_what_it_sees_and_has_a_legend(self):
        outputs, (width, height, _) = self.result("deeplabv3_257_mv_gpu", "dogs.jpg", "--labels",
                                                  LABELS / "pascal_voc_segmentation_labels.txt")
        self.assertEqual(outputs[0]["meaning"], "class-map")
        self.assertIn("dog", [area["label"] for area in outputs[0]["areas"][:2]])
        self.assertGreater(height, 384 * 3 // 5)
        self.assertEqual(width, 2 * 384)

    def test_edsr_gives_a_picture_of_twice_the_size(self):
        outputs, (width, height, _) = self.result("edsr_f32b5_f32_in90x160", "cat_720p.jpg", "--mean", "0", "--std", "1")
        self.assertEqual((outputs[0]["meaning"], width, height), ("image", 320, 180))

    def test_landmarks_of_hands_and_faces_are_points(self):
        for model, kind, count in (("hand_landmark_lite", "hand", 21), ("face_landmark", "face", 468)):
            with self.subTest(model=model):
                outputs, _ = self.result(model, "grace_hopper.jpg", "--mean", "0", "--std", "255")
                self.assertEqual(outputs[0]["keypoints"]["kind"], kind)
                self.assertEqual(len(outputs[0]["keypoints"]["points"]), count)

    def test_labels_inside_a_model_are_used(self):
        outputs, _ = self.result("mobilenet_v1_0.25_128_quant", "cat_720p.jpg", "--top", "3")
        self.assertEqual(len(outputs[0]["top"]), 3)
        self.assertTrue(all(entry["label"] for entry in outputs[0]["top"]))


if __name__ == "__main__":
    unittest.main()
