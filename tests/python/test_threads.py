"""What may only go wrong once in a process: each test starts one of its own."""

import subprocess
import sys

import hearth
import pytest

USABLE = [device["id"] for device in hearth.devices() if device["usable"]]


def run(program, *arguments):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("device", USABLE)
def test_the_first_sessions_of_a_process_may_be_opened_by_several_threads_at_once(device, demo):
    done = run("""
import sys, threading
import hearth

ids = []

def work():
    ids.append(hearth.Session(sys.argv[1], device=sys.argv[2], cache=False).report()["device"]["id"])

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*ids)
""", str(demo[0]), device)
    assert (done.returncode, done.stdout.split()) == (0, 6 * [device]), done.stderr


def test_a_program_may_end_while_a_daemon_thread_runs_a_session(demo):
    done = run("""
import sys, threading
import hearth, numpy as np

session = hearth.Session(sys.argv[1], device="cpu", cache=False)
x = np.zeros(session.inputs[0].shape, np.float32)
session.run(x)
has_begun = threading.Event()

def work():
    while True:
        session.run(x)
        has_begun.set()

threading.Thread(target=work, daemon=True).start()
has_begun.wait()
""", str(demo[0]))
    assert (done.returncode, done.stderr) == (0, "")
