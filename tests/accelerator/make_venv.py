#!/usr/bin/env python3
"""make_venv.py FOLDER VERSION: a virtual environment FOLDER/venv with this version of LiteRT, made once.

Where that can't be had, FOLDER/unavailable.txt says why, for tests/plugin/in_venv.py.
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))
import pypi


def main():
    folder, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    requirements, reason = folder / "requirements.txt", folder / "unavailable.txt"
    requirements.write_text(f"ai-edge-litert=={version}\nml_dtypes\n")  # which 2.1.6 imports and does not ask for
    reason.unlink(missing_ok=True)
    try:
        pypi.installed(folder / "venv", requirements, f"ai-edge-litert {version}")
    except pypi.Unavailable as error:
        reason.write_text(f"{error}\n")
        print(error)


main()
