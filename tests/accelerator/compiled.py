"""What the tests of the accelerator share: LiteRT 2's CompiledModel with it."""

import os
import pathlib
import sys

import numpy as np
from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.environment import Environment
from ai_edge_litert.hardware_accelerator import HardwareAccelerator

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "plugin"))
import plugin  # noqa: E402

CPU = HardwareAccelerator.CPU
GPU = HardwareAccelerator.GPU
BOTH = HardwareAccelerator.GPU | HardwareAccelerator.CPU
RUNTIME = pathlib.Path(plugin.PLUGIN).parent  # libLiteRtGpuAccelerator.so lies beside the plugin
DEMO = plugin.ROOT / "tools" / "demo"


def set_options(device, **options):
    """Options reach the accelerator by the environment."""
    for name in [name for name in os.environ if name.startswith("HEARTH_") and name not in KEPT]:
        del os.environ[name]
    for name, value in {"device": device, **options}.items():
        if value is not None:
            os.environ[f"HEARTH_{name.upper()}"] = str(value)


KEPT = {"HEARTH_PLUGIN", "HEARTH_SHARED", "HEARTH_WHOLE", "HEARTH_ORACLE_ANSWERS", "HEARTH_CACHE_DIR"}


def open_model(model, accelerators, environment=None):
    environment = environment or Environment.create(runtime_path=str(RUNTIME))
    if isinstance(model, bytes):
        return CompiledModel.from_buffer(model, hardware_accel=accelerators, environment=environment)
    return CompiledModel.from_file(str(model), hardware_accel=accelerators, environment=environment)


class Signature:
    """One of a model's signatures, with buffers of its own."""

    def __init__(self, model, index=0):
        self.model, self.index = model, index
        # First of all: asking makes LiteRT allocate tensors, and some outputs have their size only then. It would make
        # too small buffers for them, and write beyond (2.3.0, also with its own CPU accelerator).
        self.outputs_are = self.details("output")
        self.inputs, self.outputs = model.create_input_buffers(index), model.create_output_buffers(index)

    def names(self, kind):
        return self.model.get_signature_by_index(self.index)[kind]

    def run(self, arrays):
        for buffer, array in zip(self.inputs, arrays, strict=True):
            buffer.write(np.ascontiguousarray(array))
        self.model.run_by_index(self.index, self.inputs, self.outputs)
        return [self.read(buffer, details) for buffer, details in zip(self.outputs, self.outputs_are, strict=True)]

    def details(self, kind):
        key = self.model.get_signature_by_index(self.index)["key"]
        of = self.model.get_input_tensor_details if kind == "input" else self.model.get_output_tensor_details
        details = of(key)
        return [details[name] for name in self.names(f"{kind}s")]

    @staticmethod
    def read(buffer, details):
        shape = tuple(details["shape"])
        return buffer.read(int(np.prod(shape)), np.dtype(details["dtype"])).reshape(shape)


def run(model, arrays, index=0):
    return Signature(model, index).run(arrays)
