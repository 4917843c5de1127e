"""Variables by which a driver makes other code of the same kernels: each environment has entries of its own.

HEARTH_BIN names the program:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_driver_environment.py
"""

import json
import os
import sys
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli_case  # noqa: E402
import flat_model  # noqa: E402

TANH = 28
# Mesa's OpenGL ES has no binaries under these (the second one is of old versions); its code is the same.
WITHOUT_BINARIES = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE")
POCL_PROCESSOR = {"POCL_LLVM_CPU_NAME": "penryn", "POCL_KERNELLIB_NAME": "kernel-x86_64-pc-linux-gnu-ssse3"}
NAMES = ("GALLIVM_PERF", "POCL_EXTRA_BUILD_FLAGS", *POCL_PROCESSOR, *WITHOUT_BINARIES)
# A word in the device's driver, the variable, a value under which its compiler makes other code, another driver's one.
CASES = {"gles": ("llvmpipe", "GALLIVM_PERF", "nopt", {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}),
         "opencl": ("PoCL", "POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", {"GALLIVM_PERF": "nopt"})}


class DriverEnvironment(cli_case.CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.file("model.tflite", flat_model.elementwise({"main": TANH}, [1, 8, 8, 4]))
        self.devices = self.run_json("devices")["devices"]

    def environment(self):
        unset = {name: value for name, value in super().environment().items() if name not in NAMES}
        return dict(unset, MESA_SHADER_CACHE_DIR=str(self.folder / "mesa"), POCL_CACHE_DIR=str(self.folder / "pocl"))

    def cases(self):
        """(device, variable, value, another driver's variables) of each driver that is here."""
        found = []
        for backend, (word, *case) in CASES.items():
            fitting = [d["id"] for d in self.devices if d["usable"] and d["backend"] == backend and word in d["driver"]]
            found += [(device, *case) for device in fitting[:1]]
        if not found:
            self.skipTest("neither llvmpipe nor PoCL is here")
        return found

    def compiled(self, device, variables=None, *options):
        """How many programs a start compiled; it has nothing to warn of."""
        done = self.run_hearth("run", self.model, "--device", device, "--random-inputs", "1", *options, "--json", "-",
                               variables=variables)
        self.assertNotIn("warning", done.stderr)
        return json.loads(done.stdout)["programs"]["compiled"]

    def test_two_environments_in_turn_compile_once_each(self):
        for device, name, value, _ in self.cases():
            with self.subTest(device=device):
                turns = [self.compiled(device, variables) for variables in (None, {name: value}) * 2]
                self.assertGreater(turns[0], 0)
                self.assertGreater(turns[1], 0, "a binary of the other environment was taken")
                self.assertEqual(turns[2:], [0, 0], "the environments took each other's place")

    # PoCL's own switch stands for a second machine. Without it the processor is part of PoCL's name for itself, which
    # qemu-user showed: penryn under -cpu Nehalem, haswell under -cpu Haswell, skylake-avx512 with AVX-512.
    def test_binaries_for_another_processor_are_entries_of_their_own(self):
        case = [d for d in self.devices if d["usable"] and "DISTRO" in d["driver"] and "x86_64" in d["driver"]]
        if not case:
            self.skipTest("PoCL of a distribution on x86-64 is not here")
        self.assertRegex(case[0]["driver"], r"HSTR: pthread-x86_64-pc-linux-gnu-\w+")
        turns = [self.compiled(case[0]["id"], variables) for variables in (None, POCL_PROCESSOR) * 2]
        self.assertGreater(turns[0], 0)
        self.assertGreater(turns[1], 0, "a binary with the other processor's instructions was taken")
        self.assertEqual(turns[2:], [0, 0])

    def test_another_drivers_variable_changes_nothing(self):
        for device, _, _, foreign in self.cases():
            with self.subTest(device=device):
                self.assertGreater(self.compiled(device), 0)
                self.assertEqual(self.compiled(device, foreign), 0)

    def test_a_process_whose_driver_has_no_binaries_leaves_those_of_others_alone(self):
        case = [device for device, *_ in self.cases() if device.startswith("gles")]
        if not case:
            self.skipTest("llvmpipe is not here")
        line = ("run", self.model, "--device", case[0], "--random-inputs", "1", "--json", "-")
        self.assertGreater(self.compiled(case[0]), 0)
        for name in WITHOUT_BINARIES:
            with self.subTest(variable=name):
                done = self.run_hearth(*line, variables={name: "true"})
                self.assertNotIn("warning", done.stderr)  # Mesa itself calls the older name deprecated
                self.assertEqual(json.loads(done.stdout)["cache"]["rejected"], 0)
                self.assertEqual(self.compiled(case[0]), 0)

    def test_mesa_gets_a_folder_in_the_cache_where_it_has_none(self):
        mesa = [device["id"] for device in self.devices if device["usable"] and "Mesa" in device["driver"]]
        if not mesa:
            self.skipTest("no driver of Mesa is here")
        line = ("run", self.model, "--device", mesa[0], "--random-inputs", "1", "--json", "-")
        for cache_home, disable, reason in (("/dev/null", "", ""),
                                            (self.folder, "true", "MESA_SHADER_CACHE_DISABLE is set")):
            variables = {"XDG_CACHE_HOME": str(cache_home), "MESA_SHADER_CACHE_DISABLE": disable}
            environment = {k: v for k, v in dict(self.environment(), **variables).items() if k != "MESA_SHADER_CACHE_DIR"}
            with unittest.mock.patch.object(self, "environment", lambda kept=environment: kept):
                report = json.loads(self.run_hearth(*line).stdout)
                doctor = self.run_hearth("cache", "doctor", expect=1 if reason else 0)
            self.assertEqual(report["device"]["keeps_nothing"], reason)
            self.assertIn(reason, doctor.stdout)
            self.assertEqual((self.folder / "cache" / "mesa").exists(), True)

    def test_warming_a_device_that_can_keep_nothing_fails_and_says_why(self):
        case = [device for device, *_ in self.cases() if device.startswith("gles")]
        if not case:
            self.skipTest("llvmpipe is not here")
        self.compiled(case[0])
        warm = ("cache", "warm", "--from-cache", "--device", case[0], "--json", "-")
        self.assertEqual([r["error"] for r in self.run_json(*warm[:-2])["results"]], [""])
        done = self.run_hearth(*warm, expect=1, variables={WITHOUT_BINARIES[0]: "true"})
        self.assertRegex(json.loads(done.stdout)["results"][0]["error"], "llvmpipe.* has no program binaries")
        self.assertEqual(self.compiled(case[0]), 0)

    def test_warming_a_model_on_a_device_that_can_keep_no_programs_fails_and_says_why(self):
        case = [device for device, *_ in self.cases() if device.startswith("gles")]
        if not case:
            self.skipTest("llvmpipe is not here")
        variables = {WITHOUT_BINARIES[0]: "true"}
        line = ("cache", "warm", self.model, "--device", case[0], "--json", "-")
        warmed = json.loads(self.run_hearth(*line, expect=1, variables=variables).stdout)["results"][0]
        self.assertRegex(warmed["error"], "llvmpipe.* has no program binaries")
        self.assertGreater(warmed["bytes_written"], 0)  # plan and weights are kept
        run = ("run", self.model, "--device", case[0], "--random-inputs", "1", "--json", "-")
        told = [json.loads(self.run_hearth(*run, variables=v).stdout)["programs"]["storable"] for v in (variables, {})]
        self.assertEqual(told, [False, True])

    def test_lists_of_devices_tell_the_environment_and_problem_reports_only_the_names(self):
        for device, name, value, _ in self.cases():
            with self.subTest(device=device):
                listed = json.loads(self.run_hearth("devices", "--json", "-", variables={name: value}).stdout)
                told = {d["id"]: d["features"]["driver_environment"] for d in listed["devices"] if d["usable"]}
                self.assertRegex(told[device], rf"\b{name}=[0-9a-f]+")
                report = self.run_hearth("diagnose", "-", variables={name: value}).stdout
                self.assertIn(name, json.loads(report)["variables"])
                self.assertNotIn(told[device], report)

    def test_explain_says_that_the_environment_differs_and_shows_no_value(self):
        for device, name, value, _ in self.cases():
            with self.subTest(device=device):
                self.compiled(device)
                explain = ("cache", "explain", self.model, "--device", device)
                text = self.run_hearth(*explain, variables={name: value}).stdout
                self.assertRegex(text, rf"driver environment: '{name}=[0-9a-f]+' wanted, nothing stored")
                self.assertNotIn(f"={value}", text)

    def test_a_simulated_devices_binaries_are_for_the_cpus_that_made_them(self):
        case = [device for device, *_ in self.cases() if device.startswith("gles")]
        cpus = sorted(os.sched_getaffinity(0))
        if not case or len(cpus) < 2:
            self.skipTest("llvmpipe is not here, or it has one CPU")
        simulate = ("--simulate", "navi21")
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        turns = []
        for allowed in (cpus, cpus[:1]) * 2:
            os.sched_setaffinity(0, allowed)  # the program inherits it
            turns.append(self.compiled(case[0], None, *simulate))
        self.assertGreater(turns[0], 0)
        self.assertGreater(turns[1], 0, "llvmpipe refuses binaries of another number of CPUs")
        self.assertEqual(turns[2:], [0, 0])


if __name__ == "__main__":
    unittest.main()
