#!/usr/bin/env python3
"""Registers, waves and instructions of Hearth's tiles, compiled by RADV's null device without an AMD GPU.

    benchmarks/amd_registers.py [build/release/bin/compiled_kernels]

Needs Debian's mesa-vulkan-drivers. RADV's own estimates are in cycles: `throughput` of a wave alone on its SIMD, less is better.
`mul + add` is counted in the machine code.
"""
import os
import pathlib
import re
import subprocess
import sys

MANIFEST = pathlib.Path("/usr/share/vulkan/icd.d/radeon_icd.x86_64.json")
CHIPS = ["navi21", "raven", "polaris10"]
COLUMNS = {"VGPRs": "registers", "Spilled VGPRs": "spilled", "Subgroups per SIMD": "waves", "Instructions": "instructions",
           "Inverse Throughput": "throughput"}
UNFUSED = "mul + add"


def operands(line):
    """A line's operation, and the registers that its first and its other operands name."""
    operation, _, rest = line.partition(" ")
    names = [{f"{kind}{k}" for kind, first, last, only in re.findall(r"\b([vs])(?:\[(\d+):(\d+)\]|(\d+)\b)", operand)
              for k in range(int(first or only), int(last or only) + 1)} for operand in rest.split(",")]
    return operation, names[0], set().union(*names[1:])


def unfused(code):
    """32-bit products that their block first uses in an addition: each could be a fused multiply-add."""
    count = 0
    for block in re.split(r"^BB\d+:$", code, flags=re.MULTILINE):
        products = set()
        for line in block.splitlines():
            operation, first, others = operands(line.partition(";")[0].strip())
            if re.match(r"v_(add|sub|subrev)_f32", operation):
                count += len(products & others)
            products -= others | first
            if re.match(r"v_mul_f32", operation):
                products |= first
    return count


def statistics(program, chip):
    """Rows of (tile, {column: number})."""
    environment = dict(os.environ, VK_ICD_FILENAMES=str(MANIFEST), VK_DRIVER_FILES=str(MANIFEST), RADV_FORCE_FAMILY=chip,
                       RADV_DEBUG="shaders,shaderstats,nocache", MESA_SHADER_CACHE_DISABLE="true")
    done = subprocess.run([program], env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise SystemExit(f"SKIP: {chip}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
    for part in re.split("^== ", done.stderr, flags=re.MULTILINE)[1:]:
        numbers = {column: re.search(rf"^{name}: (\d+)", part, re.MULTILINE) for name, column in COLUMNS.items()}
        if any(number is None for number in numbers.values()):
            raise SystemExit(f"SKIP: this RADV prints no statistics of {part.splitlines()[0]}")
        code = re.findall(r"^disasm:$(.*?)^Compute Shader:$", part, re.MULTILINE | re.DOTALL)
        if not code:
            raise SystemExit(f"SKIP: this RADV disassembles no {part.splitlines()[0]}")
        yield part.splitlines()[0], {column: int(number.group(1)) for column, number in numbers.items()} | {
            UNFUSED: unfused(code[-1])}


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/compiled_kernels"
    if not MANIFEST.exists():
        raise SystemExit(f"SKIP: no {MANIFEST}: install mesa-vulkan-drivers")
    print(f"| chip | tile | {' | '.join([*COLUMNS.values(), UNFUSED])} |")
    print("|---" * (3 + len(COLUMNS)) + "|")
    for chip in CHIPS:
        for tile, numbers in statistics(program, chip):
            print(f"| {chip} | {tile} | {' | '.join(str(number) for number in numbers.values())} |")


if __name__ == "__main__":
    main()
