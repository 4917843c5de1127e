"""The virtual environment with TensorFlow and LiteRT."""

import pathlib
import shutil
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"
SECONDS = 1200


class Unavailable(Exception):
    """It can't be had; the words say why."""


def installed(venv):
    """The environment's Python, with the packages of REQUIREMENTS."""
    python, stamp = venv / "bin" / "python", venv / "installed.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return python
    shutil.rmtree(venv, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True, text=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
                        "--retries=0", "--timeout=20", "--requirement", REQUIREMENTS],
                       check=True, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        words = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Unavailable(f"TensorFlow cannot be installed: {words[-1] if words else error}") from error
    stamp.write_text(REQUIREMENTS.read_text())
    return python
