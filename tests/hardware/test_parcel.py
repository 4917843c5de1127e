#!/usr/bin/env python3
"""A small parcel is made and run here, on lavapipe, within seconds. Exit code 77: something that it needs is missing.

    test_parcel.py BUILD_FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = "60,240,15,10,10,10"  # of the parts in seconds; the first two, which are checked, end by themselves
FILES = ("models/mnist_lstm_f32.tflite", "goldens/mnist_lstm_f32/*", "onnx/mtcnn_pnet.*", "images/*.jpg",
         "labels/*.txt")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def main():
    build = pathlib.Path(sys.argv[1])
    shared = pathlib.Path(os.environ.get("HEARTH_SHARED") or HERE.parents[2] / "shared")
    if not (shared / "models").is_dir():
        skip(f"no shared models in {shared}")
    listed = subprocess.run([build / "bin/hearth", "devices", "--json", "-"], capture_output=True, check=True)
    if not any(d["backend"] == "vulkan" and d["usable"] for d in json.loads(listed.stdout)["devices"]):
        skip("no Vulkan device")
    with tempfile.TemporaryDirectory() as folder:
        parcel, out, some = (pathlib.Path(folder, name) for name in ("parcel", "out", "shared"))
        for path in (path for pattern in FILES for path in shared.glob(pattern)):
            (some / path.relative_to(shared)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, some / path.relative_to(shared))
        subprocess.run([HERE / "make_parcel", "--build", build, "--room", "40", "--python", "none", "--level", "0",
                        parcel], check=True, env={**os.environ, "HEARTH_SHARED": str(some)})
        run = subprocess.run([parcel / "run_parcel", "--out", out, "--devices", "vulkan", "--models", "2",
                              "--limits", LIMITS, "--jobs", "1"])
        lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
        text = (out / "log.txt").read_text()
    parts = [line["measured"] for line in lines if line["what"] == "the part"]
    goldens = [line for line in lines if line["what"] == "golden"]
    assert run.returncode == 0, text
    assert len(parts) == 6, parts
    assert all(part.startswith(("done", "cut")) for part in parts), parts
    assert goldens and not any(line["faults"] for line in goldens), goldens
    assert len(goldens[0]["starts"]) == 2 and goldens[0]["starts"][1]["programs"]["compiled"] == 0, goldens[0]


if __name__ == "__main__":
    main()
