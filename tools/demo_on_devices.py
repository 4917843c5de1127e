#!/usr/bin/env python3
"""Runs the demo model on every usable device, cold and then warm, and prints a table. Called by tools/quickstart.

"Cold" is the first start: Hearth's cache is empty, and so are the drivers' own. "Warm" is the second start. Mesa's
drivers keep machine code in a cache of their own, which the warm start finds; PoCL's is switched off for both, because
Hearth keeps those programs itself. All of these folders lie below the output folder, which is emptied first.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEMO = ROOT / "tools" / "demo"
RUNS = 20

EXPLANATION = f"""
ready: from opening the device to the first result in memory. run: one whole inference, median of {RUNS}.
cold: the caches of Hearth and of the drivers are empty; warm: the second start. PoCL's own cache is off in both,
Mesa's is on and starts empty. compiled: programs made from source."""


class ProgramFailed(Exception):
    """hearth exited with an error; the text is its own last line."""


def environment(folder):
    """This environment with the cache of Hearth and those of the drivers in `folder`."""
    return dict(
        os.environ,
        HEARTH_CACHE_DIR=str(folder / "hearth"),
        MESA_SHADER_CACHE_DIR=str(folder / "mesa"),
        POCL_CACHE_DIR=str(folder / "pocl"),
        POCL_KERNEL_CACHE="0",
    )


def hearth(arguments, folder, *, capture=True):
    """Runs the program with its caches in `folder`; returns standard output."""
    for name in ("mesa", "pocl"):  # the drivers don't make missing folders
        (folder / name).mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        arguments, env=environment(folder), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None, stderr=subprocess.PIPE if capture else None)
    if done.returncode != 0:
        lines = (done.stderr or "").strip().splitlines()
        raise ProgramFailed(lines[-1] if lines else f"hearth exited with {done.returncode}")
    return done.stdout


def usable_devices(program, folder):
    devices = json.loads(hearth([program, "devices", "--json", "-"], folder))["devices"]
    for device in devices:
        if not device["usable"]:
            print(f"not usable: {device['id']}: {device['reason']}")
    return [device for device in devices if device["usable"]]


def measure(program, device, folder):
    """One start and RUNS inferences in a process of its own: the report of `hearth bench`."""
    return json.loads(hearth(
        [program, "bench", DEMO / "shapes_f32.tflite", "--device", device["id"], "--input", DEMO / "shapes.png",
         "--runs", str(RUNS), "--quiet", "--json", "-"], folder))


def print_table(rows):
    heads = ["device", "cold ready ms", "warm ready ms", "compiled cold", "compiled warm", "run ms (median)", "name"]
    table = [heads] + rows
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    for row in table:
        cells = [cell.ljust(width) if column in (0, len(heads) - 1) else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def table_row(device, cold, warm):
    return [device["id"], f"{cold['ready_ms']:.0f}", f"{warm['ready_ms']:.0f}", str(cold["programs"]["compiled"]),
            str(warm["programs"]["compiled"]), f"{warm['run_ms']['median']:.2f}", device["name"]]


def compare_devices(program, devices, caches):
    """Measures every device. Returns the rows of the table and the number of devices that failed."""
    rows, failed = [], 0
    for device in devices:
        folder = caches / device["id"].replace(":", "_")
        print(f"{device['id']}: cold, warm ...", flush=True)
        try:
            cold = measure(program, device, folder)
            warm = measure(program, device, folder)
        except ProgramFailed as error:
            print(f"{device['id']} failed: {error}", file=sys.stderr)
            failed += 1
            continue
        rows.append(table_row(device, cold, warm))
    return rows, failed


def draw_result(program, device, caches, picture):
    hearth([program, "run", DEMO / "shapes_f32.tflite", "--device", device["id"], "--input", DEMO / "shapes.png",
            "--labels", DEMO / "labels.txt", "--picture", picture, "--quiet"], caches / device["id"].replace(":", "_"))
    print(f"\nThe demo picture, each pixel in the colour of its class (by {device['id']}): {os.path.relpath(picture)}")


def classify_photo(program, device, caches):
    """With the shared models at hand: what MobileNet sees in a photo."""
    shared = pathlib.Path(os.environ.get("HEARTH_SHARED") or ROOT.parent / "shared")
    model = shared / "models" / "mobilenet_v1_1.0_224_f32_dequant.tflite"
    photo = shared / "images" / "grace_hopper.jpg"
    labels = shared / "labels" / "imagenet_labels_1001.txt"
    if not (model.exists() and photo.exists() and labels.exists()):
        return
    print(f"\nMobileNet v1 on {photo.name}, by {device['id']}:", flush=True)
    print(hearth([program, "run", model, "--device", device["id"], "--input", photo, "--labels", labels, "--top", "3"],
                 caches / device["id"].replace(":", "_")).rstrip())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", type=pathlib.Path, required=True, help="the built hearth")
    arguments.add_argument("--output-dir", type=pathlib.Path, required=True, help="emptied, then filled")
    options = arguments.parse_args()
    program, output_dir = options.program.resolve(), options.output_dir.resolve()
    shutil.rmtree(output_dir, ignore_errors=True)
    caches = output_dir / "caches"
    caches.mkdir(parents=True)

    try:
        devices = usable_devices(program, caches / "devices")
        rows, failed = compare_devices(program, devices, caches)
        if not rows:
            sys.exit("tools/quickstart: no device ran the demo model")
        print()
        print_table(rows)
        print(EXPLANATION)
        first = next(device for device in devices if device["id"] == rows[0][0])
        draw_result(program, first, caches, output_dir / "shapes_result.png")
        classify_photo(program, first, caches)
    except ProgramFailed as error:
        sys.exit(f"tools/quickstart: {error}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
