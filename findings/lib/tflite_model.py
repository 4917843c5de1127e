"""TFLite files of a few operators, written with the schema that ai-edge-litert carries, and LiteRT's interpreter."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

KERNELS = {"default": OpResolverType.AUTO, "plain": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
           "reference": OpResolverType.BUILTIN_REF}
TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}


class Net:
    """One graph: make tensors, then operators, then ask for the file."""

    def __init__(self):
        self.graph, self.model = schema.SubGraphT(), schema.ModelT()
        self.graph.tensors, self.graph.operators, self.graph.inputs = [], [], []
        self.model.version, self.model.buffers, self.model.operatorCodes = 3, [schema.BufferT()], []

    def tensor(self, shape, dtype="float32", scale=None, zero=0, data=None, variable=False):
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.name = list(shape), TYPES[np.dtype(dtype).name], f"t{len(self.graph.tensors)}"
        tensor.buffer, tensor.isVariable = len(self.model.buffers), variable
        buffer = schema.BufferT()
        if data is not None:
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        self.model.buffers.append(buffer)
        if scale is not None:
            quantization = tensor.quantization = schema.QuantizationParametersT()
            quantization.scale, quantization.zeroPoint = [[float(s) for s in np.ravel(scale)], [int(z) for z in np.ravel(zero)]]
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def _named(self, tensor):
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = self.graph.tensors[tensor].name, tensor
        return entry

    def input(self, shape, *description, **more):
        self.graph.inputs.append(self.tensor(shape, *description, **more))
        return self.graph.inputs[-1]

    def constant(self, data, scale=None, zero=0):
        data = np.asarray(data)
        return self.tensor(data.shape, data.dtype, scale, zero, data)

    def operator(self, kind, inputs, outputs, options=None, version=1, custom=None, **values):
        """`kind`: a name of BuiltinOperator or, for a custom operator, its own; `options`: as in "Conv2D", `values` its fields."""
        code, operator = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = getattr(schema.BuiltinOperator, kind if custom is None else "CUSTOM")
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
        if custom is not None:
            code.customCode, operator.customOptions = kind, np.frombuffer(custom, np.uint8)
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.model.operatorCodes), list(inputs), list(outputs)
        if options:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options + "Options")
            operator.builtinOptions = getattr(schema, options + "OptionsT")()
            for name, value in values.items():
                assert hasattr(operator.builtinOptions, name), name
                setattr(operator.builtinOptions, name, value)
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)

    def file(self, *outputs):
        self.graph.outputs, self.model.subgraphs = list(outputs), [self.graph]
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = "serving_default", 0
        signature.inputs, signature.outputs = ([self._named(t) for t in tensors] for tensors in (self.graph.inputs, outputs))
        self.model.signatureDefs = [signature]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def fully_connected(weights):
    """The file of x @ weights.T for one row x, float32."""
    net = Net()
    x, w, bias = net.input((1, weights.shape[1])), net.constant(weights), net.constant(np.zeros(len(weights), np.float32))
    y = net.tensor((1, len(weights)))
    net.operator("FULLY_CONNECTED", [x, w, bias], [y], "FullyConnected")
    return net.file(y)


def litert(file, *inputs, kernels="default"):
    """The outputs of the file for `inputs`, by LiteRT's default kernels (XNNPACK), its plain or its reference ones."""
    interpreter = Interpreter(model_content=file, experimental_op_resolver_type=KERNELS[kernels], num_threads=1)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
