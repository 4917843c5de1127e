"""`hearth cache` from outside, and what the other verbs say about a cache.

HEARTH_BIN names the program. Only the CPU is asked for, so no driver is needed:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_cache.py
"""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_case import CliTest, INT8_MODEL, MODEL, PICTURE, PROGRAM  # noqa: E402


class Cache(CliTest):
    def test_a_cache_that_was_never_used_is_empty_and_sound(self):
        self.assertEqual(self.run_hearth("cache", "path").stdout, f"{self.folder / 'cache'}\n")
        self.assertFalse(self.run_json("cache", "path")["exists"])
        self.assertEqual(self.run_json("cache", "ls")["entries"], [])
        self.assertEqual(self.run_json("cache", "stats")["entries"], 0)
        self.assertTrue(self.run_json("cache", "verify")["clean"])

    def test_what_is_no_key_and_no_device_deletes_nothing(self):
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")  # makes the store
        for option, value, code, words in (("--signed-by", "zz", 2, "not a public key"), ("--signed-by", "e" * 80, 2, "a key has 64"),
                                           ("--device", ":0", 3, "before the ':'")):
            with self.subTest(option=option, value=value):
                done = self.run_hearth("cache", "clear", option, value, "--yes", expect=code)
                self.assert_one_error(done, words)
                self.assertEqual(done.stdout, "")

    def test_clear_without_a_terminal_and_without_yes_deletes_nothing(self):
        self.assert_one_error(self.run_hearth("cache", "clear", expect=2), "--yes")
        self.assertEqual(self.run_json("cache", "clear", "--yes")["removed_entries"], 0)

    def test_prune_without_yes_or_with_no_size_deletes_nothing(self):
        self.assert_one_error(self.run_hearth("cache", "prune", "--max-size", "1M", expect=2), "--yes")
        self.assert_one_error(self.run_hearth("cache", "prune", "--max-size", "much", "--yes", expect=2), "much")
        self.assertEqual(self.run_json("cache", "prune", "--max-size", "1M", "--yes")["removed_entries"], 0)

    def test_ages_and_kinds_that_make_no_sense_are_refused(self):
        for part in (["ls"], ["clear", "--yes"], ["prune", "--yes"]):
            self.assert_one_error(self.run_hearth("cache", *part, "--unused-for", "long", expect=2), "--unused-for", "'long' is not an age")
        bundle = self.folder / "aged.tar"
        for age, why in (("5", "is not an age"), ("0s", "is too short")):  # the library takes 0 for a bundle that never expires
            self.assert_one_error(self.run_hearth("cache", "export", bundle, "--valid-for", age, expect=2), "--valid-for", f"'{age}' {why}")
        self.assertFalse(bundle.exists())
        self.run_hearth("cache", "ls", "--kind", "nope", expect=2)

    def test_a_warmed_model_is_explained_listed_by_model_device_and_age(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        device = devices[0]
        cold = self.run_json("cache", "explain", MODEL, "--device", device)
        self.assertEqual((cold["hits"], cold["has_run"]), (0, False))
        told = self.run_hearth("cache", "explain", MODEL, "--device", device).stdout
        self.assertTrue(told.startswith(f"{MODEL} never ran with this cache\n"), told)
        self.assertTrue(all(e["reason"] and not e["hit"] for e in cold["entries"]))
        warmed = self.run_json("cache", "warm", MODEL, "--device", device)["results"]
        self.assertEqual([(w["ok"], w["device"], w["put_errors"]) for w in warmed], [(True, device, 0)])
        warm = self.run_json("cache", "explain", MODEL, "--device", device)
        self.assertEqual((warm["misses"], warm["has_run"]), (0, True))
        # Another model is no neighbour: what it needs is not like anything that is there.
        other = self.run_json("cache", "explain", INT8_MODEL, "--device", device)
        self.assertFalse(other["has_run"] or other["has_changed"])
        all_entries = self.run_json("cache", "ls")["entries"]
        of_model = self.run_json("cache", "ls", "--model", MODEL, "--device", device)["entries"]
        self.assertTrue(0 < len(of_model) <= len(all_entries))
        self.assertEqual(len(self.run_json("cache", "ls", "--model", MODEL)["entries"]), len(all_entries))
        self.assertEqual(self.run_json("cache", "ls", "--device", "no such device")["entries"], [])
        self.assertEqual(self.run_json("cache", "ls", "--unused-for", "1d")["entries"], [])
        self.assertEqual(len(self.run_json("cache", "ls", "--unused-for", "0s")["entries"]), len(all_entries))
        run = self.run_json("run", MODEL, "--device", device, "--random-inputs", "1")
        self.assertEqual((run["programs"]["compiled"], run["cache"]["misses"]), (0, 0))
        self.assertGreater(self.run_json("cache", "stats")["lifetime"]["hits"], 0)

    def test_hits_are_counted_by_the_place_that_had_them(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        line = (MODEL, "--device", devices[0], "--random-inputs", "1")
        self.run_hearth("run", *line)
        bundle = self.folder / "kiosk.tar"
        self.run_hearth("cache", "export", bundle)
        kiosk = ("--cache", self.folder / "kiosk")
        reports = [self.run_json("run", *line, *kiosk, *layer)["cache"]
                   for layer in [("--cache-layer", bundle, "--trust-cache-layers")] * 2]
        self.assertTrue(all(r["layer_hits"] == r["hits"] > 0 and r["misses"] == 0 for r in reports), reports)
        told = self.run_hearth("cache", "stats", *kiosk).stdout
        self.assertRegex(told, r"100\.0% of what was looked up was there: 0 in this cache \(0 ms saved\), \d+ in layers")
        reports += [self.run_json("run", *line, *kiosk)["cache"]]  # makes what the layer had
        reports += [self.run_json("run", *line, *kiosk)["cache"]]
        lifetime = self.run_json("cache", "stats", *kiosk)["lifetime"]
        for key in ("hits", "misses"):
            self.assertEqual(lifetime[key], sum(r[key] for r in reports), key)
        origins = {name: origin["hits"] for name, origin in lifetime["origins"].items()}
        layers = sum(r["layer_hits"] for r in reports)
        self.assertEqual(origins, {"here": lifetime["hits"] - layers, "layer": layers, "server": 0})
        self.assertAlmostEqual(lifetime["milliseconds_saved"], sum(r["saved_ms"] for r in reports), places=3)
        self.assertAlmostEqual(lifetime["hit_rate"], lifetime["hits"] / (lifetime["hits"] + lifetime["misses"]))

    def test_a_start_that_was_to_be_warm_and_is_not_is_exit_code_1(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        line = (MODEL, "--device", devices[0], "--random-inputs", "1", "--expect-warm")
        self.assert_one_error(self.run_hearth("run", *line, expect=1), "cache explain")
        self.run_hearth("run", *line)
        self.run_hearth("bench", *line, "--runs", "1", "--warmup", "0")
        explained = self.run_json("cache", "explain", *line[:3])
        self.assertEqual(explained["misses"], 0)
        self.assertIn("not in the cache", [m["reason"] for m in explained["last_misses"]])
        self.assertRegex(self.run_hearth("cache", "explain", *line[:3]).stdout, r"the last start that compiled \(.*\) missed \d+ entr")
        self.run_hearth("cache", "clear", "--yes")
        self.assertEqual(self.run_json("cache", "explain", *line[:3])["last_misses"], [])

    def test_entries_made_with_a_model_token_are_those_of_the_model(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        self.run_hearth("run", MODEL, "--device", devices[0], "--random-inputs", "1", "--model-token", "a token")
        entries = self.run_json("cache", "ls")["entries"]
        self.assertTrue(entries)
        self.assertEqual(len(self.run_json("cache", "ls", "--model", MODEL)["entries"]), len(entries))
        self.run_hearth("cache", "clear", "--model", MODEL, "--yes")
        self.assertEqual(self.run_json("cache", "ls")["entries"], [])

    def test_the_models_of_a_cache_are_listed_pinned_and_removed(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        self.run_hearth("cache", "warm", MODEL, "--device", devices[0])
        models = self.run_json("cache", "ls", "--by-model")["models"]
        self.assertEqual([(m["path"], m["pinned"], m["shared_bytes"]) for m in models], [(os.path.abspath(MODEL), False, 0)])
        self.assertTrue(self.run_json("cache", "pin", MODEL)["models"][0]["pinned"])
        self.assertEqual(self.run_json("cache", "prune", "--max-size", "1K", "--unused-for", "0s", "--yes")["removed_entries"], 0)
        self.assertFalse(self.run_json("cache", "pin", MODEL, "--off")["models"][0]["pinned"])
        self.assertEqual(self.run_json("cache", "rm", MODEL, "--yes")["removed_entries"], models[0]["entries"])
        self.assertEqual(self.run_json("cache", "ls")["entries"], [])
        self.assert_one_error(self.run_hearth("cache", "rm", "nobody", "--yes", expect=3), "nobody")

    def test_verifying_where_no_cache_is_says_so(self):
        missing = self.folder / "typo"
        done = self.run_hearth("cache", "verify", "--cache", missing)
        self.assertEqual(done.stdout, f"there is no cache in {missing}: nothing was checked\n")
        self.assertFalse(missing.exists())

    def test_what_cannot_be_removed_is_not_announced_as_being_deleted(self):
        self.run_hearth("cache", "warm", MODEL, "--device", "cpu")
        for name in ("a", "/tmp"):
            for sure in (["--yes"], []):  # nor asked about
                done = self.run_hearth("cache", "rm", name, *sure, expect=3)
                self.assert_one_error(done, f"'{name}'" if (self.folder / "cache" / "hearth.db").exists() else "no cache")
                self.assertEqual(done.stdout, "")

    def test_the_doctor_names_what_is_wrong_and_the_command_that_mends_it(self):
        self.assertFalse(any(f["trouble"] for f in self.run_json("cache", "doctor")["findings"]))
        (self.folder / "cache").mkdir(mode=0o700, exist_ok=True)
        self.file("cache/hearth.db", b"x" * 5000)
        found = json.loads(self.run_hearth("cache", "doctor", "--json", "-", expect=1).stdout)["findings"]
        self.assertEqual([f["command"] for f in found if f["trouble"]], ["hearth cache verify --repair"])
        store = self.folder / "cache" / "hearth.db"
        store.unlink()
        store.mkdir()
        found = json.loads(self.run_hearth("cache", "doctor", "--json", "-", expect=1).stdout)["findings"]
        self.assertEqual([f["command"] for f in found if f["trouble"]], [f"mv '{store}' '{store}.aside'"])

    def test_the_doctor_names_an_address_that_is_none(self):
        done = self.run_hearth("cache", "doctor", "--json", "-", expect=1, variables={"HEARTH_CACHE_SERVER": "redis://u:secret@[::1"})
        trouble = [finding for finding in json.loads(done.stdout)["findings"] if finding["trouble"]]
        self.assertEqual(len(trouble), 1, trouble)
        self.assertIn("the cache server's address lacks a ']'", trouble[0]["what"])
        self.assertNotIn("secret", done.stdout)
        self.assertEqual(trouble[0]["cost"], "the entries of other machines are missing")

    def test_a_bundle_carries_a_warm_start_to_another_cache_where_it_is_trusted(self):
        devices = [d["id"] for d in self.run_json("devices")["devices"] if d["usable"] and d["backend"] != "cpu"]
        if not devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        line = (MODEL, "--device", devices[0])
        self.run_hearth("cache", "warm", *line)
        bundle, other = self.folder / "bundle.tar", self.folder / "other"
        exported = self.run_json("cache", "export", bundle)
        self.assertGreater(exported["native_entries"], 0)
        self.assert_one_error(self.run_hearth("cache", "import", bundle, "--cache", other, expect=1), "--trust")
        imported = self.run_json("cache", "import", bundle, "--cache", other, "--trust")
        self.assertEqual((imported["entries"], imported["other_devices"]), (exported["entries"], 0))
        self.assertEqual(self.run_json("cache", "explain", *line, "--cache", other)["misses"], 0)
        self.assert_one_error(self.run_hearth("cache", "export", bundle, expect=3), "bundle")
        self.assert_one_error(self.run_hearth("cache", "import", self.folder / "none", expect=3), "none")

    def test_a_signed_bundle_is_taken_from_a_trusted_key_alone(self):
        made = subprocess.run([PROGRAM, "cache", "key", str(self.folder / "key")], capture_output=True, text=True,
                              check=False)
        if made.returncode != 0 and "HEARTH_WITH_SODIUM" in made.stderr:
            self.skipTest("this build has no signatures")
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")  # makes the store
        bundle = self.folder / "bundle.tar"
        exported = self.run_json("cache", "export", bundle, "--sign", self.folder / "key")
        self.assertEqual(len(exported["signed_by"]), 64)
        imported = self.run_json("cache", "import", bundle, "--keys", self.folder / "key.pub")
        self.assertEqual(imported["signed_by"], exported["signed_by"])

    def test_a_revoked_key_that_is_still_listed_is_told(self):
        key, bundle, keys = self.folder / "key", self.folder / "bundle.tar", self.folder / "key.pub"
        made = subprocess.run([PROGRAM, "cache", "key", str(key)], capture_output=True, text=True, check=False)
        if made.returncode != 0 and "HEARTH_WITH_SODIUM" in made.stderr:
            self.skipTest("this build has no signatures")
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")  # makes the store, which remembers revocations
        signer = self.run_json("cache", "export", bundle, "--sign", key)["signed_by"]
        self.assertEqual(self.run_json("cache", "import", bundle, "--keys", keys)["warnings"], [])
        self.run_hearth("cache", "clear", "--signed-by", signer, "--yes")
        told = self.run_hearth("cache", "import", bundle, "--keys", keys).stderr
        self.assertRegex(told, f"hearth: warning: the key {signer} was revoked on 20.*{keys}")
        self.assertIn(signer, self.run_json("cache", "import", bundle, "--keys", keys)["warnings"][0])
        layered = ("--cache-layer", bundle, "--cache-layer-keys", keys)
        self.assertIn(f"the key {signer} was revoked", self.run_hearth("run", MODEL, PICTURE, "--device", "cpu", *layered).stderr)

    def test_a_few_digits_revoke_no_key_that_is_not_here(self):
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")
        self.assert_one_error(self.run_hearth("cache", "clear", "--signed-by", "3", "--yes", expect=2), "begins with '3'")

    def test_a_revocation_says_what_it_revoked_also_where_no_cache_is_yet(self):
        key = "e7" * 32
        self.assertIn(f"key {key} revoked; 0 entries deleted", self.run_hearth("cache", "clear", "--signed-by", key, "--yes").stdout)
        told = self.run_json("cache", "clear", "--signed-by", key, "--yes")
        self.assertEqual((told["revoked_key"], told["removed_entries"], told["other_formats_bytes"]), (key, 0, 0))
        self.assertNotIn("revoked_key", self.run_json("cache", "clear", "--yes"))

    def test_a_revocation_with_another_condition_is_wrong_usage(self):
        for extra in (["--kind", "weights"], ["--model", MODEL], ["--device", "opencl"], ["--unused-for", "1d"], ["--from", "bundle"]):
            with self.subTest(extra=extra):
                self.assert_one_error(self.run_hearth("cache", "clear", "--signed-by", "e7" * 32, "--yes", *extra, expect=2), "--signed-by", extra[0])
        self.assertEqual(self.run_json("cache", "ls", "--signed-by", "e7", "--kind", "weights")["entries"], [])

    def test_exporting_where_no_cache_is_says_so_and_makes_nothing(self):
        missing, bundle = self.folder / "typo", self.folder / "bundle.tar"
        self.assert_one_error(self.run_hearth("cache", "export", bundle, "--cache", missing, expect=3), f"no cache in {missing}")
        self.assertFalse(bundle.exists() or missing.exists())

    def test_a_limit_in_the_environment_that_is_no_size_is_named(self):
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")  # makes the store
        bundle = self.folder / "bundle.tar"
        self.run_hearth("cache", "export", bundle)
        done = self.run_hearth("cache", "import", bundle, expect=3, variables={"HEARTH_CACHE_MAX_SIZE": "abc"})
        self.assert_one_error(done, "HEARTH_CACHE_MAX_SIZE", "'abc' is not a size")

    def test_signing_with_the_public_key_says_which_one_signs(self):
        if subprocess.run([PROGRAM, "cache", "key", str(self.folder / "key")], capture_output=True, check=False).returncode != 0:
            self.skipTest("no signatures here")
        done = self.run_hearth("cache", "export", self.folder / "b.tar", "--sign", self.folder / "key.pub", expect=3)
        self.assert_one_error(done, "is a public key", "without .pub")

    def test_a_filter_beside_what_does_not_filter_is_wrong_usage(self):
        for line in (["clear", "--quarantine", "--yes"], ["ls", "--by-model"]):
            for extra in (["--kind", "weights"], ["--model", MODEL], ["--device", "opencl"], ["--from", "here"]):
                with self.subTest(line=line, extra=extra):
                    self.assert_one_error(self.run_hearth("cache", *line, *extra, expect=2), line[1], extra[0])
        self.assertEqual(self.run_json("cache", "clear", "--quarantine")["lifted"], 0)

    def test_the_folder_and_its_limit_have_the_names_of_the_other_interfaces_too(self):
        for name in ("--cache", "--cache-folder", "--cache-dir"):
            with self.subTest(name=name):
                self.assertEqual(self.run_hearth("cache", "path", name, self.folder / name).stdout, f"{self.folder / name}\n")
        for name in ("--cache-max-bytes", "--cache-max-size", "--max-cache-size"):
            with self.subTest(name=name):
                done = self.run_hearth("run", MODEL, PICTURE, "--device", "cpu", name, "much", expect=2)
                self.assert_one_error(done, "'much' is not a size")

    def test_a_bundle_says_which_hearth_may_use_it_and_for_how_long(self):
        self.run_hearth("run", MODEL, PICTURE, "--device", "cpu")  # makes the store
        bundle = self.folder / "bundle.tar"
        self.run_json("cache", "export", bundle, "--least-version", "999.0.0", "--valid-for", "1d")
        self.assertIn(b"\nexpires ", bundle.read_bytes())
        refused = self.run_hearth("cache", "import", bundle, "--trust", expect=1)
        self.assert_one_error(refused, "for Hearth 999.0.0 or newer")
        self.assert_one_error(self.run_hearth("cache", "export", self.folder / "b.tar", "--least-version", "x", expect=2), "'x'")

    def test_warming_a_device_that_is_not_usable_is_exit_code_4(self):
        self.assert_one_error(self.run_hearth("cache", "warm", MODEL, "--device", "opencl:99", expect=4), "opencl:99")

    def test_an_entry_that_does_not_exist_is_bad_input(self):
        self.assert_one_error(self.run_hearth("cache", "show", "00", expect=3), "00")

    def test_verify_finds_damage_and_repairs_it(self):
        self.run_hearth("run", MODEL, "--device", "cpu", "--random-inputs", "1")
        store = self.folder / "cache" / "hearth.db"
        self.assertTrue(store.exists())
        for side in self.folder.glob("cache/hearth.db-*"):
            side.unlink()
        store.write_bytes(b"not a database at all" * 1000)
        store.chmod(0o600)
        done = self.run_hearth("cache", "verify", expect=1)
        self.assertIn("damaged", done.stdout)
        self.assert_one_error(self.run_hearth("cache", "ls", expect=1), "--repair")
        self.run_hearth("cache", "verify", "--repair", expect=1)
        self.run_hearth("cache", "verify")

    def test_a_cache_folder_that_can_not_be_used_is_a_warning_that_quiet_suppresses(self):
        self.file("cache", b"a file where the folder should be")
        line = ("run", MODEL, "--device", "cpu", "--random-inputs", "1")
        self.assertIn("hearth: warning: no cache", self.run_hearth(*line).stderr)
        self.assertEqual(self.run_hearth(*line, "--quiet").stderr, "")


if __name__ == "__main__":
    unittest.main()
