"""Writes .tflite files: networks built by hand, for forms that the converter does not write, and slimmed ones of it."""

import flatbuffers
import numpy as np

try:
    from tensorflow.lite.python import schema_py_generated as schema
except ImportError:  # tests/plugin writes models where only the interpreter is installed
    from ai_edge_litert import schema_py_generated as schema

FLOAT32, FLOAT16, INT32, UINT8, INT64 = (
    getattr(schema.TensorType, name) for name in ("FLOAT32", "FLOAT16", "INT32", "UINT8", "INT64")
)
BOOL, INT16, INT8, INT4 = (getattr(schema.TensorType, name) for name in ("BOOL", "INT16", "INT8", "INT4"))
UINT16, UINT32, UINT64, FLOAT64 = (
    getattr(schema.TensorType, name) for name in ("UINT16", "UINT32", "UINT64", "FLOAT64")
)

NUMPY_TYPES = {
    FLOAT32: np.float32,
    FLOAT16: np.float16,
    INT32: np.int32,
    UINT8: np.uint8,
    INT64: np.int64,
    BOOL: np.bool_,
    INT16: np.int16,
    INT8: np.int8,
    UINT16: np.uint16,
    UINT32: np.uint32,
    UINT64: np.uint64,
    FLOAT64: np.float64,
}
TYPE_NAMES = {value: name.lower() for name, value in vars(schema.TensorType).items() if name.isupper()}
OP_NAMES = {value: name for name, value in vars(schema.BuiltinOperator).items() if name.isupper()}
BYTE_CODE_LIMIT = 127  # the older byte field of an operator code holds this for codes beyond it


def _pack_buffer(buffer, builder):
    """As the schema's own, but aligned as the schema asks: the generated Python ignores force_align."""
    data = None if buffer.data is None else bytes(bytearray(buffer.data))
    if data:
        builder.StartVector(1, len(data), 16)
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data
        vector = builder.EndVector()
    schema.BufferStart(builder)
    if data:
        schema.BufferAddData(builder, vector)
    return schema.BufferEnd(builder)


schema.BufferT.Pack = _pack_buffer


def pack(model):
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def unpack(data):
    return schema.ModelT.InitFromPackedBuf(data, 0)


def op_code(model, op):
    """Name and version."""
    code = model.operatorCodes[op.opcodeIndex]
    name = OP_NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]
    return (code.customCode.decode() if name == "CUSTOM" else name), code.version


def slim(data, versions):
    """The same network without names, metadata, signatures and calibration ranges, with at least these op versions."""
    model = unpack(data)
    for code in model.operatorCodes:
        name = OP_NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]
        code.version = max(code.version, versions.get(name, 1))
    model.metadata = model.metadataBuffer = model.description = model.signatureDefs = None
    graph = model.subgraphs[0]
    graph.name = None
    buffers, slots = [schema.BufferT()], {}
    for index, tensor in enumerate(graph.tensors):
        tensor.name = f"t{index}"
        content = model.buffers[tensor.buffer].data
        if content is None or len(content) == 0:
            tensor.buffer = 0
        else:
            if tensor.buffer not in slots:
                slots[tensor.buffer] = len(buffers)
                buffers.append(model.buffers[tensor.buffer])
            tensor.buffer = slots[tensor.buffer]
        if tensor.quantization is not None:
            if tensor.quantization.scale is None or len(tensor.quantization.scale) == 0:
                tensor.quantization = None
            else:
                tensor.quantization.min = tensor.quantization.max = None
    for op in graph.operators:
        op.debugMetadataIndex = -1
    model.buffers = buffers
    return pack(model)


def ints(values):
    return np.array(values, np.int32)


def add_subgraphs(data, nets):
    """The model with the finished networks of `nets` as further subgraphs."""
    merged = unpack(data)
    for part in (unpack(net) for net in nets):
        graph = part.subgraphs[0]
        for tensor in graph.tensors:
            tensor.buffer = tensor.buffer and tensor.buffer + len(merged.buffers) - 1
        for op in graph.operators or []:
            op.opcodeIndex += len(merged.operatorCodes)
        merged.buffers += part.buffers[1:]
        merged.operatorCodes += part.operatorCodes or []
        merged.subgraphs.append(graph)
    return pack(merged)


def with_signatures(data, signatures):
    """The model with signatures: (key, {name: tensor} of inputs, {name: tensor} of outputs) of each subgraph."""
    model = unpack(data)
    model.signatureDefs = []
    for index, (key, inputs, outputs) in enumerate(signatures):
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = key, index
        signature.inputs, signature.outputs = _tensor_maps(inputs), _tensor_maps(outputs)
        model.signatureDefs.append(signature)
    return pack(model)


def _tensor_maps(tensors):
    maps = []
    for name, index in tensors.items():
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = name, index
        maps.append(entry)
    return maps


class Net:
    """One subgraph under construction. Tensors are named by their index. `further`: finished networks that follow it."""

    def __init__(self):
        self.tensors, self.inputs, self.operators, self.further = [], [], [], []
        self.buffers, self.codes = [schema.BufferT()], []

    def tensor(self, shape, dtype=FLOAT32, quant=None, variable=False):
        """`quant`: (scale, zero point) or (scales, zero points, dimension)."""
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type, tensor.buffer = f"t{len(self.tensors)}", list(shape), dtype, 0
        tensor.isVariable, tensor.hasRank = variable, True
        if quant is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = [float(s) for s in np.atleast_1d(quant[0])]
            tensor.quantization.zeroPoint = [int(z) for z in np.atleast_1d(quant[1])]
            tensor.quantization.quantizedDimension = quant[2] if len(quant) > 2 else 0
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def input(self, shape, dtype=FLOAT32, quant=None):
        self.inputs.append(self.tensor(shape, dtype, quant))
        return self.inputs[-1]

    def const(self, values, dtype=None, quant=None):
        """INT4 values come as int8 numbers of -8 to 7 and are packed two a byte, the first in the low half."""
        values = np.asarray(values)
        if dtype is None:
            dtype = next(code for code, numpy_type in NUMPY_TYPES.items() if values.dtype == numpy_type)
        index = self.tensor(values.shape, dtype, quant)
        if dtype == INT4:
            nibbles = np.append(values.flatten(), [0] * (values.size % 2)).astype(np.uint8) & 15
            data = nibbles[0::2] | (nibbles[1::2] << 4)
        else:
            data = values.astype(NUMPY_TYPES[dtype])
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data.tobytes(), np.uint8)
        self.tensors[index].buffer = len(self.buffers)
        self.buffers.append(buffer)
        return index

    def op(self, name, inputs, outputs, version=1, options=None, custom=None, options_2=None, **attributes):
        """`options` names the options table without "Options", `options_2` one of the second union; the attributes are
        its fields.

        `custom`: the name of a CUSTOM operator.
        """
        code = getattr(schema.BuiltinOperator, name)
        entry = (code, version, custom)
        if entry not in self.codes:
            self.codes.append(entry)
        op = schema.OperatorT()
        op.opcodeIndex, op.inputs, op.outputs = self.codes.index(entry), list(inputs), list(outputs)
        if options is not None:
            op.builtinOptions = getattr(schema, options + "OptionsT")()
            op.builtinOptionsType = getattr(schema.BuiltinOptions, options + "Options")
        if options_2 is not None:
            op.builtinOptions2 = getattr(schema, options_2 + "OptionsT")()
            op.builtinOptions2Type = getattr(schema.BuiltinOptions2, options_2 + "Options")
        for key, value in attributes.items():
            table = op.builtinOptions2 if options is None else op.builtinOptions
            assert hasattr(table, key), key
            setattr(table, key, value)
        self.operators.append(op)
        return outputs[0]

    def finish(self, outputs):
        graph = schema.SubGraphT()
        graph.tensors, graph.inputs, graph.outputs = self.tensors, self.inputs, list(outputs)
        graph.operators = self.operators
        model = schema.ModelT()
        model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], self.buffers, []
        for code, version, custom in self.codes:
            entry = schema.OperatorCodeT()
            entry.builtinCode, entry.version, entry.customCode = code, version, custom
            entry.deprecatedBuiltinCode = min(code, BYTE_CODE_LIMIT)
            model.operatorCodes.append(entry)
        return add_subgraphs(pack(model), self.further) if self.further else pack(model)
