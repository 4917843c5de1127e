"""Collects models with what the manifest says about them."""

import tensorflow as tf

import convert
import flatbuffer_net as fb

# The converter's int16 pass leaves the versions of int8; these are the ones that stand for int16.
INT16_VERSIONS = {
    "CONV_2D": 4,
    "DEPTHWISE_CONV_2D": 5,
    "FULLY_CONNECTED": 7,
    "TRANSPOSE_CONV": 3,
    "MUL": 4,
    "ADD": 3,
    "AVERAGE_POOL_2D": 3,
    "MAX_POOL_2D": 3,
    "SOFTMAX": 3,
    "CONCATENATION": 3,
    "RELU": 3,
    "RELU6": 3,
    "LOGISTIC": 3,
    "TANH": 3,
    "MEAN": 3,
    "SUM": 2,
    "REDUCE_MAX": 3,
    "REDUCE_MIN": 3,
    "MIRROR_PAD": 3,
    "RSQRT": 3,
    "PAD": 3,
    "PADV2": 3,
    "SLICE": 4,
    "GATHER": 4,
    "RESIZE_BILINEAR": 4,
    "RESIZE_NEAREST_NEIGHBOR": 4,
    "BATCH_MATMUL": 3,
    "TRANSPOSE": 5,
    "MAXIMUM": 3,
    "MINIMUM": 3,
}


class ModelSet:
    def __init__(self):
        self.files, self.entries, self.failures = {}, [], []
        self.family = ""  # of the models that are added from now on

    def converted(self, op, name, function, specs, ranges=((-2, 2),), modes=("float",), shows="", moves=False):
        """A TensorFlow function in each of `modes`. `specs`: shapes, or (shape, dtype). `ranges`: of the inputs, the
        last one stands for all that follow; "stored" is every number of the type. One of the model's operators must be
        `op`."""
        specs = [
            (
                tf.TensorSpec(*spec)
                if isinstance(spec, tuple) and spec and isinstance(spec[0], (tuple, list))
                else tf.TensorSpec(spec)
            )
            for spec in specs
        ]
        ranges = self._all_ranges(ranges, len(specs))
        for mode in modes:
            suffix = "" if mode == "float" else "_" + mode
            try:
                data = fb.slim(
                    convert.convert(function, specs, [r[:2] for r in ranges], mode),
                    INT16_VERSIONS if mode == "int16" else {},
                )
            except Exception as error:  # all failures of one run are wanted, with their names
                self.failures.append(f"{name}{suffix}: {str(error).strip().splitlines()[-1][:200]}")
                continue
            self._add(op, name + suffix, data, ranges, f"{shows}, {mode}" if shows else mode, moves)

    def built(self, op, name, net, outputs, ranges=((-2, 2),), shows="", moves=False, tolerance=None, steps=None):
        """A network of flatbuffer_net.Net. `steps`: what a quantized result may differ by, where that is not 2."""
        self._add(op, name, net.finish(outputs), self._all_ranges(ranges, len(net.inputs)), shows, moves, tolerance)
        if steps is not None:
            self.entries[-1]["steps"] = steps

    @staticmethod
    def _all_ranges(ranges, count):
        ranges = list(ranges)
        return [ranges[min(i, len(ranges) - 1)] for i in range(count)]

    def _add(self, op, name, data, ranges, shows, moves, tolerance=None):
        model = fb.unpack(data)
        graph = model.subgraphs[0]
        ops = [fb.op_code(model, o) for o in graph.operators]
        if op not in [o for o, _ in ops]:
            self.failures.append(f"{name}: has {ops}, not {op}")
            return
        file = f"{name}.tflite"
        if file in self.files:
            self.failures.append(f"{name}: twice")
            return
        inputs = []
        for index, given in zip(graph.inputs, ranges):
            tensor = graph.tensors[index]
            if given == "stored":
                inputs.append(given)
            elif tensor.quantization is None:
                inputs.append(list(given))
            else:
                inputs.append(list(given[:2]) if given[-1] == "stored" else "stored")
        self.files[file] = data
        self.entries.append(
            {
                "file": file,
                "family": self.family,
                "op": op,
                "version": dict(ops)[op],
                "ops": sorted({f"{o}/{v}" for o, v in ops}),
                "shows": shows,
                "tolerance": tolerance or self._tolerance(graph, moves),
                "inputs": inputs,
            }
        )

    @staticmethod
    def _tolerance(graph, moves):
        outputs = [graph.tensors[index] for index in graph.outputs]
        if any(tensor.quantization is not None for tensor in outputs):
            return "moved" if moves else "quantized"
        if moves or all(tensor.type not in (fb.FLOAT32, fb.FLOAT16) for tensor in outputs):
            return "exact"
        for op in graph.operators:
            types = [graph.tensors[i].type for i in op.inputs if i >= 0]
            if types[0] == fb.FLOAT32 and any(t in (fb.INT8, fb.UINT8, fb.INT4) for t in types[1:]):
                return "hybrid"
        return "float"
