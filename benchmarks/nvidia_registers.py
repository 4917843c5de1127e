#!/usr/bin/env python3
"""Registers, spills, warps and instructions of Hearth's tiles, by NVIDIA's assembler without an NVIDIA GPU.

    benchmarks/nvidia_registers.py [build/release/bin/compiled_kernels]

clang and libclc (Debian's clang-14 and libclc-14) compile the tiles' OpenCL C to PTX, and ptxas (PyPI) to machine code. NVIDIA's own OpenCL compiler has another front end, so these are estimates. Tiles of 16 bits are left out:
libclc has no vload_half for this target.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tests" / "scripts"))
import pypi  # noqa: E402

REQUIREMENTS = REPO / "benchmarks" / "nvidia_requirements.txt"
LIBRARY = pathlib.Path("/usr/lib/clc/nvptx64--nvidiacl.bc")
# Most resident warps per multiprocessor: CUDA C++ Programming Guide, table of technical specifications by compute
# capability. Most groups: 16. There are 65,536 registers, allocated to a warp in units of 256.
MOST_WARPS = {"sm_75": 32, "sm_86": 48}
MOST_GROUPS, REGISTERS, REGISTERS_AT_ONCE = 16, 65536, 256
# A multiprocessor's shared memory, from the same table. On sm_86 each group takes 1 KiB more than it asks for.
LOCAL_BYTES, LOCAL_OF_GROUP = {"sm_75": 65536, "sm_86": 102400}, {"sm_75": 0, "sm_86": 1024}
INSTRUCTION_BYTES = 16
COLUMNS = ["registers", "spilled bytes", "warps", "of", "instructions", "mul + add"]


def warps(registers, lanes, local, chip):
    """Resident warps by registers, groups and local memory."""
    most = MOST_WARPS[chip]
    of_warp = -(-registers * 32 // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE
    of_group = lanes // 32
    groups = min(MOST_GROUPS, REGISTERS // (of_warp * of_group), most // of_group)
    if local > 0:
        groups = min(groups, LOCAL_BYTES[chip] // (local + LOCAL_OF_GROUP[chip]))
    return groups * of_group


def code_bytes(cubin):
    """The size of the kernel's section, as readelf lists it."""
    listed = subprocess.run(["readelf", "--section-headers", "--wide", cubin], capture_output=True, text=True, check=True)
    return sum(int(row[1], 16) for row in re.findall(r"\.text\.(\S+)\s+PROGBITS\s+\S+\s+\S+\s+(\S+)", listed.stdout))


def unfused(ptx):
    """32-bit products whose only use is an addition: each could be a fused multiply-add."""
    names = re.findall(r"mul\.(?:rn\.)?f32\s+(%f\d+),", ptx)
    return sum(1 for name in names
               if len(re.findall(rf"{name}\b", ptx)) == 2 and re.search(rf"add\.(?:rn\.)?f32\s+[^;]*{name}\b", ptx))


def compile_tile(ptxas, source, chip, scratch):
    """{column: number} of the kernel in the file `source`."""
    ptx, cubin = scratch / "tile.ptx", scratch / "tile.cubin"
    subprocess.run(["clang-14", "-x", "cl", "-cl-std=CL1.2", "-Dpx_alone=restrict", "-target", "nvptx64--nvidiacl",
                    f"-march={chip}", "-Xclang", "-target-feature", "-Xclang", "+ptx70", "-Xclang",
                    "-finclude-default-header", "-Xclang", "-mlink-bitcode-file", "-Xclang", LIBRARY, "-O3", "-w", "-S",
                    "-o", ptx, source], check=True)
    said = subprocess.run([ptxas, f"-arch={chip}", "-v", ptx, "-o", cubin], capture_output=True, text=True, check=True)
    registers = int(re.search(r"Used (\d+) registers", said.stderr).group(1))
    lanes = int(re.search(r"items (\d+)", source.read_text()).group(1))
    local = re.search(r"(\d+) bytes smem", said.stderr)
    return [registers, int(re.search(r"(\d+) bytes spill stores", said.stderr).group(1)),
            warps(registers, lanes, int(local.group(1)) if local else 0, chip), MOST_WARPS[chip],
            code_bytes(cubin) // INSTRUCTION_BYTES, unfused(ptx.read_text())]


def ptxas_program():
    python = pypi.installed(REPO / "build" / "benchmarks" / "nvidia", REQUIREMENTS, "NVIDIA's assembler")
    return next(python.parent.parent.glob("lib/python*/site-packages/nvidia/cuda_nvcc/bin/ptxas"))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/compiled_kernels"
    if not LIBRARY.exists():
        raise SystemExit(f"SKIP: no {LIBRARY}: install clang-14 and libclc-14")
    try:
        ptxas = ptxas_program()
    except pypi.Unavailable as reason:
        raise SystemExit(f"SKIP: {reason}") from reason
    print(f"| chip | tile | {' | '.join(COLUMNS)} |")
    print("|---" * (2 + len(COLUMNS)) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run([program, scratch], check=True)
        for chip in MOST_WARPS:
            for source in sorted(scratch.glob("*.cl")):
                title = source.read_text().splitlines()[0].removeprefix("// ")
                if "fp16" in title or "fp32_16" in title:
                    continue
                print(f"| {chip} | {title} | {' | '.join(map(str, compile_tile(ptxas, source, chip, scratch)))} |")


if __name__ == "__main__":
    main()
