"""check_ray.py FOLDER PROGRAM: examples/ray on a local cluster of two nodes and two workers, with a cache server of its own.

Starts itself again in a virtual environment in FOLDER, with Ray from PyPI. Shown: every picture gets the class that a
session alone gives it, both workers take part, each has a cache folder of its own, and neither compiles anything: the
first start, alone, has put all of it onto the server. Skipped (77) where Ray, redis-server, a Vulkan device or the shared
models are not to be had.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import pypi  # noqa: E402

REQUIREMENTS = HERE / "requirements.txt"
SHARED = pathlib.Path(os.environ.get("HEARTH_SHARED") or ROOT.parent / "shared")
MODEL = SHARED / "models/mobilenet_v1_0.25_224_f32.tflite"


def skip(why):
    print("SKIP:", why)
    sys.exit(77)


def make_pictures(folder):
    from PIL import Image
    for path in sorted((SHARED / "images").glob("*.jpg")):
        picture = Image.open(path).convert("RGB")
        picture.save(folder / f"{path.stem}.png")
        picture.transpose(Image.FLIP_LEFT_RIGHT).save(folder / f"{path.stem}_mirrored.png")


def start_redis():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"],
                              stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return server, port
        except OSError:
            if server.poll() is not None:
                break
    skip("redis-server does not start")


def check(program, scratch):
    import hearth
    import ray
    from ray.cluster_utils import Cluster
    sys.path.insert(0, str(ROOT / "examples/ray"))
    import classify_folder

    pictures = scratch / "pictures"
    pictures.mkdir()
    make_pictures(pictures)
    key = scratch / "farm.key"
    subprocess.run([program, "cache", "key", key], check=True, stdout=subprocess.DEVNULL)
    server, port = start_redis()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 200 << 20})
    try:
        cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
        ray.init(address=cluster.address, include_dashboard=False, log_to_driver=False,
                 runtime_env={"env_vars": {"PYTHONPATH": f"{os.environ['PYTHONPATH']}:{ROOT / 'examples/ray'}"}})
        ray.data.DataContext.get_current().enable_progress_bars = False
        options = {"device": "vulkan", "cache_server": f"127.0.0.1:{port}", "cache_server_keys": f"{key}.pub",
                   "cache_server_sign": str(key), "cache_wait_ms": 10000}
        rows = classify_folder.classify(str(pictures), str(MODEL), options, 2, str(scratch / "caches"))
    finally:
        ray.shutdown()
        cluster.shutdown()
        server.terminate()
        server.wait()

    workers = {row["worker"]: {key: int(row[key]) for key in ("compiled", "loaded")} for row in rows}
    print(json.dumps(workers, indent=1))
    assert len(workers) == 2, "one worker did all"
    assert len(rows) == len(list(pictures.iterdir())), f"{len(rows)} answers"
    assert all(worker["compiled"] == 0 and worker["loaded"] > 0 for worker in workers.values()), "a worker compiled"
    with hearth.Session(MODEL, device="vulkan", cache=False) as session:
        for row in rows:
            picture = classify_folder.np.asarray(ray_sized(row["path"], session))
            (output,) = session.run(picture[None] / classify_folder.np.float32(127.5) - 1)
            assert int(output.argmax()) == row["class"], (row, int(output.argmax()))
    return workers


def ray_sized(path, session):
    from PIL import Image
    _, height, width, _ = session.inputs[0].shape
    return Image.open(path).convert("RGB").resize((width, height), Image.BILINEAR)


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    if "--installed" not in sys.argv:
        if not shutil.which("redis-server"):
            skip("redis-server is not installed")
        if not MODEL.exists():
            skip(f"no {MODEL}: set HEARTH_SHARED to the shared data")
        if subprocess.run([program, "inspect", MODEL, "--device", "vulkan"], capture_output=True).returncode == 4:
            skip("no Vulkan device is usable")
        try:
            python = pypi.installed(folder / "venv", REQUIREMENTS, "Ray")
        except pypi.Unavailable as reason:
            skip(reason)
        os.environ["RAY_worker_niceness"] = "0"  # 15 otherwise, which a busy machine never serves
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:], "--installed"]).returncode)
    with tempfile.TemporaryDirectory(prefix="hearth-ray.") as scratch:
        check(program, pathlib.Path(scratch))
    print("both workers started from the server's entries")


if __name__ == "__main__":
    main()
