"""Devices, the cache, and the package's outside."""

import ast
import ctypes
import pathlib
import subprocess
import sys

import hearth
import pytest
from conftest import ROOT
from hearth import litert


def test_the_cpu_is_among_the_devices():
    devices = hearth.devices()
    assert any(device["id"] == "cpu" and device["usable"] for device in devices)
    assert all(device["usable"] or device["reason"] for device in devices)


def test_a_devices_limits_are_its_features_as_numbers_and_switches():
    (cpu,) = (device for device in hearth.devices() if device["id"] == "cpu")
    features, limits = cpu["features"], cpu["limits"]
    assert set(features) - set(limits) == {"vendor", "uuid", "driver_environment"}
    assert limits["compute_units"] == int(features["compute_units"]) and limits["int64"] is (features["int64"] == "yes")
    assert "x".join(map(str, limits["max_local_size"])) == features["max_local_size"]
    assert all(device["limits"] is None or device["features"] for device in hearth.devices())


def test_the_plugin_comes_with_the_package():
    assert pathlib.Path(hearth.delegate_path()).name == "libhearth_tflite_delegate.so"


def test_the_accelerator_lies_beside_the_plugin():
    folder = pathlib.Path(hearth.litert_runtime_path())
    assert (folder / "libLiteRtGpuAccelerator.so").is_file() and folder == pathlib.Path(hearth.delegate_path()).parent


def test_a_second_start_on_a_device_compiles_nothing(demo, own_cache):
    usable = [device["id"] for device in hearth.devices() if device["usable"] and device["backend"] != "cpu"]
    if not usable:
        pytest.skip("no device but the CPU, which keeps nothing")
    path, x, _ = demo
    outputs = []
    for start in ("cold", "warm"):
        with hearth.Session(path, device=usable[0]) as session:
            outputs.append(session.run(x.reshape(session.inputs[0].shape))[0])
            programs = session.report()["programs"]
        assert (programs["compiled"] == 0) == (start == "warm"), programs
    assert (outputs[0] == outputs[1]).all()
    cache = hearth.Cache()
    assert cache.folder == str(own_cache)
    explained = cache.explain(path, device=usable[0])
    assert explained["misses"] == 0 and explained["hits"] > 0
    assert cache.stats()["entries"] == len(cache.list()["entries"]) > 0
    assert cache.verify()["clean"]
    bundle = cache.export_to(own_cache.with_name("bundle.tar"))
    copy = hearth.Cache(own_cache.with_name("copy"))
    assert copy.import_from(bundle["bundle"], trust=True)["entries"] == bundle["entries"]
    public = hearth.Cache.make_signing_key(own_cache.with_name("key"))
    signed = cache.export_to(own_cache.with_name("signed.tar"), sign_with=own_cache.with_name("key"))
    assert signed["signed_by"] == public
    trusting = hearth.Cache(own_cache.with_name("trusting"))
    imported = trusting.import_from(signed["bundle"], trusted_keys=own_cache.with_name("key.pub"))
    assert trusting.clear(signed_by=public[:16])["removed_entries"] == imported["entries"] > 0
    assert cache.clear(kind="plan")["removed_entries"] == 1
    cache.pin(path)
    assert [model["pinned"] for model in cache.models()["models"]] == [True]
    kept = cache.prune(0)["removed_entries"]
    cache.pin(path, False)
    assert cache.models()["models"][0]["pinned"] is False
    assert kept == 0 or cache.stats()["entries"] > 0, "what a pinned model uses is not evicted"
    assert cache.remove(path)["removed_entries"] > 0
    assert cache.models()["models"] == []
    cache.prune(0)
    assert cache.stats()["entries"] == 0


def test_a_lifted_quarantine_is_counted(own_cache):
    assert hearth.Cache(own_cache).lift_quarantine()["lifted"] == 0


def test_an_empty_filter_or_folder_is_a_mistake_and_deletes_nothing(own_cache):
    for name in ("kind", "device", "signed_by"):
        with pytest.raises(ValueError, match=f"{name} is empty"):
            hearth.Cache(own_cache).clear(**{name: ""})
    with pytest.raises(ValueError, match="empty"):
        hearth.Cache("")
    with pytest.raises(ValueError, match="is negative"):
        hearth.Cache(own_cache).prune(-1)


def test_one_model_and_one_device_need_no_list(demo):
    (result,) = hearth.Cache().warm(demo[0], "cpu")["results"]
    assert result["ok"] and result["model"] == str(demo[0])


def test_warming_tells_what_failed(demo):
    (result,) = hearth.Cache().warm([demo[0]], ["toaster"])["results"]
    assert not result["ok"] and "toaster" in result["error"]


def test_what_is_wrong_with_the_cache_is_told(demo, own_cache):
    cache = hearth.Cache(own_cache)
    with pytest.raises(hearth.Error) as caught:
        cache.pin(demo[0])
    assert caught.value.code == hearth.ErrorCode.NOT_FOUND
    findings = cache.examine()["findings"]
    assert findings and all(finding["what"] for finding in findings)


def test_the_stub_names_what_the_module_has():
    stub = ast.parse((pathlib.Path(hearth.__file__).parent / "_hearth.pyi").read_text())
    module = sys.modules["hearth._hearth"]

    def public(names):
        return {name for name in names if not name.startswith("_")}

    in_stub = public(n.name for n in stub.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)))
    assert in_stub == public(dir(module))
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name != "Error":
            members = public(
                getattr(part, "name", None) or part.target.id
                for part in node.body
                if isinstance(part, (ast.FunctionDef, ast.AnnAssign))
            )
            assert members == public(dir(getattr(module, node.name))), node.name


def test_the_version_is_that_of_the_repository():
    assert hearth.__version__ == (ROOT / "VERSION").read_text().strip()


def test_the_example_classifies_a_photograph(shared):
    pytest.importorskip("PIL", reason="the example reads pictures with Pillow")
    answer = subprocess.run(
        [
            sys.executable,
            ROOT / "examples/python/classify.py",
            shared / "models/mobilenet_v1_1.0_224_f32_dequant.tflite",
            shared / "images/grace_hopper.jpg",
            shared / "labels/imagenet_labels_1001.txt",
            "cpu",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "military uniform" in answer.stdout and "cpu        warm" in answer.stdout, answer.stdout


def test_the_accelerator_is_linked_into_litert_and_removed_again(tmp_path):
    folder = pathlib.Path(hearth.litert_runtime_path())
    place = tmp_path / "libLiteRtGpuAccelerator.so"
    assert litert.unlink(tmp_path) is False
    for _ in range(2):  # again, after another installation
        assert litert.link(tmp_path) == place
        assert place.resolve() == (folder / place.name).resolve()
    assert list(tmp_path.iterdir()) == [place]
    # It finds the plugin from there.
    linked = ctypes.CDLL(str(place))
    assert linked.LiteRtRegisterGpuAccelerator
    assert ctypes.c_uint16.in_dll(linked, "LiteRtAcceleratorImpl").value == 200
    assert litert.unlink(tmp_path) is True
    assert not place.is_symlink()


def test_a_file_that_is_not_hearths_is_left_in_litert(tmp_path):
    place = tmp_path / "libLiteRtGpuAccelerator.so"
    place.write_text("another accelerator")
    for change in (litert.link, litert.unlink):
        with pytest.raises(FileExistsError, match="not Hearth's"):
            change(tmp_path)
    assert place.read_text() == "another accelerator"
    assert litert.main(["link", "--package", str(tmp_path)]) == 1
    with pytest.raises(FileNotFoundError, match="is no folder"):
        litert.link(tmp_path / "nowhere")


def test_the_package_runs_as_a_module_as_its_program_does():
    program = pathlib.Path(hearth.__file__).parent / "bin" / "hearth"
    if not program.exists():
        pytest.skip("the program was not built")
    done = subprocess.run([sys.executable, "-m", "hearth", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, hearth.__version__), done.stderr
