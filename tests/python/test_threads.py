"""What may only go wrong once in a process: each test starts one of its own."""

import pathlib
import subprocess
import sys

import hearth
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import flat_model  # noqa: E402

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


@pytest.mark.parametrize("device", USABLE)
def test_a_forked_process_is_told_what_it_cannot_use_and_has_the_cpu(device, demo):
    done = run("""
import os, signal, sys
import hearth, numpy as np

session = hearth.Session(sys.argv[1], device=sys.argv[2], cache=False)
x = np.zeros(session.inputs[0].shape, np.float32)
session.run_later(x).result()

def told(ask):
    try:
        return ask() is not None
    except hearth.Error as error:
        return error.code == hearth.ErrorCode.UNAVAILABLE and "of which this one is a fork" in str(error)

def in_fork():
    signal.alarm(300)  # instead of a hang
    later = told(lambda: session.run_later(x).result())
    opened = told(lambda: hearth.Session(sys.argv[1], device=sys.argv[2], cache=False).run(x))
    cpu = hearth.Session(sys.argv[1], device="cpu", cache=False).run(x)
    session.close()
    return later and opened and len(cpu) == 1

child = os.fork()
if child == 0:
    os._exit(0 if in_fork() else 1)
print(os.waitpid(child, 0)[1])
""", str(demo[0]), device)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


# In the child the thread that was inside the session does not exist: whoever waits for it waits for ever.
IN_A_CALL = """
import os, signal, sys, threading
import hearth, numpy as np

session = hearth.Session(sys.argv[1], device="cpu", cache=False)
x = np.zeros(session.inputs[0].shape, np.float32)

def work():
    while True:
        session.run(x)

threading.Thread(target=work, daemon=True).start()

def told(ask):
    try:
        ask()
    except hearth.Error as error:
        return error.code == hearth.ErrorCode.UNAVAILABLE and "of which this one is a fork" in str(error)

def in_fork():
    signal.alarm(60)  # instead of a hang
    asked = [lambda: session.run(x), session.report, session.clone, lambda: session.resize(batch=2),
             session.save_to_cache, lambda: session.run_later(x).result()]
    wrong = [number for number, ask in enumerate(asked) if not told(ask)]
    session.close()
    return wrong

for _ in range(40):
    child = os.fork()
    if child == 0:
        os._exit(len(in_fork()))
    status = os.waitpid(child, 0)[1]
    if status:
        sys.exit(f"a child ended with {status}")
os._exit(0)
"""


def test_a_forked_process_never_waits_for_a_thread_that_was_inside_a_session(demo):
    done = run(IN_A_CALL, str(demo[0]))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("device", USABLE)
def test_a_signal_handlers_exception_reaches_whoever_opens_a_session(device, demo):
    done = run("""
import signal, sys
import hearth

class TimeIsUp(Exception):
    pass

def handler(number, frame):
    raise TimeIsUp

signal.signal(signal.SIGALRM, handler)
for delay in range(1, 8):
    signal.setitimer(signal.ITIMER_REAL, 0.002 * 2**delay)
    try:
        with hearth.Session(sys.argv[1], device=sys.argv[2], cache=False):
            while True:
                pass
    except TimeIsUp:
        print("reached")
""", str(demo[0]), device)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, 7 * ["reached"], "")


def test_a_warning_that_python_makes_an_error_is_the_error_of_the_call(demo):
    done = run("""
import sys, warnings
import hearth

warnings.simplefilter("error")
try:
    hearth.Session(sys.argv[1], device="cpu", cache_folder="/proc/hearth")
except hearth.Warning as warning:
    print(type(warning).__name__)
""", str(demo[0]))
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["Warning"], "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("device", USABLE)
def test_the_hosts_signal_handlers_stay(device, demo):
    done = run("""
import signal, sys
import hearth, numpy as np

def handled():  # of those that a host can set: the C library keeps 32 and 33
    masks = [line.split() for line in open("/proc/self/status") if line.startswith(("SigCgt", "SigIgn"))]
    return {name: int(mask, 16) & ~(3 << 31) for name, mask in masks}

came = []
signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))
before = handled()
hearth.devices()
session = hearth.Session(sys.argv[1], device=sys.argv[2], cache=False)
session.run(np.zeros(session.inputs[0].shape, np.float32))
session.close()
signal.raise_signal(signal.SIGUSR1)
print(handled() == before, len(came))
""", str(demo[0]), device)
    assert (done.returncode, done.stdout.split()) == (0, ["True", "1"]), done.stderr


LLVMS = sorted({str(file.resolve()) for file in pathlib.Path("/usr/lib").glob("*/libLLVM-*.so.1")})


@pytest.mark.skipif(not LLVMS, reason="no libLLVM in /usr/lib")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("llvm", LLVMS)
@pytest.mark.parametrize("device", USABLE)
def test_drivers_compile_beside_any_llvm_that_the_process_sees_or_say_why_not(device, llvm, when, demo):
    done = run("""
import ctypes, sys
import hearth, numpy as np

model, device, llvm, when = sys.argv[1:]
if when == "after":
    hearth.devices()
ctypes.CDLL(llvm, ctypes.RTLD_GLOBAL)
try:
    session = hearth.Session(model, device=device, cache=False)
    session.run(np.zeros(session.inputs[0].shape, np.float32))
except hearth.Error as error:
    assert when == "after" and error.code == hearth.ErrorCode.UNAVAILABLE and llvm in str(error), error
print("alive")
""", str(demo[0]), device, llvm, when)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr


def test_a_thread_in_an_operator_does_not_crash_the_end_of_the_program(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(flat_model.elementwise({"main": "Mish"}, [1, 4], [-1, 4]))
    script = """
import sys, threading, time
import hearth, numpy as np
def slow(x):
    time.sleep(0.001)
    return x
sessions = [hearth.Session(sys.argv[1], custom_ops=[hearth.CustomOp("Mish", slow)], device="cpu", cache=False) for _ in range(2)]
begun = threading.Event()
def work(session):
    while True:
        session.run(np.zeros((1, 4), np.float32))
        begun.set()
for session in sessions:
    threading.Thread(target=work, args=[session], daemon=True).start()
begun.wait()
"""
    done = run(script, path)
    assert done.returncode == 0, done.stderr
