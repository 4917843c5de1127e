#!/usr/bin/env python3
"""Runs the conformance suite on drivers beside those that the system uses.

    other_drivers.py fetch                 downloads and unpacks them into build/drivers (140 MB; needs apt-get, not root)
    other_drivers.py run NAME [ARG...]     hearth conformance ARG... on one of them; exit 77: it is not there
    other_drivers.py frames NAME           the tests of frames in dma-bufs, which this driver must import
    other_drivers.py mock                  Khronos' mock driver, which computes nothing, must not be usable
    other_drivers.py list

Nothing is installed: a driver is chosen by environment variables of its loader, for one process. SwiftShader and the mock
driver need no fetch where chromium-common is installed (tools/setup).
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("HEARTH_OTHER_DRIVERS", ROOT / "build" / "drivers"))
LIBRARIES = "usr/lib/x86_64-linux-gnu"
CHROMIUM = "usr/lib/chromium/"
NOT_THERE = 77

# Packages by Debian's suites: 12 is "bookworm", whose backports have Mesa 25, and 13 is "trixie", whose have Mesa 26.
# Mesa 26 needs a newer C library than that of Debian 12, so all libraries that it uses come along.
PACKAGES = {
    "swiftshader": {"bookworm": ["chromium-common"]},
    "rusticl": {"bookworm": ["mesa-opencl-icd", "libllvmspirvlib15", "libclang-cpp15", "libclc-15", "libclang1-15"]},
    "mesa25": {"bookworm-backports": ["mesa-vulkan-drivers", "mesa-libgallium", "libegl-mesa0", "libgl1-mesa-dri",
                                      "libgbm1", "libdrm2", "libdrm-amdgpu1"]},
    "mesa26": {"trixie-backports": ["mesa-vulkan-drivers"],
               "trixie": ["libc6", "libgcc-s1", "libstdc++6", "libvulkan1", "libllvm19", "libdisplay-info2", "libdrm2",
                          "libdrm-amdgpu1", "libelf1t64", "libexpat1", "libpng16-16t64", "libwayland-client0",
                          "libx11-xcb1", "libxcb1", "libxcb-dri3-0", "libxcb-present0", "libxcb-randr0", "libxcb-shm0",
                          "libxcb-sync1", "libxcb-xfixes0", "libxshmfence1", "libzstd1", "zlib1g", "libedit2",
                          "libtinfo6", "libxml2", "libffi8", "libbsd0", "libmd0", "liblzma5", "libz3-4", "libxau6",
                          "libxdmcp6", "libudev1", "libcap2"]},
}


def vulkan_environment(folder, library, original):
    """A manifest that names the driver's library by its full path."""
    manifest = json.loads((folder / original).read_text())
    manifest["ICD"]["library_path"] = str(folder / library)
    path = FOLDER / f"{pathlib.Path(library).stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(manifest))
    return {"VK_ICD_FILENAMES": str(path), "LD_LIBRARY_PATH": str(folder / LIBRARIES)}


def folder_of(name):
    """Where the driver's files are, as if it were the root of a system; None if they are nowhere."""
    unpacked = FOLDER / name
    if (unpacked / "usr").exists():
        return unpacked
    return pathlib.Path("/") if name == "swiftshader" and pathlib.Path("/", CHROMIUM).exists() else None


def from_chromium(library):
    return lambda: vulkan_environment(folder_of("swiftshader"), CHROMIUM + library, CHROMIUM + "vk_swiftshader_icd.json")


def rusticl():
    folder = FOLDER / "rusticl"
    vendors = folder / "vendors"
    vendors.mkdir(exist_ok=True)
    (vendors / "rusticl.icd").write_text(str(folder / LIBRARIES / "libRusticlOpenCL.so.1") + "\n")
    return {"OCL_ICD_VENDORS": str(vendors), "RUSTICL_ENABLE": "llvmpipe", "LD_LIBRARY_PATH": str(folder / LIBRARIES)}


def mesa25_vulkan():
    return vulkan_environment(FOLDER / "mesa25", LIBRARIES + "/libvulkan_lvp.so", "usr/share/vulkan/icd.d/lvp_icd.json")


def mesa25_gles():
    folder = FOLDER / "mesa25"
    return {"__EGL_VENDOR_LIBRARY_FILENAMES": str(folder / "usr/share/glvnd/egl_vendor.d/50_mesa.json"),
            "LIBGL_DRIVERS_PATH": str(folder / LIBRARIES / "dri"), "LD_LIBRARY_PATH": str(folder / LIBRARIES)}


def mesa26_vulkan():
    environment = vulkan_environment(FOLDER / "mesa26", LIBRARIES + "/libvulkan_lvp.so",
                                     "usr/share/vulkan/icd.d/lvp_icd.json")
    del environment["LD_LIBRARY_PATH"]  # programs of this system, which it may start, have their own C library
    return environment


def by_own_loader(name, program):
    """The program's command, started by the C library of the driver's folder if there is one."""
    folder = FOLDER / name / LIBRARIES
    loader = folder / "ld-linux-x86-64.so.2"
    if not loader.exists():
        return [program]
    return [loader, "--library-path", f"{folder}:{pathlib.Path(program).parent.parent / 'lib'}", program]


# Name: folder, backend, environment.
DRIVERS = {
    "swiftshader": ("swiftshader", "vulkan", from_chromium("libvk_swiftshader.so")),
    "rusticl": ("rusticl", "opencl", rusticl),
    "mesa25-vulkan": ("mesa25", "vulkan", mesa25_vulkan),
    "mesa25-gles": ("mesa25", "gles", mesa25_gles),
    "mesa26-vulkan": ("mesa26", "vulkan", mesa26_vulkan),
}


def apt(state, *arguments, **options):
    """apt-get with lists and a cache of its own, so that it needs no rights."""
    command = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={state}/sources.list", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache", *arguments]
    subprocess.run(command, check=True, **options)


def mirror():
    """The archive from which this machine installs Debian's packages."""
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], check=True, capture_output=True, text=True)
    for uri in targets.stdout.split():
        if re.fullmatch(r"https?://\S*debian/?", uri):
            return uri
    sys.exit("apt's sources name no archive of Debian (apt-get indextargets)")


def fetch():
    state = FOLDER / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text("".join(f"deb {mirror()} {suite} main\n"
                                                for suite in ("bookworm", "bookworm-backports", "trixie", "trixie-backports")))
    apt(state, "update")
    for name, suites in PACKAGES.items():
        archives = state / name
        archives.mkdir(exist_ok=True)
        wanted = [f"{package}/{suite}" for suite, packages in suites.items() for package in packages]
        apt(state, "download", *wanted, cwd=archives, stderr=subprocess.DEVNULL)
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", archive, FOLDER / name], check=True)
        print(f"{name}: unpacked into {FOLDER / name}")


def is_there(name):
    if folder_of(name) is None:
        print(f"SKIP: {name} is not in {FOLDER}: tests/drivers/other_drivers.py fetch brings it")
    return folder_of(name) is not None


def on_driver(name, command_of, more_environment=None):
    folder, backend, environment = DRIVERS[name]
    if not is_there(folder):
        return NOT_THERE
    program, *arguments = command_of(backend)
    return subprocess.run([*by_own_loader(folder, program), *arguments],
                          env={**os.environ, **environment(), **(more_environment or {})}).returncode


def program(variable, name):
    return os.environ.get(variable, ROOT / "build" / "release" / "bin" / name)


def run(name, arguments):
    hearth = program("HEARTH_BIN", "hearth")
    return on_driver(name, lambda backend: [hearth, "conformance", "--device", backend, *arguments])


def frames(name):
    tests = program("HEARTH_UNIT_TESTS", "hearth_unit_tests")
    return on_driver(name, lambda backend: [tests, f"--gtest_filter=*ExternalFrames*/{backend}"],
                     {"HEARTH_TEST_IMPORTS_DMA_BUF": DRIVERS[name][1]})


def mock():
    """The driver answers every call; only its results tell that it runs nothing."""
    if not is_there("swiftshader"):
        return NOT_THERE
    environment = {**os.environ, **from_chromium("libVkICD_mock_icd.so")()}
    command = [program("HEARTH_BIN", "hearth"), "devices", "--json", "-"]
    listed = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    mocks = [device for device in listed["devices"] if "Mock" in device["name"]]
    print(json.dumps(mocks, indent=2))
    return 0 if mocks and all(not device["usable"] and "self-test" in device["reason"] for device in mocks) else 1


def main():
    match sys.argv[1:]:
        case ["fetch"]:
            fetch()
        case ["list"]:
            print("\n".join(DRIVERS))
        case ["run", name, *arguments] if name in DRIVERS:
            sys.exit(run(name, arguments))
        case ["frames", name] if name in DRIVERS:
            sys.exit(frames(name))
        case ["mock"]:
            sys.exit(mock())
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
