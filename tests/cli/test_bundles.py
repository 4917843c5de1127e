"""Bundles as files, programs made anew without their models, and programs in two entries, as users see them."""

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_case import CliTest, MODEL, PROGRAM  # noqa: E402


class CachingDevicesTest(CliTest):
    """With `devices` that keep something in the cache, and `line`, which names the model and the first of them."""

    def setUp(self):
        super().setUp()
        devices = self.run_json("devices")["devices"]
        self.is_software = {d["id"]: d["type"] == "cpu" for d in devices}
        self.devices = [d["id"] for d in devices if d["usable"] and d["backend"] != "cpu"]
        if not self.devices:
            self.skipTest("no device but the CPU, which keeps nothing")
        self.line = (MODEL, "--device", self.devices[0])


class Bundles(CachingDevicesTest):
    def test_a_bundle_file_carries_a_warm_start_and_any_tar_program_reads_it(self):
        self.run_hearth("cache", "warm", *self.line)
        bundle, again, other = (self.folder / name for name in ("bundle.tar", "again.tar", "other"))
        exported = self.run_json("cache", "export", bundle)
        self.run_hearth("cache", "export", again)
        self.assertEqual(bundle.read_bytes(), again.read_bytes())
        with tarfile.open(bundle) as archive:
            manifest = archive.extractfile("manifest.txt").read().decode()
            entries = [line.split() for line in manifest.splitlines() if line.startswith("entry ")]
            self.assertEqual(len(entries), exported["entries"])
            self.assertEqual(len(archive.getnames()), 1 + len(entries))
            for _, _, digest, size, sha256, _ in entries:
                entry = archive.extractfile(digest + ".entry").read()
                self.assertEqual((len(entry), hashlib.sha256(entry).hexdigest()), (int(size), sha256))
        self.assert_one_error(self.run_hearth("cache", "import", bundle, "--cache", other, expect=1), "--trust")
        self.run_hearth("cache", "import", bundle, "--cache", other, "--trust")
        self.assertEqual(self.run_json("cache", "explain", *self.line, "--cache", other)["misses"], 0)
        self.assert_one_error(self.run_hearth("cache", "export", bundle, expect=3), "bundle.tar")
        self.run_hearth("run", *self.line, "--random-inputs", "1", "--cache", self.folder / "empty",
                        "--cache-layer", bundle, "--trust-cache-layers", "--expect-warm")

    def test_inspect_tells_what_a_bundle_holds_and_finds_damage(self):
        self.run_hearth("cache", "warm", *self.line)
        bundle = self.folder / "bundle.tar"
        exported = self.run_json("cache", "export", bundle, "--valid-for", "1d")
        found = self.run_json("cache", "inspect", bundle)
        self.assertEqual((found["entries"], found["form"]), (exported["entries"], "file"))
        self.assertEqual(sum(kind["entries"] for kind in found["kinds"].values()), found["entries"])
        self.assertEqual((found["signed_by"], found["refusal"], found["damages"]), ("", "", []))
        self.assertGreater(found["expires_ms"], 0)
        data = bytearray(bundle.read_bytes())
        first_entry = data.index(b".entry\0") // 512 * 512 + 512
        data[first_entry] ^= 1
        bundle.write_bytes(data)
        told = json.loads(self.run_hearth("cache", "inspect", bundle, "--json", "-", expect=1).stdout)
        self.assertEqual(len(told["damages"]), 1)

    def test_a_folder_is_no_bundle(self):
        self.run_hearth("cache", "warm", *self.line)
        told = self.run_hearth("cache", "export", self.folder / "bundle", expect=3)
        self.assert_one_error(told, "bundle.tar")
        for verb in ("import", "inspect"):
            told = self.run_hearth("cache", verb, self.folder / "cache", expect=3)
            self.assert_one_error(told, "is a cache, not a bundle")

    def test_there_are_no_deltas(self):
        told = self.run_hearth("cache", "export", self.folder / "new.tar", "--since", "old.tar", expect=2)
        self.assert_one_error(told, "zstd --patch-from=OLD.tar NEW.tar")

    def test_a_strangers_bundle_moves_no_terminals_cursor(self):
        self.run_hearth("cache", "warm", *self.line)
        bundle = self.folder / "bundle.tar"
        self.run_hearth("cache", "export", bundle)
        data = bundle.read_bytes()
        device = re.search(rb"\ndevice [^\n]*\n", data)[0]
        forged = b"\ndevice opencl A%0afor%1b%5b31m"
        bundle.write_bytes(data.replace(device, forged.ljust(len(device) - 5, b"x") + b" 1 -\n", 1))
        told = self.run_hearth("cache", "inspect", bundle, expect=1).stdout
        self.assertIn("[31m", told)
        self.assertNotIn("\x1b", told)
        self.assertEqual(sum(line.startswith("for") for line in told.splitlines()), 1)

    def test_an_expiry_is_reproducible_where_the_date_is_given(self):
        self.run_hearth("cache", "warm", *self.line)
        bundles = [self.folder / "a.tar", self.folder / "b.tar"]
        for bundle in bundles:
            self.run_hearth("cache", "export", bundle, "--valid-for", "30d",
                            variables={"SOURCE_DATE_EPOCH": "1700000000"})
        self.assertEqual(bundles[0].read_bytes(), bundles[1].read_bytes())
        self.assertIn(b"\nexpires 1702592000000\n", bundles[0].read_bytes())
        self.run_hearth("cache", "export", self.folder / "c.tar", "--valid-for", "1d",
                        variables={"SOURCE_DATE_EPOCH": "now"}, expect=3)


class WarmFromCache(CachingDevicesTest):
    # As an update of the driver leaves the cache: plans and portable sources are there, binaries are not.
    def test_the_cache_makes_its_programs_anew_without_the_model(self):
        for device in self.devices:
            with self.subTest(device=device):
                cache = self.folder / device.replace(":", "-")
                self.run_hearth("cache", "warm", MODEL, "--device", device, "--cache", cache)
                kept = self.run_json("cache", "ls", "--kind", "program", "--cache", cache)["entries"]
                weights = self.run_json("cache", "ls", "--kind", "weights", "--cache", cache)["entries"]
                self.run_hearth("cache", "clear", "--kind", "program", "--yes", "--cache", cache)
                run = ("run", MODEL, "--device", device, "--random-inputs", "1", "--cache", cache, "--expect-warm")
                self.run_hearth(*run, expect=1)
                self.run_hearth("cache", "clear", "--kind", "program", "--yes", "--cache", cache)
                told = self.run_json("cache", "warm", "--from-cache", "--device", device, "--cache", cache)
                self.assertEqual([r["ok"] for r in told["results"]], [True], told)
                self.assertEqual(told["results"][0]["model"], MODEL)
                self.assertGreater(told["results"][0]["compiled"] + told["results"][0]["loaded"], 0)
                self.assertEqual(told["needed"], [])
                made = self.run_json("cache", "ls", "--kind", "program", "--cache", cache)["entries"]
                self.assertEqual({e["digest"] for e in made}, {e["digest"] for e in kept})
                after = self.run_json("cache", "ls", "--kind", "weights", "--cache", cache)["entries"]
                self.assertEqual(len(after), len(weights), "zeros were stored as weights")
                self.run_hearth(*run)
                own = self.run_json("cache", "ls", "--by-model", "--cache", cache)["models"][0]
                self.assertEqual(own["entries"], len(self.run_json("cache", "ls", "--cache", cache)["entries"]))

    def test_what_needs_the_model_is_told_with_the_reason(self):
        self.run_hearth("cache", "warm", *self.line)
        self.run_hearth("cache", "clear", "--kind", "plan", "--yes")
        told = self.run_json("cache", "warm", "--from-cache", "--device", self.devices[0])
        self.assertEqual(told["results"], [])
        self.assertEqual([(n["model"], n["device"]) for n in told["needed"]], [(MODEL, self.devices[0])])
        self.assertIn("no plan", told["needed"][0]["reason"])

    def test_a_plan_that_is_damaged_needs_the_model(self):
        self.run_hearth("cache", "warm", *self.line)
        with contextlib.closing(sqlite3.connect(self.folder / "cache" / "hearth.db")) as store, store:
            store.execute("UPDATE blobs SET bytes=zeroblob(length(bytes))"
                          " WHERE id IN (SELECT id FROM entries WHERE kind='plan')")
        told = self.run_json("cache", "warm", "--from-cache", "--device", self.devices[0])
        self.assertEqual([(n["model"], n["device"]) for n in told["needed"]], [(MODEL, self.devices[0])])
        self.assertIn("damaged", told["needed"][0]["reason"])

    def test_a_cache_of_nothing_is_warm(self):
        told = self.run_json("cache", "warm", "--from-cache", "--device", "all")
        self.assertEqual((told["results"], told["needed"]), ([], []))

    def test_a_model_or_the_cache_is_named(self):
        self.assert_one_error(self.run_hearth("cache", "warm", expect=2), "--from-cache")
        self.run_hearth("cache", "warm", MODEL, "--from-cache", expect=2)
        refused = self.run_hearth("cache", "warm", "--from-cache", "--device", "no such device", expect=4)
        self.assertIn("hearth: error: no usable device", refused.stderr)


class PortableParts(CachingDevicesTest):
    """Vulkan's SPIR-V is an entry of its own, which the entries of programs name."""

    def setUp(self):
        super().setUp()
        self.devices = [d for d in self.devices if d.startswith("vulkan")]
        if not self.devices:
            self.skipTest("no Vulkan device")
        self.line = (MODEL, "--device", self.devices[0])
        self.start = ("run", *self.line, "--random-inputs", "1")
        self.run_hearth("cache", "warm", *self.line)

    def of_kind(self, kind):
        return {e["digest"]: e["size_bytes"] for e in self.run_json("cache", "ls", "--kind", kind)["entries"]}

    def assert_warm(self, *options):
        report = self.run_json(*self.start, "--expect-warm", *options)
        self.assertEqual((report["programs"]["compiled"], report["programs"]["spirv_compiled"]), (0, 0))
        self.assertEqual((report["cache"]["rejected"], report["warnings"]), (0, []))
        return report

    def test_spirv_is_stored_once(self):
        sources, programs = self.of_kind("source"), self.of_kind("program")
        self.assertEqual(len(sources), len(programs))
        if self.is_software[self.devices[0]]:  # whose pipeline caches are empty
            self.assertLess(10 * sum(programs.values()), sum(sources.values()))
        self.assertEqual(self.assert_warm()["cache"]["misses"], 0)

    def lose_spirv(self):
        """As damage may: no command deletes it without the programs that need it."""
        with contextlib.closing(sqlite3.connect(self.folder / "cache" / "hearth.db")) as store, store:
            store.execute("DELETE FROM blobs WHERE id IN (SELECT id FROM entries WHERE kind='source')")
            store.execute("DELETE FROM entries WHERE kind='source'")

    def test_clearing_spirv_clears_the_programs_that_need_it(self):
        count = len(self.of_kind("source")) + len(self.of_kind("program"))
        self.assertEqual(self.run_json("cache", "clear", "--kind", "source", "--yes")["removed_entries"], count)
        self.assertEqual((self.of_kind("source"), self.of_kind("program")), ({}, {}))
        report = self.run_json(*self.start)
        self.assertEqual((report["cache"]["rejected"], report["warnings"]), (0, []))
        self.assert_warm()

    def test_a_program_whose_spirv_is_gone_says_so_and_is_made_again_once(self):
        self.lose_spirv()
        reasons = {kind: [e["reason"] for e in self.run_json("cache", "explain", *self.line)["entries"]
                          if e["kind"] == kind] for kind in ("source", "program")}
        self.assertTrue(reasons["source"] and all("needs this one" in reason for reason in reasons["source"]), reasons)
        self.assertTrue(reasons["program"] and all("needs the source" in reason for reason in reasons["program"]), reasons)
        made = self.run_hearth(*self.start, "--expect-warm", expect=1)
        self.assertIn("the cache lacks the source entry", made.stderr)
        self.assert_warm()

    def test_programs_that_an_export_leaves_behind_are_told(self):
        programs = self.of_kind("program")
        self.lose_spirv()
        told = self.run_json("cache", "export", self.folder / "told.tar", "--kind", "program")
        self.assertEqual((told["entries"], told["programs_without_source"]), (0, len(programs)))
        self.assertEqual(told["devices"], [])
        text = self.run_hearth("cache", "export", self.folder / "text.tar").stdout
        self.assertIn(f"{len(programs)} programs whose SPIR-V is gone were left out", text)

    def test_after_a_driver_update_new_programs_name_the_same_spirv(self):
        sources, programs = self.of_kind("source"), self.of_kind("program")
        self.run_hearth("cache", "clear", "--kind", "program", "--yes")  # as another driver finds the cache
        self.assertEqual(self.run_json(*self.start)["programs"]["spirv_compiled"], 0)
        self.assertEqual((self.of_kind("source"), set(self.of_kind("program"))), (sources, set(programs)))
        self.assert_warm()

    def test_programs_that_travel_alone_take_their_spirv_along(self):
        bundle, other = self.folder / "programs.tar", self.folder / "other"
        exported = self.run_json("cache", "export", bundle, "--kind", "program")
        self.assertEqual(exported["entries"], len(self.of_kind("program")) + len(self.of_kind("source")))
        self.run_hearth("cache", "import", bundle, "--trust", "--cache", other)
        self.assert_warm("--cache", other)
        self.assert_warm("--cache", self.folder / "empty", "--cache-layer", bundle, "--trust-cache-layers")

    def test_a_model_that_is_forgotten_takes_both_along(self):
        self.run_hearth("cache", "rm", MODEL, "--yes")
        self.assertEqual((self.of_kind("source"), self.of_kind("program")), ({}, {}))


if __name__ == "__main__":
    unittest.main()
