"""The verbs of the program beside `run`, its devices' names, its manual and its completions.

    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_verbs.py
"""

import html.parser
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flat_model  # noqa: E402
from cli_case import CliTest, DEMO, INPUT_SHAPE, MODEL, PICTURE, PROGRAM, SHARED, TIMEOUT_S  # noqa: E402


class DeviceNames(CliTest):
    def device_of(self, *arguments, variables=None):
        done = self.run_hearth("inspect", MODEL, *arguments, "--json", "-", variables=variables)
        return json.loads(done.stdout)["device"]["id"]

    def test_capitals_and_blanks_around_a_name_do_not_matter(self):
        for name in ("CPU", " cpu "):
            self.assertEqual(self.device_of("--device", name), "cpu")

    def test_the_variable_is_the_default_and_the_option_comes_before_it(self):
        self.assertEqual(self.device_of(variables={"HEARTH_DEVICE": "CPU"}), "cpu")
        done = self.run_hearth("inspect", MODEL, variables={"HEARTH_DEVICE": "cuda"}, expect=4)
        self.assert_one_error(done, "'cuda'")
        self.assertEqual(self.device_of("--device", "cpu", variables={"HEARTH_DEVICE": "cuda"}), "cpu")

    def test_a_wrong_list_of_backends_is_told_where_devices_are_listed(self):
        done = self.run_hearth("devices", variables={"HEARTH_BACKENDS": "-cuda"})
        self.assertIn("hearth: warning: HEARTH_BACKENDS has '-cuda'; it takes -NAME", done.stderr)

    def test_an_empty_name_is_wrong_usage(self):
        for line in (["run", MODEL, "--random-inputs", "1"], ["inspect", MODEL], ["cache", "warm", MODEL]):
            for name in ("", " "):
                with self.subTest(line=line, name=name):
                    self.assert_one_error(self.run_hearth(*line, "--device", name, expect=2), "empty")

    def test_a_simulated_device_that_is_not_usable_is_left_for_the_next_only_if_asked(self):
        line = ("run", MODEL, "--random-inputs", "1", "--device", "vulkan", "--simulate", "navi21")
        none = {name: "/nonexistent/driver.json" for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES")}
        self.assert_one_error(self.run_hearth(*line, variables=none, expect=4), "vulkan")
        done = self.run_hearth(*line, "--next-device", "--json", "-", variables=none)
        report = json.loads(done.stdout)
        self.assertNotIn("vulkan", report["device"]["id"])
        self.assertIn("the next device is taken", "".join(report["warnings"]))

    def test_an_empty_name_in_a_list_is_wrong_usage(self):
        for names in ("cpu,", ",cpu", "cpu, ,cpu"):
            with self.subTest(names=names):
                self.assert_one_error(self.run_hearth("bench", MODEL, "--runs", "1", "--device", names, expect=2), "empty")

    def test_an_empty_variable_is_as_none(self):
        self.assertEqual(self.device_of(variables={"HEARTH_DEVICE": ""}), self.device_of())

    def test_the_gpu_is_hardware_or_an_error_that_says_what_there_is(self):
        devices = self.run_json("devices")["devices"]
        hardware = [d["id"] for d in devices if d["usable"] and d["type"] != "cpu"]
        if hardware:
            self.assertIn(self.device_of("--device", "gpu"), hardware)
        else:
            self.assert_one_error(self.run_hearth("inspect", MODEL, "--device", "GPU", expect=4), "no hardware GPU", "cpu (")

    def test_a_uuid_of_the_list_names_its_device(self):
        devices = [d for d in self.run_json("devices")["devices"] if d["usable"] and d["features"]["uuid"]]
        if not devices:
            self.skipTest("no usable device reports a UUID")
        for device in devices:
            uuid = device["features"]["uuid"]
            same = [d["id"] for d in devices if d["features"]["uuid"] == uuid]
            dashed = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
            for name in (uuid, uuid.upper(), dashed):
                self.assertEqual(self.device_of("--device", name), same[0])


class OtherVerbs(CliTest):
    def test_devices_lists_the_cpu_as_usable(self):
        devices = self.run_json("devices")["devices"]
        self.assertTrue([d for d in devices if d["id"] == "cpu" and d["usable"]], devices)
        for device in devices:
            self.assertEqual(list(device), ["id", "backend", "name", "driver", "type", "usable", "reason", "features", "rules"])
            self.assertTrue(device["usable"] or device["reason"], device)

    def test_inspect_counts_the_operations_and_says_where_they_run(self):
        report = self.run_json("inspect", MODEL, "--device", "cpu")
        self.assertEqual(report["ops"]["total"], 40)
        self.assertEqual(report["ops"]["on_cpu"] + report["ops"]["merged"], 40)
        self.assertEqual(report["inputs"][0]["shape"], list(INPUT_SHAPE))
        self.assertEqual([op["index"] for op in report["ops"]["list"]], list(range(40)))

    def test_inspect_draws_the_memory_plan(self):
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--memory", self.folder / "m.svg")
        picture = xml.etree.ElementTree.parse(self.folder / "m.svg").getroot()
        name = "{http://www.w3.org/2000/svg}"
        tensors = [r for r in picture.iter(name + "rect") if r.find(name + "title") is not None]
        self.assertGreater(len(tensors), 10)
        self.assertTrue(all(" at " in r.find(name + "title").text for r in tensors))
        text = " ".join(t.text for t in picture.iter(name + "text"))
        self.assertIn("lower bound", text)

    def test_inspect_writes_the_graph_as_text_or_for_graphviz(self):
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "g.txt")
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "g.dot")
        self.assertTrue((self.folder / "g.txt").read_text().startswith('graph "'))
        self.assertTrue((self.folder / "g.dot").read_text().startswith("digraph "))

    def test_inspect_draws_the_graph_and_every_pass_that_changed_it(self):
        passes = self.folder / "passes"
        negate, concatenate = 59, 2  # of one tensor: it does nothing
        model = self.file("chain.tflite", flat_model.chain([negate, concatenate, negate], [1, 4]))
        self.run_hearth("inspect", model, "--device", "cpu", "--passes", passes)
        self.assertEqual(sorted(path.stem for path in passes.iterdir()), ["00_file", "01_remove_no_ops"])
        done = self.run_hearth("inspect", MODEL, "--device", "cpu", "--passes", MODEL, expect=1)
        self.assert_one_error(done, "can't make the folder", MODEL)
        if shutil.which("dot") is None:
            self.skipTest("graphviz is not installed")
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "g.svg")
        self.assertIn("<svg", (self.folder / "g.svg").read_text())
        done = self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "no" / "g.svg", expect=1)
        self.assert_one_error(done, "g.svg", "there is no folder")

    def test_a_picture_without_graphviz_is_an_error_that_says_what_to_do(self):
        os.environ["PATH"], path = str(self.folder), os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        done = self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "g.svg", expect=1)
        self.assert_one_error(done, "install graphviz", ".dot")
        self.assertFalse((self.folder / "g.svg").exists())
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--passes", self.folder / "passes")
        self.assertTrue((self.folder / "passes" / "00_file.dot").exists())
        (self.folder / "g.svg").write_text("an earlier one")
        figures = self.folder / "b.csv", self.folder / "b.json", self.folder / "b.html"
        done = self.run_hearth("bench", MODEL, "--device", "cpu", "--runs", "2", "--graph", self.folder / "g.svg", "--csv", figures[0],
                               "--json", figures[1], "--html", figures[2], expect=1)
        self.assert_one_error(done, "install graphviz")
        self.assertIn("median", done.stdout)  # what was measured is not lost
        self.assertTrue(all(path.stat().st_size for path in figures))
        self.assertEqual((self.folder / "g.svg").read_text(), "an earlier one")

    def test_a_graphviz_that_fails_is_said_to_have_failed(self):
        os.environ["PATH"], path = f"{self.folder}:{os.environ['PATH']}", os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        dot = self.folder / "dot"
        for script, said in (("kill -9 $$", "it was ended by signal 9"), ("exit 3", "exit code 3"), ("exit 0", "exit code 0")):
            dot.write_text("#!/bin/sh\n" + script)
            dot.chmod(0o755)
            done = self.run_hearth("inspect", MODEL, "--device", "cpu", "--graph", self.folder / "g.svg", expect=1)
            self.assert_one_error(done, "Graphviz could not draw", "g.svg", said)
        self.assertFalse((self.folder / "g.svg").exists())

    def test_the_graph_has_short_names_that_graphviz_takes_as_they_are(self):
        name = "<&lt;>" + "n" * 100000
        model = self.file("names.tflite", flat_model.chain([59], [1, 4], first=name))
        self.run_hearth("inspect", model, "--device", "cpu", "--graph", self.folder / "g.dot")
        text = (self.folder / "g.dot").read_text()
        self.assertIn('label="<&amp;lt;>nnn', text)
        self.assertIn('... float32[1x4]"', text)
        self.assertLess(len(text), 2000)

    def test_bench_counts_runs_profiles_steps_and_writes_a_trace(self):
        trace = self.folder / "trace.json"
        report = self.run_json("bench", MODEL, "--device", "cpu", "--runs", "3", "--warmup", "0", "--profile", "--trace", trace)
        times = report["run_ms"]
        self.assertEqual(times["runs"], 3)
        self.assertTrue(0 < times["min"] <= times["median"] <= times["p90"] <= times["max"], times)
        self.assertTrue(report["profile"])
        self.assertTrue(times["p90"] <= times["p99"] <= times["max"] and times["inferences_per_second"] > 0, times)
        self.assertEqual(sum(kind["steps"] for kind in report["profile_by_op"]), len(report["profile"]))
        names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"]]
        self.assertIn("first run", names)

    def test_bench_counts_the_operations_of_a_convolution_and_not_of_the_transpose_before_it(self):
        model = SHARED / "onnx" / "orientation.onnx"
        if not model.exists():
            self.skipTest(f"{model} is not there: set HEARTH_SHARED to the shared data")
        report = self.run_json("bench", model, "--device", "cpu", "--runs", "2", "--warmup", "0", "--profile")
        first = [step for step in report["profile"] if step["node"].endswith("(operator 0)")]
        self.assertGreater(len(first), 1, "a transpose comes before it")
        elements = math.prod(int(size) for size in first[0]["output"].split("x"))
        self.assertAlmostEqual(sum(step["operations"] for step in first), 2 * 27 * elements, delta=elements)

    def test_bench_draws_the_graph_coloured_by_time(self):
        self.run_hearth("bench", MODEL, "--device", "cpu", "--runs", "2", "--graph", self.folder / "g.dot")
        nodes = re.findall(r' n(\d+) \[label="\d+ \w+( [\d.e-]+ ms)?", fillcolor="(#ff\w{4})"\]', (self.folder / "g.dot").read_text())
        self.assertGreater(len({colour for _, _, colour in nodes}), 3)
        self.assertEqual([colour for _, _, colour in nodes].count("#ff9b37"), 1, "the longest one")
        self.assertTrue(any(time for _, time, _ in nodes))
        self.run_hearth("bench", MODEL, "--device", "cpu", "--runs", "2", "--graph", self.folder / "g.txt")
        self.assertIn("= constant : ", (self.folder / "g.txt").read_text())
        done = self.run_hearth("bench", MODEL, "--device", "cpu,cpu", "--graph", self.folder / "g.dot", expect=3)
        self.assert_one_error(done, "--graph is of one device")

    def test_bench_compares_devices_in_one_table_and_as_csv(self):
        csv = self.folder / "b.csv"
        done = self.run_hearth("bench", MODEL, "--device", "cpu,no such device,cpu", "--runs", "2", "--csv", csv, "--json",
                               self.folder / "b.json", expect=1)
        self.assertIn("inferences/s", done.stdout)
        lines = csv.read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["device", "cpu", "no such device", "cpu"])
        self.assertEqual(len({line.count(",") for line in lines[:2]}), 1)
        devices = json.loads((self.folder / "b.json").read_text())["devices"]
        self.assertEqual([device.get("error") is None for device in devices], [True, False, True])

    def assert_page(self, path, *texts):
        """The page is well-formed, brings nothing from elsewhere and has these texts."""
        page, open_tags = path.read_text(), []
        reader = html.parser.HTMLParser()
        reader.handle_starttag = lambda tag, _: open_tags.append(tag) if tag != "meta" else None
        reader.handle_endtag = lambda tag: self.assertEqual(tag, open_tags.pop())
        reader.feed(page)
        self.assertEqual(open_tags, [])
        self.assertNotRegex(page, "http|src=|href=|<script")
        for text in texts:
            self.assertIn(text, page)

    def test_bench_and_cache_stats_draw_pages(self):
        model, page = self.folder / "<script>&.tflite", self.folder / "page.html"
        shutil.copy(MODEL, model)
        self.run_hearth("bench", model, "--device", "cpu,no such device", "--runs", "5", "--html", page, expect=1)
        self.assert_page(page, "&lt;script&gt;&amp;", "Runs by their time", "Layers, the longest first", "no such device", "Memory")
        self.run_hearth("cache", "stats", "--html", page)
        self.assert_page(page, "Sizes by kind", "Where look-ups found their entries")
        self.assert_one_error(self.run_hearth("bench", MODEL, "--html", self.folder / "no" / "x.html", expect=1), "x.html")

    def test_a_hot_bench_counts_the_runs_until_the_session_has_moved(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["id"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU")
        done = self.run_hearth("bench", MODEL, "--device", devices[0], "--start", "hot", "--runs", "3", "--json", "-",
                               variables={"HEARTH_HOT_MOVE": "ready"})
        report = json.loads(done.stdout)
        start = report["start"]
        self.assertEqual((start["mode"], start["first_by"], start["settled"]), ("hot", "cpu", True))
        self.assertEqual(report["device"]["id"], devices[0])
        self.assertEqual(start["moved_at_run"], start["cpu_runs"]["runs"] + 2)  # the first answer is counted apart
        self.assertGreater(start["settled_ms"], 0)
        self.assertGreater(report["memory"]["both_live_bytes"], report["memory"]["needed_bytes"])

    def test_bench_runs_for_the_seconds_that_are_asked(self):
        start = time.monotonic()
        times = self.run_json("bench", MODEL, "--device", "cpu", "--seconds", "1")["run_ms"]
        self.assertGreaterEqual(time.monotonic() - start, 1)
        self.assertGreater(times["runs"], 0)

    def test_an_interrupted_bench_writes_what_it_has(self):
        report = self.folder / "b.json"
        environment = dict(os.environ, HEARTH_CACHE_DIR=str(self.folder / "cache"))
        bench = subprocess.Popen([PROGRAM, "bench", MODEL, "--device", "cpu", "--seconds", "100000", "--log", "info", "--json", report],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        bench.stderr.readline()  # the device is open: ^C is caught since before
        bench.send_signal(signal.SIGINT)
        bench.communicate(timeout=TIMEOUT_S)
        self.assertEqual(bench.returncode, 130)
        self.assertGreaterEqual(json.loads(report.read_text())["run_ms"]["runs"], 1)

    def test_emit_gives_the_same_text_alone_and_as_json(self):
        text = self.run_hearth("emit", "softmax", "--dialect", "vulkan").stdout
        self.assertTrue(text.startswith("#version 450"), text[:40])
        self.assertEqual(self.run_json("emit", "softmax", "--dialect", "vulkan")["text"], text)


class Simulation(CliTest):
    PROFILE, OTHER = "mali-g78", "navi21"

    def simulated(self):
        """The usable devices that simulate the profile."""
        devices = self.run_json("devices", "--simulate", self.PROFILE)["devices"]
        usable = {d["id"]: d for d in devices if d["usable"]}
        if not usable:
            self.skipTest("no driver can simulate a device")
        return usable

    def test_a_simulated_device_is_listed_with_its_rules_and_the_keys_of_every_device(self):
        usable = self.simulated()
        plain = {d["id"]: d for d in self.run_json("devices")["devices"]}
        for device in usable.values():
            for key in ("features", "rules"):
                self.assertEqual(set(device[key]), set(plain[device["id"]][key]))
            self.assertEqual(device["type"], "integrated-gpu")
            self.assertIn("Mali-G78", device["name"])
        self.assertNotIn("cpu", usable)
        rules = self.run_json("devices", "--rules", "--simulate", self.PROFILE)["rules"]
        self.assertEqual({r["name"]: r["applies_to"] for r in rules},
                         {r["name"]: [d["id"] for d in usable.values() if d["rules"][r["name"]]] for r in rules})
        self.assertNotIn("applies_to", self.run_json("devices", "--rules")["rules"][0])

    def test_a_profile_that_there_is_not_is_told(self):
        for line in (["devices"], ["diagnose", "-"], ["emit", "softmax", "--dialect", "vulkan"], ["inspect", MODEL],
                     ["cache", "warm", MODEL], ["cache", "explain", MODEL], ["cache", "ls", "--model", MODEL]):
            with self.subTest(line=line):
                self.assert_one_error(self.run_hearth(*line, "--simulate", "no-such", expect=2), "'no-such'", self.PROFILE)

    def test_where_a_profile_has_no_effect_it_is_wrong_usage(self):
        for line in (["devices", "--profiles"], ["cache", "warm", "--from-cache"], ["cache", "ls"]):
            self.assert_one_error(self.run_hearth(*line, "--simulate", self.PROFILE, expect=2), "--simulate")

    def test_emit_reads_as_the_simulated_device_reads(self):
        for device in self.simulated().values():
            emitted = self.run_json("emit", "softmax", "--dialect", device["backend"], "--simulate", self.PROFILE)
            self.assertEqual(emitted["simulates"], self.PROFILE)
            self.assertEqual(emitted["read_path"], "texel-buffer" if device["rules"]["texel_reads"] else "buffer")
            same = self.run_json("emit", "softmax", "--dialect", device["backend"], "--simulate", self.PROFILE,
                                 "--read-path", emitted["read_path"])
            self.assertEqual(same["text"], emitted["text"])

    def test_a_cache_is_warmed_and_explained_for_a_profile_and_for_no_other_device(self):
        line = (MODEL, "--device", next(iter(self.simulated())))
        as_profile = (*line, "--simulate", self.PROFILE)
        self.assertTrue(self.run_json("cache", "warm", *as_profile)["results"][0]["ok"])
        self.assertEqual(self.run_json("cache", "explain", *as_profile)["misses"], 0)
        self.assertGreater(self.run_json("cache", "explain", *line)["misses"], 0)
        self.assertGreater(len(self.run_json("cache", "ls", "--model", *as_profile)["entries"]), 0)
        run = self.run_json("run", *as_profile, "--random-inputs", "1", "--expect-warm")
        self.assertEqual(run["device"]["simulates"], self.PROFILE)
        self.assertEqual(self.run_json("run", *line, "--random-inputs", "1")["device"]["simulates"], "")
        cold = self.run_hearth("run", *line, "--simulate", self.OTHER, "--random-inputs", "1", "--expect-warm", expect=1)
        self.assert_one_error(cold, f"cache explain MODEL --device {line[2]} --simulate {self.OTHER}`")

    def test_a_problem_report_tells_of_the_simulated_device(self):
        usable = self.simulated()
        told = json.loads(self.run_hearth("diagnose", "-", "--simulate", self.PROFILE).stdout)["devices"]
        self.assertEqual({d["id"]: d["rules"] for d in told if d["usable"]}, {d["id"]: d["rules"] for d in usable.values()})
        self.assertEqual({d["self_test"] for d in told if d["usable"]}, {"fine"})


class Diagnose(CliTest):
    def test_the_file_tells_devices_cache_and_errors_without_paths(self):
        (self.folder / "cache").mkdir(mode=0o700)
        self.run_hearth("run", self.folder / "secret-model.tflite", expect=3)
        self.run_hearth("run", MODEL, "--device", "cpu", "--input", f"secret={PICTURE}", expect=3)
        report = self.folder / "report.json"
        self.run_hearth("diagnose", report)
        text = report.read_text()
        told = json.loads(text)
        self.assertEqual([d["self_test"] for d in told["devices"] if d["id"] == "cpu"], ["fine"])
        self.assertEqual(len(told["last_errors"]), 2)
        self.assertIn("run exit 3", told["last_errors"][0])
        self.assertIn("cache", told)
        for private in (str(self.folder), "secret", os.environ.get("USER") or "nobody/nowhere"):
            if private != "root":
                self.assertNotIn(private, text)

    def test_errors_make_no_cache_folder(self):
        self.run_hearth("run", "no-such.tflite", expect=3)
        self.assertFalse((self.folder / "cache").exists())

    def test_a_file_that_can_not_be_written_is_told(self):
        self.assert_one_error(self.run_hearth("diagnose", self.folder / "no" / "x.json", expect=1), "can't write")


class Log(CliTest):
    ARGUMENTS = ("run", MODEL, "--device", "cpu", "--input", PICTURE)

    def test_info_names_the_device_and_debug_also_how_the_start_went(self):
        self.assertEqual(self.run_hearth(*self.ARGUMENTS).stderr, "")
        info = self.run_hearth(*self.ARGUMENTS, "--log", "info").stderr
        self.assertEqual(info.count("\n"), 1, info)
        self.assertTrue(info.startswith(f"hearth: info: {MODEL} on cpu"), info)
        debug = self.run_hearth(*self.ARGUMENTS, "--log", "debug").stderr
        self.assertIn("hearth: debug: start ", debug)

    def test_a_level_that_there_is_not_is_wrong_usage(self):
        self.assert_one_error(self.run_hearth(*self.ARGUMENTS, "--log", "loud", expect=2), "loud")


class Manual(CliTest):
    def complete(self, words):
        """What bash offers for the last of `words`."""
        script = self.file("completion.bash", self.run_hearth("completion", "bash").stdout.encode())
        done = subprocess.run(
            ["bash", "-c", f"source {script}; COMP_WORDS=(hearth {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
             "_hearth; echo ${COMPREPLY[*]}"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_the_manual_page_has_every_verb_and_no_mistake_in_its_macros(self):
        page = self.run_hearth("manual").stdout
        for verb in ("devices", "inspect", "run", "bench", "cache", "cache explain", "emit", "completion"):
            self.assertIn(f".SS hearth {verb}\n", page)
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("HEARTH_CACHE_DIR", done.stdout)

    def test_bash_completes_verbs_options_choices_and_files(self):
        self.assertEqual(self.complete("insp"), ["inspect"])
        self.assertEqual(self.complete("cache ver"), ["verify"])
        self.assertEqual(self.complete("run --prec"), ["--precision"])
        self.assertEqual(self.complete("run x --precision fp32_"), ["fp32_16"])
        self.assertIn("vulkan", self.complete("bench m.tflite --device ''"))
        self.assertEqual(self.complete(f"inspect {DEMO}/shapes_f"), [MODEL])
        self.assertEqual(self.complete("completion fi"), ["fish"])

    def test_zsh_and_fish_take_their_scripts(self):
        missing = [shell for shell in ("zsh", "fish") if shutil.which(shell) is None]
        for shell in {"zsh", "fish"} - set(missing):
            script = self.file(f"completion.{shell}", self.run_hearth("completion", shell).stdout.encode())
            subprocess.run([shell, "-n", str(script)], capture_output=True, timeout=TIMEOUT_S, check=True)
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")

    def test_another_shell_is_wrong_usage(self):
        self.assert_one_error(self.run_hearth("completion", "tcsh", expect=2), "tcsh")


if __name__ == "__main__":
    unittest.main()
