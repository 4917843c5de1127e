"""Virtual environments with packages from PyPI, in which some tests run."""

import pathlib
import shutil
import subprocess
import sys


class Unavailable(Exception):
    """It can't be had; the words say why."""


def installed(folder, requirements, what, seconds=1200):
    """The Python of the environment in `folder`, made once, with the packages of the file `requirements`, called `what`."""
    python, stamp = pathlib.Path(folder) / "bin" / "python", pathlib.Path(folder) / "installed.txt"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, text=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
                        "--retries=0", "--timeout=20", "--requirement", requirements],
                       check=True, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.SubprocessError) as error:
        words = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Unavailable(f"{what} cannot be installed: {words[-1] if words else error}") from error
    stamp.write_text(requirements.read_text())
    return python
