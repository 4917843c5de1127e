#!/usr/bin/env python3
"""test_states.py DEVICE: what a model remembers in buffers that are inputs and outputs stays on the device between runs."""

import json
import pathlib
import sys
import tempfile
import unittest

import compiled
import numpy as np
import plugin
import small_transformer as transformer

STEPS = 6
SIZE = int(np.prod(transformer.CACHE))


def is_state(name):
    return name.startswith("kv_cache")


class Talk:
    """A prefill and some steps of decoding. `is_in_place`: a state's input and output are one buffer, else two that swap
    their roles."""

    def __init__(self, accelerators, is_in_place):
        self.model = compiled.open_model(transformer.model(), accelerators)
        self.signatures = [compiled.Signature(self.model, index) for index in (0, 1)]
        prefill = self.signatures[0]
        self.now = {name: buffer for name, buffer in zip(prefill.names("inputs"), prefill.inputs) if is_state(name)}
        self.next = self.now
        if not is_in_place:
            self.next = {name: buffer for name, buffer in zip(prefill.names("outputs"), prefill.outputs) if is_state(name)}
        self.position = 0
        for buffer in self.now.values():
            buffer.write(np.zeros(transformer.CACHE, np.float32))

    def step(self, index):
        signature, tokens = self.signatures[index], 1 if index else transformer.TOKENS
        inputs = dict(zip(signature.names("inputs"), signature.inputs)) | self.now
        outputs = dict(zip(signature.names("outputs"), signature.outputs)) | self.next
        for name, array in transformer.step(self.position, tokens).items():
            inputs[name].write(array)
        self.model.run_by_index(index, list(inputs.values()), list(outputs.values()))
        self.now, self.next, self.position = self.next, self.now, self.position + tokens
        return outputs["logits"].read(transformer.WORDS, np.float32) if index else None

    def all(self):
        """The logits of all steps, and the state at the end."""
        self.step(0)
        logits = [self.step(1) for _ in range(STEPS)]
        return np.array(logits), np.array([buffer.read(SIZE, np.float32) for buffer in self.now.values()])


class States(unittest.TestCase):
    device = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report_path = pathlib.Path(folder.name) / "report.json"
        compiled.set_options(self.device, report=self.report_path, cache_dir=pathlib.Path(folder.name) / "cache")

    def expect_nothing_crosses(self, is_in_place):
        wanted, wanted_state = Talk(compiled.CPU, False).all()
        logits, state = Talk(compiled.GPU, is_in_place).all()
        np.testing.assert_allclose(logits, wanted, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state, wanted_state, rtol=0, atol=1e-4)
        self.assertGreater(np.abs(wanted_state).max(), 0.1)
        prefill, decode = json.loads(self.report_path.read_text())["partitions"]
        self.assertEqual([prefill["invocations"], decode["invocations"]], [1, STEPS])
        if self.device == "cpu":
            return
        beside = 2 * 4 * transformer.TOKENS * (transformer.WIDTH + transformer.POSITIONS)
        self.assertLessEqual(prefill["to_device_bytes"], transformer.STATE_BYTES + beside)  # the program's zeros
        self.assertEqual(prefill["to_host_bytes"], 0)
        self.assertLessEqual(decode["to_device_bytes"], STEPS * beside)
        self.assertEqual(decode["to_host_bytes"], STEPS * 4 * transformer.WORDS)

    def test_states_in_place_stay_on_the_device(self):
        self.expect_nothing_crosses(True)

    def test_states_in_buffers_that_are_swapped_stay_on_the_device(self):
        self.expect_nothing_crosses(False)

    def test_what_a_program_writes_and_reads_between_runs_is_the_state(self):
        talk = Talk(compiled.GPU, True)
        talk.step(0)
        for seed, buffer in enumerate(talk.now.values()):
            value = np.random.default_rng(seed).normal(0, 1, transformer.CACHE).astype(np.float32)
            buffer.write(value)
            for _ in range(2):
                at = talk.position
                talk.step(1)
                kept = buffer.read(SIZE, np.float32).reshape(value.shape)
                self.assertEqual(list(np.flatnonzero((kept != value).any(axis=2)[0])), [at])
                value = kept

    def test_buffers_outlive_the_model(self):
        talk = Talk(compiled.GPU, True)
        _, state = talk.all()
        buffers = list(talk.now.values())
        del talk
        np.testing.assert_array_equal([buffer.read(SIZE, np.float32) for buffer in buffers], state)
        buffers[0].write(np.ones(transformer.CACHE, np.float32))
        np.testing.assert_array_equal(buffers[0].read(SIZE, np.float32), np.ones(SIZE))


if __name__ == "__main__":
    States.device = sys.argv[1]
    plugin.skip_without(States.device)
    unittest.main(argv=sys.argv[:1], verbosity=2)
