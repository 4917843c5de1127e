#!/usr/bin/env python3
"""Runs `hearth conformance --device vulkan ARG...` under Khronos' validation layer, with synchronization validation.

    validation.py ARG...

Exit code 1 for any message of the layer or any case that fails, 77 where the layer (Debian: vulkan-validationlayers) or
a Vulkan driver is not there.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_THERE, NO_DEVICE = 77, 4
LAYER = "VK_LAYER_KHRONOS_validation"
FOLDERS = ["/usr/share/vulkan/explicit_layer.d", "/usr/local/share/vulkan/explicit_layer.d",
           "/etc/vulkan/explicit_layer.d"]
# How the layer begins what it says, in its own form and in that of VUIDs.
MESSAGES = ("Validation Error", "Validation Warning", "VUID-", "UNASSIGNED-", "SYNC-HAZARD")
MOST_SHOWN = 20


def has_layer():
    folders = [folder for folder in os.environ.get("VK_LAYER_PATH", "").split(":") if folder] + FOLDERS
    manifests = [path for folder in folders for path in pathlib.Path(folder).glob("*.json")]
    return any(LAYER in path.read_text() for path in manifests)


def main():
    if not has_layer():
        print(f"SKIP: {LAYER} is not installed (Debian: vulkan-validationlayers)")
        return NOT_THERE
    program = os.environ.get("HEARTH_BIN", ROOT / "build" / "release" / "bin" / "hearth")
    environment = {**os.environ, "VK_INSTANCE_LAYERS": LAYER,
                   "VK_LOADER_DEBUG": "layer",  # the loader then says what it loads
                   "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"}
    run = subprocess.run([program, "conformance", "--device", "vulkan", *sys.argv[1:]], env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = run.stdout.splitlines()
    if run.returncode == NO_DEVICE:
        print(f"SKIP: no Vulkan device is usable: {' '.join(lines)}")
        return NOT_THERE
    if not any("Insert instance layer" in line and LAYER in line for line in lines):
        print(f"the loader did not take {LAYER}:\n{run.stdout}")
        return 1
    messages = [line for line in lines if any(start in line for start in MESSAGES)]
    print("\n".join(messages[:MOST_SHOWN]))
    print(f"{len(messages)} messages of the layer; {lines[-1] if lines else 'no output'}")
    return 1 if messages or run.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
