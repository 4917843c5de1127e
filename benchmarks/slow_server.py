"""What a cache server that is slow or gone costs a cold start: ready_ms of `hearth run` with and without it.

    HEARTH_BIN=build/release/bin/hearth python3 benchmarks/slow_server.py [MODEL [TURNS]]

Every start has an empty cache folder and empty driver caches. The kinds of servers take turns; medians and their ratio to
the start without a server are printed for each device.
"""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("HEARTH_BIN", str(ROOT / "build/release/bin/hearth"))


def listen():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener


def answer_late(listener, delay_s):
    """A server that has nothing and takes its time to say so."""
    def serve(connection):
        while connection.recv(1 << 20):
            time.sleep(delay_s)
            connection.sendall(b"$-1\r\n")
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def cold_start_ms(model, device, server, key):
    with tempfile.TemporaryDirectory() as name:
        folders = {"HEARTH_CACHE_DIR": "cache", "POCL_CACHE_DIR": "pocl", "MESA_SHADER_CACHE_DIR": "mesa"}
        environment = dict(os.environ, **{variable: f"{name}/{folder}" for variable, folder in folders.items()})
        if server:
            environment.update(HEARTH_CACHE_SERVER=server, HEARTH_CACHE_SERVER_KEYS=f"{key}.pub")
        done = subprocess.run([PROGRAM, "run", model, "--device", device, "--random-inputs", "1", "--json", "-", "--quiet"],
                              capture_output=True, check=True, env=environment)
        return json.loads(done.stdout)["ready_ms"]


def main():
    model = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "tools/demo/shapes_f32.tflite")
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    silent, slow, gone = listen(), listen(), listen()
    servers = {"none": "", "gone": f"127.0.0.1:{gone.getsockname()[1]}", "silent": f"127.0.0.1:{silent.getsockname()[1]}",
               "20 ms late": f"127.0.0.1:{slow.getsockname()[1]}"}
    gone.close()
    threading.Thread(target=answer_late, args=(slow, 0.02), daemon=True).start()
    listed = json.loads(subprocess.run([PROGRAM, "devices", "--json", "-"], capture_output=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        key = f"{folder}/key"
        subprocess.run([PROGRAM, "cache", "key", key], check=True, capture_output=True)
        for device in (d["id"] for d in listed["devices"] if d["usable"] and d["backend"] != "cpu"):
            times = {name: [] for name in servers}
            for _ in range(turns):
                for name, address in servers.items():
                    times[name].append(cold_start_ms(model, device, address, key))
            medians = {name: statistics.median(values) for name, values in times.items()}
            print(device, ", ".join(f"{name} {ms:.0f} ms ({ms / medians['none']:.2f})" for name, ms in medians.items()),
                  flush=True)


if __name__ == "__main__":
    main()
