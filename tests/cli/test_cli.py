"""The program `hearth` from outside: exit codes, messages, files, JSON.

HEARTH_BIN names the program. Only the CPU is asked for, so no driver is needed:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_cli.py
"""

import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402
from cli_case import CliTest, INPUT_SHAPE, INT8_MODEL, MISH, MODEL, PICTURE, PROGRAM, npy, png, read_npy  # noqa: E402


class Usage(CliTest):
    def test_wrong_command_lines_give_exit_code_2_and_name_the_help(self):
        for line in (["frob"], ["run"], ["run", MODEL, "--tune", "loudly"], ["run", MODEL, "--colour", "red"], ["emit", "softmax"], ["cache"],
                     ["cache", "warm"], ["run", MODEL, "--cache", "x", "--no-cache"], ["run", MODEL, "--std", "0"],
                     ["run", MODEL, "--precision", "fp8"], ["bench", MODEL, "--runs", "0"]):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(*line, expect=2), "--help")

    def test_an_option_does_not_take_the_next_word_where_its_value_is_missing(self):
        # As a script writes it with a variable that is not set: --cache="$FOLDER" clear
        for line in (["cache", "prune", "--max-size=", "--cache", self.folder, "--yes"], ["run", MODEL, "--cache=", "--device", "cpu"]):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(*line, expect=2), "has no value")

    def test_an_empty_name_of_a_file_or_folder_is_wrong_usage(self):
        for line in (["devices", "--json", ""], ["run", MODEL, "--random-inputs", "1", "--output-dir", ""], ["run", MODEL, "--picture", ""],
                     ["bench", MODEL, "--csv", ""], ["bench", MODEL, "--trace", ""], ["inspect", MODEL, "--memory", ""],
                     ["inspect", MODEL, "--passes", ""], ["compare", MODEL, "--device", "cpu", "--picture", ""], ["cache", "rm", "", "--yes"],
                     ["run", MODEL, "--cache", ""], ["cache", "ls", "--cache", ""], ["run", MODEL, PICTURE, "--labels", ""]):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(*line, expect=2), "empty", "--help")

    def test_an_empty_value_is_wrong_usage_whatever_it_would_mean(self):
        for line in (["cache", "clear", "--model", "", "--yes"], ["cache", "clear", "--device", "", "--yes"], ["cache", "clear", "--signed-by", "", "--yes"],
                     ["cache", "clear", "--unused-for", "", "--yes"], ["cache", "prune", "--unused-for", "", "--yes"], ["cache", "import", "", "--trust"],
                     ["cache", "export", "b.tar", "--sign", ""], ["cache", "export", "b.tar", "--valid-for", ""], ["cache", "key", ""],
                     ["run", MODEL, PICTURE, "--model-token", ""], ["run", MODEL, PICTURE, "--simulate", ""], ["run", MODEL, PICTURE, "--cpu-ops", ""],
                     ["run", MODEL, PICTURE, "--input", ""], ["run", MODEL, ""], ["conformance", "--filter", ""], ["compare", MODEL, "--against", ""]):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(*line, expect=2), "empty", "--help")

    def test_an_input_is_fixed_by_numbers_or_by_a_file(self):
        model = self.oracle_model("slice_begin_list.tflite")
        x, begin = (tensor["name"] for tensor in self.run_json("inspect", model, "--device", "cpu")["inputs"])
        table = self.file("x.npy", npy("<f4", (5, 7), struct.pack("<35f", *range(35))))
        places = self.file("begin.npy", npy("<i4", (2,), struct.pack("<2i", 2, 3)))
        for name, line in (("given", [f"{x}={table}", f"{begin}={places}"]), ("numbers", [table, "--constant", f"{begin}=2, 3"]),
                           ("file", [table, "--constant", f"{begin}={places}"])):
            self.run_hearth("run", model, *line, "--device", "cpu", "--no-cache", "--output-dir", self.folder / name)
            (written,) = (self.folder / name).glob("*.npy")
            self.assertEqual(struct.unpack("<6f", read_npy(written)[2]), (17, 18, 19, 24, 25, 26), name)
        for value, part in (("1.5,2", "does not hold all numbers"), ("1,2,3", "3 begins and 2 sizes"), ("nope.npy", "nope.npy")):
            self.assert_one_error(self.run_hearth("inspect", model, "--constant", f"{begin}={value}", expect=3), part)
        self.assert_one_error(self.run_hearth("inspect", model, "--constant", "other=1", expect=3), "not an input of the model")

    def test_an_array_that_chooses_a_branch_is_fixed(self):
        """y = rate == 16 ? -x : an operator that nobody knows."""
        def field(number, *parts):
            data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
            size = [len(data)] if len(data) < 128 else [len(data) & 127 | 128, len(data) >> 7]
            return bytes([number << 3 | 2, *size]) + data

        def node(op, inputs, output, *attributes):
            return field(1, *(field(1, name) for name in inputs), field(2, output), field(4, op), *attributes)

        def tensor(name, number):
            return field(5, b"\x10\x07", field(8, name), field(9, struct.pack("<q", number)))

        def info(kind, name, dims, element):
            shape = field(2, *(field(1, b"\x08" + bytes([size])) for size in dims))
            return field(kind, field(1, name), field(2, field(1, b"\x08" + bytes([element]), shape)))

        def branch(name, op, output, *more):
            return field(5, field(1, name), field(6, node(op, ["x"], output, *more), field(12, field(1, output))), b"\xa0\x01\x05")

        choice = node("If", ["is_it"], "y", branch("then_branch", "Neg", "t"), branch("else_branch", "Frob", "e"))
        ends = info(11, "x", [3], 1) + field(12, field(1, "y"))
        by_rate = field(7, node("Equal", ["rate", "sixteen"], "is_it"), choice, tensor("sixteen", 16), info(11, "rate", [], 7), ends)
        by_bool = field(7, choice, info(11, "is_it", [], 9), ends)
        x = self.file("x.npy", npy("<f4", (3,), struct.pack("<3f", 1, 2, 3)))
        for name, graph, key, kind, good, bad in (("rate", by_rate, "rate", "<i8", struct.pack("<q", 16), struct.pack("<q", 8)),
                                                  ("bool", by_bool, "is_it", "|b1", b"\1", b"\0")):
            model = self.file(f"{name}.onnx", b"\x08\x08" + graph + field(8, b"\x10\x11"))
            array, other = self.file("good.npy", npy(kind, (), good)), self.file("bad.npy", npy(kind, (), bad))
            self.run_hearth("run", model, f"x={x}", f"{key}={array}", "--device", "cpu", "--no-cache", "--output-dir", self.folder / name)
            (written,) = (self.folder / name).glob("*.npy")
            self.assertEqual(struct.unpack("<3f", read_npy(written)[2]), (-1, -2, -3), name)
            line = ("run", model, f"x={x}", f"{key}={other}", "--device", "cpu")
            self.assert_one_error(self.run_hearth(*line, expect=3), f"--constant '{key}=")

    def test_json_without_a_file_goes_to_standard_output(self):
        for line in (["devices", "--json"], ["inspect", "--json", "--device", "cpu", MODEL]):
            with self.subTest(line=line):
                self.assertIsInstance(json.loads(self.run_hearth(*line).stdout), dict)

    def test_json_never_replaces_a_model(self):
        content = pathlib.Path(MODEL).read_bytes()
        model = self.file("kept.tflite", content)
        done = self.run_hearth("conformance", "--device", "cpu", "--filter", "softmax", "--json", model, expect=2)
        self.assert_one_error(done, "that would replace a model")
        self.assertEqual(model.read_bytes(), content)

    def test_conformance_takes_what_is_listed_and_expects_known_failures(self):
        cases = self.file("cases.txt", b"# two families\nsoftmax\nneg/* # all of them\n")
        listed = self.run_hearth("conformance", "--case-list", cases, "--exclude", "neg/*1*", "--list").stdout.split()
        self.assertTrue(listed and all(name.startswith(("softmax/", "neg/")) for name in listed), listed)
        shards = [self.run_hearth("conformance", "--case-list", cases, "--exclude", "neg/*1*", "--shard", f"{k}/2", "--list",
                                  expect=None).stdout.split() for k in (1, 2)]
        self.assertEqual(sorted(sum(shards, [])), sorted(listed))
        known = self.file("known.txt", b"softmax/*: it passes here\n")
        done = self.run_hearth("conformance", "--device", "cpu", "--filter", "softmax", "--expect", known, expect=1)
        self.assertIn("take it off the list", done.stdout)
        self.assert_one_error(self.run_hearth("conformance", "--filter", "sofmax", "--list", expect=3), "did you mean 'softmax'?")
        self.assert_one_error(self.run_hearth("conformance", "--shard", "3/2", "--list", expect=2), "2/8")

    def test_conformance_of_what_no_profile_fits_is_no_success(self):
        self.assert_one_error(self.run_hearth("conformance", "--device", "cpu", "--simulate", "all", expect=3), "name a driver")

    def test_seeds_are_whole_numbers_of_64_bits(self):
        for seed in ("-1", "18446744073709551616", "1.5"):
            with self.subTest(seed=seed):
                self.assert_one_error(self.run_hearth("run", MODEL, "--random-inputs", seed, expect=2), "whole number")
                self.assert_one_error(self.run_hearth("conformance", "--seed", seed, expect=2), "whole number")

    def test_output_that_nobody_can_read_is_an_error_and_never_a_crash(self):
        def code(line, **streams):
            with open("/dev/full", "w") as full:
                given = {name: full if where == "full" else subprocess.DEVNULL for name, where in streams.items()}
                return subprocess.run([PROGRAM, *line], stdin=subprocess.DEVNULL, env=self.environment(), check=False, **given).returncode
        run = ["run", MODEL, PICTURE, "--device", "cpu"]
        self.assertEqual(code(["run", "nope"], stdout="null", stderr="full"), 3)
        self.assertEqual(code([*run, "--cpu-ops", "nope"], stdout="null", stderr="full"), 0)
        self.assertEqual(code([*run, "--log", "debug"], stdout="null", stderr="full"), 0)
        self.assertEqual(code(run, stdout="full", stderr="full"), 1)

    def test_closed_streams_are_no_place_for_files(self):
        output = self.folder / "out"
        line = f'"{PROGRAM}" run "{MODEL}" "{PICTURE}" --device cpu --output-dir "{output}"'
        for closed, expected in (("0<&- 1>&- 2>&-", 1), ("1>&-", 1), ("2>&-", 0)):
            with self.subTest(closed=closed):
                self.assertEqual(subprocess.run(["sh", "-c", f"{line} {closed}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                env=self.environment(), check=False).returncode, expected)
                (file,) = output.iterdir()
                self.assertEqual(read_npy(file)[1], (1, 96, 96, 6))

    def test_numbers_must_be_finite(self):
        for option in ("--mean", "--std"):
            for number in ("nan", "inf", "127.5,nan", "=", "a", "127.5,b", "127.5x"):
                with self.subTest(option=option, number=number):
                    self.assert_one_error(self.run_hearth("run", MODEL, PICTURE, option, number, expect=2), option, "finite")
        self.assert_one_error(self.run_hearth("bench", MODEL, "--seconds", "nan", expect=2), "--seconds", "finite")
        self.assert_one_error(self.run_hearth("run", MODEL, PICTURE, "--min-score", "nan", expect=2), "--min-score", "finite")

    def test_a_shape_that_is_given_twice_or_too_large_is_told_apart_from_none(self):
        def message(*arguments):
            return self.run_hearth("inspect", MODEL, "--device", "cpu", *arguments, expect=2)
        self.assert_one_error(message("--shape", "image=1x96x96x3", "--shape", "image=2x96x96x3"), "'image' is given twice")
        for size in ("2147483647", "99999999999"):
            self.assert_one_error(message("--shape", f"image=1x{size}"), f"the dimension {size}; at most 1073741824 is possible")
        for text in ("1x-4", "1x99999999999y", "1xx2", ""):
            self.assert_one_error(message("--shape", f"image={text}"), "is not a shape such as 1x224x224x3")

    def test_a_name_that_an_option_gets_twice_is_wrong_usage(self):
        for option, one, other in (("--shape", "a=b=1x2", "a=b=1x3"), ("--constant", "x=1", "x=2=3.npy"), ("--dim", "a=b=1", "a=b=2")):
            for line in (["inspect", MODEL], ["cache", "warm", MODEL]):
                with self.subTest(option=option, verb=line[0]):
                    self.assert_one_error(self.run_hearth(*line, option, one, option, other, expect=2), option, "is given twice")
        self.assert_one_error(self.run_hearth("inspect", MODEL, "--dim", "h=1,h=1", expect=2), "'h' is given twice")
        self.assert_one_error(self.run_hearth("run", MODEL, "--priority", "latency,latency", expect=2), "'latency' is given twice")

    def test_a_picture_whose_name_ends_like_another_format_is_refused(self):
        for line, ending in ((("run", "--picture", "x.jpg"), ".png"), (("compare", "--picture", "x.jpg"), ".png"),
                             (("inspect", "--memory", "x.png"), ".svg")):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(line[0], MODEL, *line[1:], expect=3), line[2], f"must end in {ending}")

    def test_a_word_that_an_option_does_not_know_is_wrong_usage(self):
        for option, word, part in (("--rules", "foo", "+NAME or -NAME"), ("--rules", "+foo", "+NAME or -NAME"),
                                   ("--simulate", "foo", "not a device profile"), ("--shape", "image", "NAME=1x224x224x3"),
                                   ("--shape", "=1x2", "NAME=1x224x224x3"), ("--constant", "2", "NAME=VALUE"),
                                   ("--constant", "x=two", "neither numbers"), ("--shape", "x=1xtwo", "not a shape"),
                                   ("--dim", "height", "NAME=SIZE"), ("--dim", "height=tall", "NAME=SIZE"),
                                   ("--precision", "fp8", "fp32_16"), ("--tune", "fastest", "full")):
            for line in (["run", MODEL, "--random-inputs", "1"], ["cache", "warm", MODEL]):
                with self.subTest(option=option, word=word, verb=line[0]):
                    self.assert_one_error(self.run_hearth(*line, option, word, expect=2), option, part)

    def test_a_device_that_is_not_there_is_exit_code_4_of_explain_too(self):
        self.assert_one_error(self.run_hearth("cache", "explain", MODEL, "--device", "no-such", expect=4), "no-such")

    def test_the_program_alone_prints_its_help(self):
        done = self.run_hearth(expect=2)
        self.assertIn("devices", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_help_and_version_are_words_too(self):
        self.assertEqual(self.run_hearth("help", "run").stdout, self.run_hearth("run", "--help").stdout)
        self.assertEqual(self.run_hearth("help").stdout, self.run_hearth("--help").stdout)
        self.assertEqual(self.run_hearth("version").stdout, self.run_hearth("--version").stdout)

    def test_help_explains_the_usual_options_and_names_the_rest(self):
        usual, whole = (self.run_hearth("run", f"--help{more}").stdout for more in ("", "-all"))
        self.assertLess(len(usual.splitlines()), 45)
        for option in re.findall(r"^  (--[a-z0-9-]+)", whole, re.M):
            self.assertIn(option, usual)
        self.assertIn("An input's file", usual)
        self.assertNotIn("A Redis server", usual)
        self.assertIn("A Redis server", whole)
        self.assertNotIn("--help-all", self.run_hearth("cache", "stats", "--help").stdout)

    def test_a_mistyped_verb_or_option_is_recognised(self):
        self.assert_one_error(self.run_hearth("isnpect", MODEL, expect=2), "did you mean 'inspect'?")
        self.assert_one_error(self.run_hearth("run", MODEL, "--imput=x.npy", expect=2), "did you mean '--input'?")
        self.assert_one_error(self.run_hearth("--device", "cpu", "run", MODEL, expect=2), "'--device' stands before the verb; write it behind it")
        for elsewhere, here in (("-d", "--device"), ("--num_threads", "--threads"), ("-m", "MODEL")):
            self.assert_one_error(self.run_hearth("run", elsewhere, "x", expect=2), f"did you mean '{here}'?")
        for word, meant in [("info", "inspect"), ("benchmark", "bench"), ("list", "devices"), ("m.onnx", "run m.onnx")]:
            self.assert_one_error(self.run_hearth(word, expect=2), f"did you mean '{meant}'?")
        self.assertNotIn("did you mean", self.run_hearth("frobnicate", expect=2).stderr)

    def test_a_graph_file_of_an_unknown_kind_is_refused(self):
        self.assert_one_error(self.run_hearth("inspect", MODEL, "--graph", self.folder / "x.jpg", expect=2), "x.jpg", ".svg")
        self.assertFalse((self.folder / "x.jpg").exists())

    def test_the_help_of_every_verb_ends_with_an_example(self):
        verbs = [[v] for v in ("devices", "inspect", "run", "bench", "compare", "cache", "emit", "diagnose")]
        if "conformance" in self.run_hearth("--help").stdout:  # absent where the build left out the tests
            verbs.append(["conformance"])
        verbs += [["cache", part] for part in ("path", "ls", "show", "stats", "verify", "prune", "clear", "warm", "explain", "key",
                                              "export", "import")]
        for verb in verbs:
            with self.subTest(verb=verb):
                last = self.run_hearth(*verb, "--help").stdout.rstrip().splitlines()[-1]
                self.assertTrue(last.strip().startswith("hearth " + " ".join(verb)), last)


class BadInput(CliTest):
    def test_a_missing_model_is_exit_code_3(self):
        self.assert_one_error(self.run_hearth("run", "no-such.tflite", expect=3), "no-such.tflite")

    def test_a_text_file_and_an_empty_file_are_no_models(self):
        for name, data in (("text.tflite", b"this is not a model, but it is long enough"), ("empty.tflite", b"")):
            for verb in ("run", "inspect", "bench"):
                with self.subTest(name=name, verb=verb):
                    self.assert_one_error(self.run_hearth(verb, self.file(name, data), expect=3), name)

    def test_no_driver_is_opened_for_a_file_that_is_no_model(self):
        for model in (self.file("text.tflite", b"this is not a model, but it is long enough"), "no-such.tflite"):
            done = self.run_hearth("run", model, "--device", "auto", expect=3, variables={"LD_DEBUG": "files"})
            for library in ("libOpenCL.so", "libvulkan.so", "libEGL.so"):
                self.assertNotIn(library, done.stderr)

    def test_an_error_about_a_name_of_a_megabyte_is_cut(self):
        done = self.run_hearth("run", MODEL, "--input", "n" * 100_000 + "=x.npy", "--device", "cpu", expect=3)
        self.assert_one_error(done, "bytes left out]", "it has")
        self.assertLess(len(done.stderr), 5000)

    def test_a_link_that_leads_in_a_circle_is_no_model(self):
        (self.folder / "a").symlink_to(self.folder / "b")
        (self.folder / "b").symlink_to(self.folder / "a")
        self.assert_one_error(self.run_hearth("run", self.folder / "a", expect=3), "no model file", "check the path")

    def test_files_of_other_kinds_are_named_with_the_way_to_a_model(self):
        for name, data, part in (("a.onnx", b"\x08\x07\x12\x07pytorch", "a damaged ONNX file"), ("a.h5", b"\x89HDF\r\n\x1a\n", "Keras 2"),
                                 ("a.keras", b"PK\x03\x04----", "Keras 3"), ("a.lfs", b"version https://git-lfs.github.com/spec/v1", "git lfs pull")):
            with self.subTest(name=name):
                self.assert_one_error(self.run_hearth("inspect", self.file(name, data), expect=3), name, part)

    def test_a_picture_in_the_place_of_the_model_is_told(self):
        self.assert_one_error(self.run_hearth("run", PICTURE, MODEL, expect=3), "a PNG picture", "comes first")

    def test_an_input_that_was_not_given_is_named(self):
        self.assert_one_error(self.run_hearth("run", MODEL, "--device", "cpu", expect=3), "'image'", "--random-inputs")

    def test_an_input_that_the_model_has_not_is_named_with_those_it_has(self):
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--input", f"photo={PICTURE}", expect=3)
        self.assert_one_error(done, "'photo'", "'image'")

    def test_a_device_is_no_input_and_of_a_file_that_is_too_large_no_more_is_read_than_belongs_there(self):
        for ending in ("bin", "npy", "png"):
            zeros = self.folder / f"zeros.{ending}"
            zeros.symlink_to("/dev/zero")
            self.assert_one_error(self.run_hearth("run", MODEL, zeros, "--device", "cpu", expect=3), "is a device")
        sparse = self.file("large.bin", b"")
        os.truncate(sparse, 1 << 38)
        self.assert_one_error(self.run_hearth("run", MODEL, sparse, "--device", "cpu", expect=3), "holds 274877906944 bytes", "takes 110592")
        array = self.file("large.npy", npy("<f4", INPUT_SHAPE, b""))
        os.truncate(array, 1 << 38)
        self.assert_one_error(self.run_hearth("run", MODEL, array, "--device", "cpu", expect=3), "too large")

    def test_an_input_given_twice_is_refused(self):
        self.assert_one_error(self.run_hearth("run", MODEL, "--device", "cpu", "--input", f"image={PICTURE}", "--input",
                                              f"image={PICTURE}", expect=3), "twice")

    def test_arrays_of_the_wrong_type_shape_or_size_are_refused(self):
        bytes_f32 = bytes(4 * 96 * 96 * 3)
        files = {"type.npy": npy("<u8", INPUT_SHAPE, bytes(8 * 96 * 96 * 3)),
                 "other-type.npy": npy("|u1", INPUT_SHAPE, bytes(96 * 96 * 3)),
                 "shape.npy": npy("<f4", (1, 96, 288), bytes_f32),
                 "short.npy": npy("<f4", INPUT_SHAPE, bytes_f32[:-4]),
                 "big-endian.npy": npy(">f4", INPUT_SHAPE, bytes_f32),
                 "a-batch-more.npy": npy("<f4", (1, *INPUT_SHAPE), bytes_f32),
                 "negative.npy": npy("<f4", (-1, 96, 96, 3), bytes_f32),
                 "huge.npy": npy("<f4", (2**62, 2**62), bytes_f32),
                 "header.npy": npy("<f4", INPUT_SHAPE, b"")[:40],
                 "not.npy": b"not an array", "empty.npy": b"", "long.bin": bytes_f32 + b"\0",
                 "unknown.txt": bytes_f32, "broken.png": b"\x89PNG\r\n\x1a\n broken"}
        for name, data in files.items():
            with self.subTest(name=name):
                done = self.run_hearth("run", MODEL, "--device", "cpu", "--input", self.file(name, data), expect=3)
                self.assert_one_error(done, name)

    def test_labels_that_are_not_there_are_bad_input(self):
        self.assert_one_error(self.run_hearth("run", MODEL, "--labels", "no-labels.txt", expect=3), "no-labels.txt")
        self.assert_one_error(self.run_hearth("run", MODEL, "--labels", "/dev/zero", expect=3), "not a list of labels")
        self.assert_one_error(self.run_hearth("run", MODEL, "--labels", MODEL, expect=3), "not text", "not a list of labels")
        self.assert_one_error(self.run_hearth("run", MODEL, "--labels", self.file("none.txt", b""), expect=3), "is empty", "not a list of labels")

    def test_a_device_that_does_not_exist_is_exit_code_4(self):
        for device in ("no such device", "opencl:99"):
            with self.subTest(device=device):
                done = self.run_hearth("run", MODEL, "--device", device, "--random-inputs", "1", expect=4)
                self.assert_one_error(done, device)

    def test_an_unknown_device_name_lists_what_there_is(self):
        self.assert_one_error(self.run_hearth("inspect", MODEL, "--device", "cuda", expect=4), "'cuda'", "cpu (", "hearth devices")

    def test_an_unknown_kernel_is_exit_code_3_and_lists_those_that_exist(self):
        self.assert_one_error(self.run_hearth("emit", "nope", "--dialect", "gles", expect=3), "softmax")


class Run(CliTest):
    def run_cpu(self, *arguments, model=MODEL):
        return self.run_json("run", model, "--device", "cpu", "--no-cache", *arguments)

    def output_bytes(self, name, *arguments, model=MODEL):
        folder = self.folder / name
        report = self.run_cpu("--output-dir", folder, *arguments, model=model)
        self.assertEqual(report["outputs"][0]["file"], str(folder / "0_Identity.npy"))
        return read_npy(folder / "0_Identity.npy")

    def test_the_report_has_the_promised_keys_in_order(self):
        report = self.run_cpu("--random-inputs", "1")
        self.assertEqual(list(report), ["hearth", "model", "device", "precision", "ops", "init_ms", "first_run_ms",
                                        "ready_ms", "save_ms", "run_ms", "programs", "tuning", "transfers", "cache",
                                        "memory", "resize", "threads", "start", "outputs", "warnings"])
        self.assertEqual(report["start"], {"mode": "ready", "first_by": "cpu", "moved_at_run": None,
                                           "reason": "the CPU is the device", "settled": True})
        self.assertEqual(report["device"]["id"], "cpu")
        self.assertAlmostEqual(report["ready_ms"], report["init_ms"]["total"] + report["first_run_ms"], places=6)
        output = report["outputs"][0]
        self.assertEqual(list(output)[:4], ["name", "dtype", "shape", "meaning"])
        self.assertEqual((output["name"], output["shape"], output["meaning"]), ("Identity", [1, 96, 96, 6], "class-map"))

    def test_a_memory_limit_is_kept_or_refused_with_the_bytes_needed(self):
        needed = self.run_cpu("--random-inputs", "1")["memory"]["needed_bytes"]
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--random-inputs", "1", "--memory-limit", "64K", expect=3)
        self.assert_one_error(done, f"needs {needed} bytes", "the memory limit leaves 65536")
        self.run_cpu("--random-inputs", "1", "--memory-limit", str(needed))
        self.assert_one_error(self.run_hearth("run", MODEL, "--memory-limit", "much", expect=2), "--memory-limit")

    def test_a_named_device_is_left_for_the_next_only_where_that_is_asked_for(self):
        arguments = ("--device", "opencl:77", "--random-inputs", "1")
        self.assert_one_error(self.run_hearth("run", MODEL, *arguments, expect=4), "opencl:77")
        report = self.run_json("run", MODEL, *arguments, "--next-device", "--wait-limit", "30000")
        self.assertIn("'opencl:77' is not usable", report["device"]["reason"])
        self.assertTrue(any("opencl:77" in warning for warning in report["warnings"]), report["warnings"])
        self.assert_one_error(self.run_hearth("run", MODEL, "--wait-limit", "-3", expect=2), "--wait-limit")

    def test_a_hot_start_answers_on_the_cpu_and_tells_what_became_of_its_device(self):
        arguments = ("run", MODEL, "--random-inputs", "1", "--start", "hot", "--json", self.folder / "r.json")
        done = self.run_hearth(*arguments, "--device", "opencl:77", expect=4)
        self.assertIn("Identity", done.stdout)  # the answer comes all the same
        self.assertIn("opencl", done.stderr)
        start = json.loads((self.folder / "r.json").read_text())["start"]
        self.assertEqual((start["mode"], start["first_by"], start["moved_at_run"], start["settled"]), ("hot", "cpu", None, True))
        self.assertIn("opencl", start["reason"])

    def test_json_goes_to_a_file_and_text_to_standard_output(self):
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--random-inputs", "1", "--json", self.folder / "r.json")
        self.assertIn("Identity", done.stdout)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["device"]["backend"], "cpu")

    def test_random_inputs_depend_on_the_seed_alone(self):
        first = self.output_bytes("a", "--random-inputs", "1")
        self.assertEqual(first, self.output_bytes("b", "--random-inputs", "1"))
        self.assertNotEqual(first, self.output_bytes("c", "--random-inputs", "2"))

    def test_random_inputs_of_every_numeric_type_that_is_no_index_are_not_all_zero(self):
        for name, code in (("float32", 0), ("float16", 1), ("uint8", 3), ("int16", 7), ("int8", 9), ("float64", 10),
                           ("uint16", 16)):
            with self.subTest(type=name):
                model = self.file(name + ".tflite", flat_model.cast(code, [1, 8]))
                self.run_cpu("--random-inputs", "1", "--output-dir", self.folder / name, model=model)
                self.assertTrue(any(read_npy(self.folder / name / "0_y.npy")[2]))

    def test_outputs_have_the_models_own_type_and_shape(self):
        self.assertEqual(self.output_bytes("f", "--random-inputs", "1")[:2], ("<f4", (1, 96, 96, 6)))
        self.assertEqual(self.output_bytes("i", "--random-inputs", "1", model=INT8_MODEL)[:2], ("|i1", (1, 96, 96, 6)))

    def test_inputs_and_outputs_of_every_type_keep_their_bits(self):
        rows = [("float64", "d", [1e300, -1 / 3]), ("uint32", "I", [4294967295, 16777217]), ("uint16", "H", [65535, 32768])]
        for name, letter, ends in rows:
            with self.subTest(type=name):
                model = self.oracle_model(f"transpose_{name}.tflite")
                numbers = [ends[0], *range(13), ends[1]]
                descr = "<f8" if letter == "d" else "<u" + str(struct.calcsize(letter))
                x = self.file(name + ".npy", npy(descr, (3, 5), struct.pack(f"<15{letter}", *numbers)))
                run = ["run", model, "--device", "cpu", "--no-cache"]
                done = self.run_hearth(*run, "--input", x, "--output-dir", self.folder / name)
                (written,) = (self.folder / name).iterdir()
                self.assertEqual(read_npy(written)[:2], (descr, (5, 3)))
                turned = struct.unpack(f"<15{letter}", read_npy(written)[2])
                self.assertEqual([turned[3 * k + row] for row in range(3) for k in range(5)], numbers)
                self.assertIn(f"{name}[5x3]", done.stdout)
                self.assertIn(f"max {ends[0]:.6g}", done.stdout)
                floats = self.file("floats.npy", npy("<f4", (3, 5), bytes(60)))
                done = self.run_hearth(*run, "--input", floats, expect=3)
                self.assert_one_error(done, f"is {name}[3,5], float32[3,5] was given: its numbers are not converted")

    def test_tensors_of_rank_8_go_in_and_out_and_rank_9_is_refused(self):
        shape = (2, 3, 1, 2, 2, 1, 3, 2)
        model = self.oracle_model("reshape_rank8_to_rank2.tflite")
        x = self.file("x.npy", npy("<f4", shape, struct.pack("<144f", *range(144))))
        self.run_cpu("--input", x, "--output-dir", self.folder / "out", model=model)
        (written,) = (self.folder / "out").iterdir()
        self.assertEqual(read_npy(written), ("<f4", (6, 24), struct.pack("<144f", *range(144))))
        report = self.run_json("inspect", model, "--device", "cpu")
        self.assertEqual(report["inputs"][0]["shape"], list(shape))
        model = self.file("9.tflite", flat_model.cast(0, [1] * 9))
        self.assert_one_error(self.run_hearth("run", model, "--device", "cpu", "--random-inputs", "1", expect=3), "rank 9")

    def test_a_bin_file_an_npy_file_and_one_without_the_leading_1_give_the_same(self):
        data = bytes(range(256)) * (27648 // 256)
        raw = self.output_bytes("raw", "--input", self.file("x.bin", data), model=INT8_MODEL)
        for name, shape in (("full", INPUT_SHAPE), ("short", INPUT_SHAPE[1:])):
            array = self.output_bytes(name, "--input", self.file(name + ".npy", npy("|i1", shape, data)), model=INT8_MODEL)
            self.assertEqual(raw, array, name)

    def test_an_array_in_fortran_order_is_copied_into_c_order(self):
        data = [k % 251 for k in range(27648)]
        height, width, channels = INPUT_SHAPE[1:]
        fortran = [data[(y * width + x) * channels + c]
                   for c in range(channels) for x in range(width) for y in range(height)]
        fortran = npy("|i1", INPUT_SHAPE, bytes(fortran)).replace(b"False", b"True ")
        self.assertEqual(
            self.output_bytes("c", "--input", self.file("c.npy", npy("|i1", INPUT_SHAPE, bytes(data))), model=INT8_MODEL),
            self.output_bytes("f", "--input", self.file("f.npy", fortran), model=INT8_MODEL))

    def test_a_named_input_is_found_and_a_file_name_with_an_equals_sign_is_a_file(self):
        named = self.output_bytes("named", "--input", f"image={PICTURE}")
        odd = self.folder / "a=b.png"
        shutil.copy(PICTURE, odd)
        self.assertEqual(named, self.output_bytes("odd", "--input", odd))

    def test_inputs_may_stand_behind_the_model(self):
        self.assertEqual(self.output_bytes("named", "--input", PICTURE), self.output_bytes("bare", PICTURE))

    def test_files_that_can_not_be_written_are_told_before_the_run(self):
        missing = self.folder / "no" / "r.json"
        for option in ("--json", "--picture"):
            done = self.run_hearth("run", "no-such.tflite", option, missing, expect=1)  # before the model is looked for
            self.assert_one_error(done, "can't write", str(missing))

    def test_pictures_are_resized_and_scaled(self):
        picture = self.file("colour.png", png(7, 5, (255, 0, 51)))
        scaled = struct.pack("<3f", 1.0, -1.0, (51 - 127.5) / 127.5) * (96 * 96)
        self.assertEqual(self.output_bytes("png", "--input", picture),
                         self.output_bytes("bin", "--input", self.file("scaled.bin", scaled)))
        halves = struct.pack("<3f", 127.5, 0.0, 25.5) * (96 * 96)
        self.assertEqual(self.output_bytes("png2", "--input", picture, "--mean", "0", "--std", "2"),
                         self.output_bytes("bin2", "--input", self.file("halves.bin", halves)))

    def test_8_bit_inputs_get_the_raw_pixels_on_their_own_grid(self):
        picture = self.file("colour.png", png(3, 3, (255, 0, 128)))
        raw = self.file("raw.bin", struct.pack("3b", 127, -128, 0) * (96 * 96))
        self.assertEqual(self.output_bytes("png", "--input", picture, model=INT8_MODEL),
                         self.output_bytes("bin", "--input", raw, model=INT8_MODEL))

    def test_a_segmentation_result_is_drawn_beside_its_picture(self):
        drawn = self.folder / "drawn.png"
        self.run_cpu("--input", PICTURE, "--picture", drawn)
        width, height = struct.unpack(">II", drawn.read_bytes()[16:24])
        self.assertEqual(width, 2 * 384)
        self.assertGreater(height, 384)  # the legend

    def test_an_output_folder_that_can_not_be_made_is_exit_code_1(self):
        self.file("taken", b"")
        done = self.run_hearth("run", MODEL, "--device", "cpu", "--no-cache", "--random-inputs", "1", "--output-dir",
                               self.folder / "taken" / "x", expect=1)
        self.assert_one_error(done, "taken")


class OpenModels(CliTest):
    """Shapes that the file leaves open, several functions, operators that nobody knows."""

    def setUp(self):
        super().setUp()
        self.model = self.file("open.tflite", flat_model.elementwise({"negate": 59, "rectify": 19}, [1, 1, 1, 3],
                                                                     [-1, -1, -1, 3]))

    def output_shape(self, *arguments):
        return self.run_json("run", self.model, "--device", "cpu", *arguments)["outputs"][0]["shape"]

    def test_shape_is_chosen_by_name_or_by_the_signatures_name(self):
        for name in ("x", "in"):
            self.assertEqual(self.output_shape("--random-inputs", "1", "--shape", f"{name}=2x5x4x3"), [2, 5, 4, 3])

    def test_the_inputs_file_decides_where_no_shape_is_given(self):
        array = self.file("x.npy", npy("<f4", (2, 3, 1, 3), bytes(72)))
        self.assertEqual(self.output_shape("--input", array), [2, 3, 1, 3])
        self.assertEqual(self.output_shape("--input", f"in={array}"), [2, 3, 1, 3])
        picture = self.file("x.png", png(7, 5, (1, 2, 3)))
        self.assertEqual(self.output_shape("--input", picture), [1, 5, 7, 3])
        self.assertEqual(self.output_shape("--input", picture, "--shape", "x=1x4x4x3"), [1, 4, 4, 3])

    def test_without_a_shape_the_files_own_is_taken_with_a_warning(self):
        done = self.run_hearth("run", self.model, "--device", "cpu", "--random-inputs", "1")
        self.assertIn("leaves the shape of input 'x' (-1x-1x-1x3) open; 1x1x1x3 is taken", done.stderr)

    def test_inspect_shows_the_open_shape_and_what_becomes_of_it(self):
        report = self.run_json("inspect", self.model, "--device", "cpu", "--shape", "x=1x8x8x3")
        self.assertEqual(report["inputs"][0]["declared_shape"], [-1, -1, -1, 3])
        self.assertEqual(report["inputs"][0]["alias"], "in")
        self.assertEqual(report["outputs"][0]["shape"], [1, 8, 8, 3])

    def test_a_wrong_shape_is_exit_code_3(self):
        for text, part in (("x=1x2", "has 4 dimensions"), ("z=1x2x2x3", "it has 'x'")):
            self.assert_one_error(self.run_hearth("run", self.model, "--shape", text, "--random-inputs", "1", expect=3),
                                  part)

    def test_a_shape_without_elements_gives_an_output_without_elements(self):
        report = self.run_json("run", self.model, "--shape", "x=1x0x2x3", "--random-inputs", "1", "--output-dir", self.folder)
        self.assertEqual(report["outputs"][0]["shape"], [1, 0, 2, 3])
        self.assertEqual(read_npy(report["outputs"][0]["file"])[2], b"")

    def test_a_signature_names_the_function_to_run(self):
        values = self.file("x.npy", npy("<f4", (1, 1, 1, 3), struct.pack("<3f", -1, 2, 3)))
        for signature, expected in (("negate", (1, -2, -3)), ("rectify", (0, 2, 3))):
            report = self.run_json("run", self.model, "--device", "cpu", "--signature", signature, "--input",
                                   values, "--output-dir", self.folder)
            self.assertEqual(struct.unpack("<3f", read_npy(report["outputs"][0]["file"])[2]), expected)
        done = self.run_hearth("run", self.model, "--signature", "fly", "--random-inputs", "1", expect=3)
        self.assert_one_error(done, "no signature 'fly'; it has: negate, rectify")

    def test_an_operator_that_nobody_knows_is_named_by_inspect_and_refused_by_run(self):
        model = self.file("foo.tflite", flat_model.elementwise({"main": "FOO"}, [1, 4]))
        report = self.run_json("inspect", model, "--device", "cpu")
        self.assertEqual(report["ops"]["list"][0]["op"], "FOO")
        self.assertEqual(report["ops"]["list"][0]["runs_on"], "nowhere")
        self.assertEqual([item["kind"] for item in report["advice"]], ["unknown-operation"])
        done = self.run_hearth("run", model, "--device", "cpu", "--random-inputs", "1", expect=3)
        self.assert_one_error(done, "op 0 FOO is not known to Hearth", "--ops FILE", "convert the model without it")

    def test_a_library_of_operators_makes_a_model_with_a_custom_operator_run(self):
        if not MISH.exists():
            self.skipTest(f"{MISH} is not built")
        model = self.file("mish.tflite", flat_model.elementwise({"main": "Mish"}, [1, 4]))
        values = self.file("x.npy", npy("<f4", (1, 4), struct.pack("<4f", -1, 0, 1, 2)))
        arguments = ("--device", "cpu", "--ops", MISH)
        report = self.run_json("run", model, *arguments, "--input", values, "--output-dir", self.folder)
        made = struct.unpack("<4f", read_npy(report["outputs"][0]["file"])[2])
        for x, y in zip((-1, 0, 1, 2), made):
            self.assertAlmostEqual(y, x * math.tanh(math.log1p(math.exp(x))), places=6)
        report = self.run_json("inspect", model, *arguments)
        self.assertEqual(report["ops"]["list"][0]["runs_on"], "cpu")
        self.assertEqual(report["ops"]["list"][0]["reason"], 'registered, version "1"')
        self.run_hearth("inspect", model, "--device", "cpu", "--ops", MISH)
        self.run_hearth("bench", model, *arguments, "--runs", "2")
        self.run_hearth("compare", model, *arguments, "--random-inputs", "1")
        self.run_hearth("cache", "warm", model, "--device", "cpu", "--ops", MISH)
        self.run_hearth("cache", "explain", model, *arguments)
        for wrong, part in (("nothing.so", "no such file"), (values, "library of operators")):
            done = self.run_hearth("run", model, "--device", "cpu", "--ops", wrong, "--random-inputs", "1", expect=3)
            self.assert_one_error(done, part)


if __name__ == "__main__":
    unittest.main()
