"""Every command that docs/*.md shows, run as it stands, page by page, and every link of the pages.

HEARTH_BIN names the program:
    HEARTH_BIN=build/release/bin/hearth python3 -m unittest -v tests/cli/test_docs.py
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_case import CliTest, MISH, MODEL, PICTURE, PROGRAM, ROOT, TIMEOUT_S  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md"))
# What stands for the reader's own: a model, a picture, a device that this machine may lack.
STAND_INS = [(r"\bMODEL PICTURE\b", "model.tflite picture.png"), (r"\bMODEL\b", "model.tflite"), (r"\bNAME\b", "cpu"),
             (r"--device (D|gpu)\b", "--device cpu"), (r"\bKEY\b", "ab" * 32),
             (r"bash\|zsh\|fish", "bash"), (r"man -l -", "cat"), (r"\*\.tflite", "model.tflite")]
# Beginnings of commands, and the exit code that is right here beside 0.
OTHER_CODES = {"hearth cache clear": 2,  # asks, and nobody is there to answer
               "hearth run model.tflite --random-inputs 1": 1,  # what was warm has been removed by the lines above
               "hearth cache doctor": 1,  # finds something in some pages' caches
               "hearth cache warm --from-cache": 4}  # the CPU keeps nothing


def commands(page):
    """The program's commands in a page, in their order: indented lines, and what stands in backticks."""
    text = page.read_text()
    for match in re.finditer(r"^    ((?:hearth |[A-Z_]+=\S+ hearth )[^\n#]*)|`((?:[A-Z_]+=\S+ )?hearth [^`]+)`", text, re.M):
        yield " ".join((match[1] or match[2]).split())


def is_a_name(words):
    """`hearth run`, `hearth cache warm`: names a verb that needs arguments, and shows no command line."""
    return words[1:] in [["inspect"], ["run"], ["bench"], ["compare"], ["emit"], ["cache", "warm"], ["cache", "key"],
                         ["diagnose"]]


class Docs(CliTest):
    def place_for(self, page):
        """A folder with what a page's commands take for given, and a cache of its own."""
        place = self.folder / page.stem
        (place / "bin").mkdir(parents=True)
        (place / "bin/hearth").symlink_to(os.path.abspath(PROGRAM))
        shutil.copy(MODEL, place / "model.tflite")
        shutil.copy(PICTURE, place / "picture.png")
        if MISH.exists():
            shutil.copy(MISH, place)
        return place

    def run_line(self, line, place, backends):
        for pattern, stand_in in STAND_INS:
            line = re.sub(pattern, stand_in, line)
        for backend in {"vulkan", "opencl", "gles"} - backends:
            line = line.replace(f"--device {backend}", "--device cpu")
        environment = dict(self.environment(), PATH=f"{place / 'bin'}:{os.environ['PATH']}", HEARTH_CACHE_DIR=str(place / "cache"))
        done = subprocess.run(["sh", "-c", line], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        allowed = {0} | {code for start, code in OTHER_CODES.items() if line.startswith(start) and "--yes" not in line}
        self.assertIn(done.returncode, allowed, f"{line}\n{done.stdout}\n{done.stderr}")

    def test_every_command_of_every_page_runs(self):
        backends = {d["backend"] for d in self.run_json("devices")["devices"] if d["usable"]}
        if backends == {"cpu"}:
            self.skipTest("no device but the CPU, which keeps nothing that the cache's commands could show")
        count = 0
        for page in PAGES:
            place = self.place_for(page)
            for line in commands(page):
                with self.subTest(page=page.name, line=line):
                    words = line.split()
                    if is_a_name(words):
                        line = " ".join([*words, "--help"])
                    count += 1
                    self.run_line(line, place, backends)
        self.assertGreater(count, 40)

    def test_every_link_leads_to_a_file_and_to_a_heading_of_it(self):
        def anchors(page):
            headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
            return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}

        pages = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("*/**/README.md")]
        for page in pages:
            if "build" in page.relative_to(ROOT).parts:
                continue
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if target.startswith(("http://", "https://", "mailto:")):
                    continue
                with self.subTest(page=str(page.relative_to(ROOT)), target=target):
                    path, _, anchor = target.partition("#")
                    linked = (page.parent / path).resolve() if path else page
                    self.assertTrue(linked.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(linked))
                    if page in PAGES:  # docs and examples are what is installed
                        self.assertIn(linked.relative_to(ROOT).parts[0], {"docs", "examples"})


if __name__ == "__main__":
    unittest.main()
