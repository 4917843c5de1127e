"""Two copies of Hearth in one process, each with an sqlite of its own, as of two packages: the first has the folder."""

import importlib.machinery
import os
import pathlib
import shutil
import subprocess
import sys

import hearth
import pytest

NAME, OTHER_NAME = b"libsqlite3.so.0", b"libsqliteB.so.0"

USE_BOTH = """
import threading, warnings
import numpy as np
import hearth, other
sqlites = {line.split()[-1] for line in open("/proc/self/maps") if "libsqlite" in line}
assert len(sqlites) == 2, sqlites
warnings.simplefilter("ignore")
told = {"hearth": [], "other": []}

def work(package, sizes):
    for size in sizes:
        graph = package.Graph("negated")
        graph.output(graph.unary("neg", graph.input("x", (1, size))), "y")
        with package.Session(graph.build(), device="cpu") as session:
            assert session.run(np.ones((1, size), np.float32))[0][0, 0] == -1
            told[package.__name__] += session.report()["warnings"]

work(hearth, [7])
threads = [threading.Thread(target=work, args=(hearth, range(8, 48))),
           threading.Thread(target=work, args=(other, range(58, 98)))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert told["hearth"] == [], told["hearth"]
assert len(told["other"]) == 40 and all("an sqlite of its own" in text for text in told["other"]), told["other"]
assert hearth.Cache().verify()["clean"]
"""


def renamed(source, target):
    content = source.read_bytes()
    if NAME not in content:
        pytest.skip(f"{source} has no shared {NAME.decode()}")
    # The second change keeps the binding's list of Python types apart.
    target.write_bytes(content.replace(NAME, OTHER_NAME).replace(b"__pybind11_", b"__pybind1B_"))


def test_the_second_copy_goes_without_the_cache_and_says_why(tmp_path):
    package = pathlib.Path(hearth.__file__).parent
    (module,) = [file for ending in importlib.machinery.EXTENSION_SUFFIXES for file in package.glob(f"_hearth*{ending}")][:1]
    sqlite = [line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libsqlite3" in line]
    if not sqlite:
        pytest.skip("no shared sqlite is loaded")
    other = tmp_path / "other"
    other.mkdir()
    for file in package.glob("*.py"):
        text = file.read_text().replace("from hearth", "from other").replace("import hearth", "import other")
        (other / file.name).write_text(text)
    renamed(module.resolve(), other / module.name)
    renamed(pathlib.Path(sqlite[0]), tmp_path / OTHER_NAME.decode())
    if (package / "lib").exists():
        shutil.copytree(package / "lib", other / "lib")
    paths = os.pathsep.join([str(tmp_path), str(package.parent), os.environ.get("PYTHONPATH", "")])
    libraries = os.pathsep.join([str(tmp_path), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(os.pathsep)
    done = subprocess.run([sys.executable, "-c", USE_BOTH], capture_output=True, text=True, check=False, timeout=300,
                          env=dict(os.environ, PYTHONPATH=paths, LD_LIBRARY_PATH=libraries))
    assert done.returncode == 0, done.stderr
