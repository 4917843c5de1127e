"""Runs in flight, on other threads and awaited, on the CPU unless a test says otherwise."""

import asyncio
import copy
import gc
import os
import shutil
import signal
import threading

import hearth
import numpy as np
import pytest
from small_graphs import CPU, negated, negated_sum


def test_outputs_are_the_callers_own():
    session = hearth.Session(negated_sum(), **CPU)
    (first,) = session.run(np.float32([[1, 2, 3, 4]]))
    (second,) = session.run(np.float32([[1, 2, 3, 4]]))
    assert first.tolist() == [[-1, -2, -3, -4]] and second.tolist() == [[-2, -4, -6, -8]]
    session.reset_state()
    assert session.run_named([[1, 1, 1, 1]])["y"].tolist() == [[-1, -1, -1, -1]]


def test_runs_whose_tickets_are_lost_do_not_block_the_session():
    with hearth.Session(negated(), **CPU) as session:
        for _ in range(5):
            session.submit([[1, 2, 3, 4]])
        assert session.run([[5, 6, 7, 8]])[0].tolist() == [[-5, -6, -7, -8]]
        kept = session.submit([[1, 1, 1, 1]])
        for _ in range(3):
            session.submit([[2, 2, 2, 2]])
        assert kept.result()[0].tolist() == [[-1, -1, -1, -1]]


def test_runs_are_submitted_and_waited_for_in_any_order():
    session = hearth.Session(negated_sum(), **CPU)
    first, second = (session.submit([[n, n, n, n]]) for n in (1, 2))
    with pytest.raises(hearth.Error) as caught:
        session.submit([[3, 3, 3, 3]])
    assert caught.value.code == "resource exhausted"
    assert session.wait(second)[0].tolist() == [[-3, -3, -3, -3]]
    assert session.wait(first)[0].tolist() == [[-1, -1, -1, -1]]


def test_a_ticket_brings_its_own_result():
    session = hearth.Session(negated_sum(), **CPU)
    first, second = (session.submit([[n, n, n, n]]) for n in (1, 2))
    assert second.result()[0].tolist() == [[-3, -3, -3, -3]]
    assert first.result()[0].tolist() == [[-1, -1, -1, -1]]
    with pytest.raises(hearth.Error, match="waited for already"):
        first.result()


def test_a_later_run_is_a_future_that_can_be_cancelled_or_late():
    with hearth.Session(negated_sum(), **CPU) as session:
        blocked, go = threading.Event(), threading.Event()

        class Slow(list):  # its turn comes, and it waits
            def __iter__(self):
                blocked.set()
                go.wait()
                return super().__iter__()

        first = session.run_later(Slow([np.ones((1, 4), np.float32)]))
        blocked.wait()
        cancelled = session.run_later([[1, 1, 1, 1]])
        late = session.run_later([[1, 1, 1, 1]], timeout=0)
        last = session.run_later([[1, 1, 1, 1]])
        assert cancelled.cancel() and not first.cancel()
        go.set()
        assert first.result()[0].tolist() == [[-1, -1, -1, -1]]
        with pytest.raises(TimeoutError, match="before it began"):
            late.result()
        assert last.result()[0].tolist() == [[-2, -2, -2, -2]]


@pytest.mark.filterwarnings("ignore:.*was shortened from")
@pytest.mark.parametrize("device", ["cpu", "vulkan"])
def test_a_shortened_file_is_an_error_of_the_call_and_runs_go_on(demo, device, tmp_path):
    path = shutil.copy(demo[0], tmp_path / "model.tflite")
    model = hearth.Model(path)
    try:
        session = hearth.Session(model, device=device)
    except hearth.Error as error:
        pytest.skip(str(error))
    with session:
        x = demo[1].reshape(session.inputs[0].shape)
        before = session.run(x)[0]
        os.truncate(path, 0)
        for call in (session.clone, lambda: session.resize(batch=2), model.metadata):
            with pytest.raises(hearth.Error, match="was shortened from"):
                call()
        assert np.array_equal(session.run(x)[0], before)
        assert any("was shortened from" in warning for warning in session.report()["warnings"])


def test_a_clone_has_state_of_its_own_and_outlives_the_first():
    first = hearth.Session(negated_sum(), **CPU)
    first.run([[1, 1, 1, 1]])
    clone = first.clone()
    first.close()
    del first
    gc.collect()
    assert clone.run([[1, 1, 1, 1]])[0].tolist() == [[-1, -1, -1, -1]]
    assert clone.report()["start"]["reason"] == "cloned"


def test_a_callback_of_a_later_run_may_close_the_session():
    class Waits(list):
        def __iter__(self):
            begin.wait(60)
            return super().__iter__()

    begin, closed, errors = threading.Event(), threading.Event(), []

    def close(_):
        try:
            session.close()
        except BaseException as error:  # which the future would only log
            errors.append(error)
        closed.set()

    session = hearth.Session(negated_sum(), **CPU)
    first = session.run_later(Waits([np.ones((1, 4), np.float32)]))
    behind = session.run_later([[1, 1, 1, 1]])
    first.add_done_callback(close)  # on the thread of the run, which has not begun
    begin.set()
    assert first.result(60)[0][0, 0] == -1 and closed.wait(60)
    assert errors == [] and behind.cancelled()
    session.close()


def test_a_later_run_of_a_closed_session_says_so():
    session = hearth.Session(negated_sum(), **CPU)
    session.run_later([[1, 1, 1, 1]]).result()
    session.close()
    with pytest.raises(hearth.Error, match="was closed"):
        session.run_later([[1, 1, 1, 1]]).result()


def test_threads_may_share_a_session_and_each_gets_its_own_result(demo):
    session = hearth.Session(demo[0], **CPU)
    x = demo[1].reshape(session.inputs[0].shape)
    expected = [session.run(x * scale)[0] for scale in (0, 1)]
    wrong = []

    def work(k):
        for _ in range(20):
            if not np.array_equal(session.run(x * k)[0], expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_hearth_works():
    """One long inference; without the GIL's release the counting thread could not move meanwhile."""
    graph = hearth.Graph()
    x = graph.input("x", (1, 256, 256, 32))
    kernel = graph.constant("kernel", np.ones((32, 3, 3, 32), np.float32))
    y = x
    for _ in range(6):
        y = graph.conv_2d(y, kernel)
    graph.output(y, "y")
    session = hearth.Session(graph.build(), threads=1, **CPU)
    x = np.zeros((1, 256, 256, 32), np.float32)
    steps, started, done = [], threading.Event(), threading.Event()

    def count():
        started.set()
        while not done.is_set():
            steps.append(None)
            done.wait(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    started.wait()
    before = len(steps)
    arrays, outputs = session._arrays(x), [np.empty(t.shape, t.dtype) for t in session.outputs]
    session._native.run(arrays, outputs)  # one call, in which Python itself has nothing to do
    moved = len(steps) - before
    done.set()
    counter.join()
    assert moved > 3


def test_runs_may_be_awaited_and_mapped_over_batches():
    session = hearth.Session(negated(), **CPU)
    batches = [np.full((1, 4), number, np.float32) for number in range(5)]
    expected = [session.run(batch)[0].tolist() for batch in batches]

    async def awaited():
        return [(await session.submit(batch))[0].tolist() for batch in batches]

    assert asyncio.run(awaited()) == expected
    assert [outputs[0].tolist() for outputs in session.map(batches)] == expected
    stopped = session.map(batches)
    next(stopped)
    stopped.close()
    assert session.run(batches[1])[0].tolist() == expected[1]  # no run was left in flight
    with pytest.raises(ValueError, match="at least one"):
        next(session.map(batches, in_flight=0))


class Interrupted(Exception):
    pass


def test_interrupted_submissions_keep_no_place():
    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with hearth.Session(negated(), **CPU) as session:
            for delay in range(40):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 2e-5 * (delay + 1))
                    while True:
                        session.submit([[1, 1, 1, 1]])
                except Interrupted:
                    pass
                assert session.run([[1, 2, 3, 4]])[0].tolist() == [[-1, -2, -3, -4]]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_copy_of_a_session_is_a_clone_of_it():
    session = hearth.Session(negated(), **CPU)
    array = np.ones((1, 4), np.float32)
    for twin in (copy.copy(session), copy.deepcopy(session)):
        assert twin is not session and twin.run(array)[0].tolist() == session.run(array)[0].tolist()
