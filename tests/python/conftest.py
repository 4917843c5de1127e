import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))
import model_archive  # noqa: E402
DEMO = ROOT / "tools/demo"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("HEARTH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def demo():
    """The demo model's path, its golden input and output."""
    output = np.fromfile(DEMO / "golden_f32_output.bin", np.float32)
    return DEMO / "shapes_f32.tflite", np.fromfile(DEMO / "golden_f32_input.bin", np.float32), output


@pytest.fixture
def oracle_models():
    """The contents of the single-operator models of tests/oracle, by name."""
    return model_archive.Archive()


@pytest.fixture
def shared():
    """The folder of the large models, which are not part of the repository."""
    folder = pathlib.Path(os.environ.get("HEARTH_SHARED", ROOT.parent / "shared"))
    if not folder.exists():
        pytest.skip(f"no {folder}: set HEARTH_SHARED to the shared data")
    return folder
