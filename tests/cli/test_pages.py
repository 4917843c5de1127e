"""Pages and pictures as a browser lays them out: nothing is cut off, laid over something else, fetched or run as a script."""

import html
import itertools
import json
import re
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli_case import MODEL, TIMEOUT_S, CliTest  # noqa: E402

BROWSER = shutil.which("chromium")
WIDTHS = (500, 1280)  # of a telephone (the browser has no narrower window) and of a desk

# Where each text lies, how long each bar is and could be, in pixels, and what the browser fetched.
MEASURE = """<script>
const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
const texts = [...document.querySelectorAll("h1,h2,p,caption,th,td,li,text")].filter(e => e.textContent.trim());
document.title = JSON.stringify({
  width: document.documentElement.clientWidth, content: document.documentElement.scrollWidth,
  texts: texts.map(e => [e.textContent, box(e)]),
  bars: [...document.querySelectorAll("td div")].map(e => [parseFloat(e.style.width) / 100, e.clientWidth,
                                                           parseFloat(getComputedStyle(e.parentElement).width)]),
  picture: document.querySelector("svg") ? box(document.querySelector("svg")) : null, scripts: document.scripts.length,
  fetched: performance.getEntriesByType("resource").map(e => e.name)});
</script>"""


@unittest.skipUnless(BROWSER, "chromium is not installed")
class PagesTest(CliTest):
    def measure(self, page, width):
        """The page's text, drawn by the browser in a window of this width."""
        copy = self.file("measured.html", (page + MEASURE).encode())
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={self.folder}/browser",
                               f"--window-size={width},800", "--dump-dom", copy.as_uri()], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return json.loads(html.unescape(re.search("<title>(.*?)</title>", done.stdout, re.DOTALL)[1]))

    def assert_read(self, seen):
        """Every text can be read, and nothing came from elsewhere."""
        self.assertEqual((seen["fetched"], seen["scripts"]), ([], 1), "only the measuring script")
        self.assertTrue(seen["texts"])
        for (text, a), (other, b) in itertools.combinations(seen["texts"], 2):
            apart = min(a[2], b[2]) - max(a[0], b[0]) < 1 or min(a[3], b[3]) - max(a[1], b[1]) < 1
            self.assertTrue(apart, f"{text!r} lies over {other!r}")

    def assert_page_laid_out(self, path):
        for width in WIDTHS:
            seen = self.measure(path.read_text(), width)
            with self.subTest(width=width):
                self.assert_read(seen)
                self.assertLessEqual(seen["content"], seen["width"], "the page scrolls sideways")
                for share, length, room in seen["bars"]:
                    self.assertGreater(room, 40, "a bar that shows nothing")
                    self.assertAlmostEqual(length, share * room, delta=1)
        return seen

    def assert_picture_laid_out(self, path):
        picture = path.read_text()
        seen = self.measure("<!DOCTYPE html><title></title>" + picture[picture.index("<svg"):], WIDTHS[-1])
        self.assert_read(seen)
        left, top, right, bottom = seen["picture"]
        for text, (x, y, end, foot) in seen["texts"]:
            self.assertTrue(left <= x + 1 and end <= right + 1 and top <= y + 1 and foot <= bottom + 1, f"{text!r} is cut off")
        return [text for text, _ in seen["texts"]]

    def test_a_bench_page_is_laid_out_and_its_names_are_no_scripts(self):
        model, page = self.folder / ("<script>document.title=1<!--" + "n" * 200 + ".tflite"), self.folder / "page.html"
        shutil.copy(MODEL, model)
        self.run_hearth("bench", model, "--device", "cpu", "--runs", "5", "--html", page)
        self.assertGreater(len(self.assert_page_laid_out(page)["bars"]), 5)

    def test_the_page_of_a_cache_is_laid_out(self):
        self.run_hearth("run", MODEL, "--device", "cpu", "--random-inputs", "1")
        self.run_hearth("cache", "stats", "--html", self.folder / "page.html")
        self.assertTrue(self.assert_page_laid_out(self.folder / "page.html")["bars"])

    def test_the_page_of_a_conformance_run_is_laid_out(self):
        self.run_hearth("conformance", "--device", "all", "--filter", "softmax", "--html", self.folder / "page.html", expect=None)
        self.assert_page_laid_out(self.folder / "page.html")

    def test_the_pictures_of_memory_and_of_the_graph_are_laid_out(self):
        memory, graph = self.folder / "memory.svg", self.folder / "graph.svg"
        self.run_hearth("inspect", MODEL, "--device", "cpu", "--memory", memory)
        self.assertTrue(any("one arena" in text for text in self.assert_picture_laid_out(memory)))
        if not shutil.which("dot"):
            self.skipTest("graphviz is not installed")
        self.run_hearth("bench", MODEL, "--device", "cpu", "--runs", "3", "--graph", graph)
        self.assertTrue(any(text.endswith(" ms") for text in self.assert_picture_laid_out(graph)))


if __name__ == "__main__":
    unittest.main()
