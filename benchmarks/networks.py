"""MobileNet v1 and v2 1.0 224 with random weights as ncnn and ONNX files, for peers that read no .tflite file.

They are for measuring times only. Layers as in the papers' float32 networks after folding batch normalization: 1001
classes, RELU6, SAME padding.
"""

import dataclasses
import pathlib

import numpy as np

CLASSES = 1001
SIZE = 224


@dataclasses.dataclass
class Conv:
    """A convolution with bias; `x` and `y` are names of its input and output."""

    x: str
    y: str
    channels_in: int
    channels_out: int
    kernel: int = 1
    stride: int = 1
    depthwise: bool = False
    relu6: bool = True

    @property
    def weight_shape(self):
        return (self.channels_out, 1 if self.depthwise else self.channels_in, self.kernel, self.kernel)


@dataclasses.dataclass
class Add:
    x: str
    other: str
    y: str


def mobilenet_v1():
    layers = [Conv("data", "c0", 3, 32, 3, 2)]
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    channels = 32
    for k, (wide, stride) in enumerate(plan):
        layers.append(Conv(f"c{k}", f"d{k}", channels, channels, 3, stride, depthwise=True))
        layers.append(Conv(f"d{k}", f"c{k + 1}", channels, wide))
        channels = wide
    return layers


def mobilenet_v2():
    layers = [Conv("data", "b0", 3, 32, 3, 2)]
    channels, k = 32, 0
    for expansion, wide, count, first_stride in [
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for turn in range(count):
            stride = first_stride if turn == 0 else 1
            x, y = f"b{k}", f"b{k + 1}"
            inside = channels * expansion
            if expansion > 1:
                layers.append(Conv(x, f"e{k}", channels, inside))
            layers.append(Conv(f"e{k}" if expansion > 1 else x, f"d{k}", inside, inside, 3, stride, depthwise=True))
            adds = stride == 1 and channels == wide
            layers.append(Conv(f"d{k}", f"p{k}" if adds else y, inside, wide, relu6=False))
            if adds:
                layers.append(Add(x, f"p{k}", y))
            channels, k = wide, k + 1
    layers.append(Conv(f"b{k}", "last", channels, 1280))
    return layers


NETWORKS = {"mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2}


def weights_of(layers, seed=0):
    """(weights, bias) of every convolution and of the classifier, scaled so that activations stay near 1."""
    random = np.random.default_rng(seed)
    shapes = [layer.weight_shape for layer in layers if isinstance(layer, Conv)]
    shapes.append((CLASSES, layers[-1].channels_out))
    for shape in shapes:
        scale = np.sqrt(2.0 / np.prod(shape[1:]))
        yield random.normal(0, scale, shape).astype(np.float32), np.zeros(shape[0], np.float32)


class NcnnWriter:
    """The text of a .param file. If a blob has several readers, each reads its own output of a Split layer."""

    def __init__(self, layers):
        self.lines, self.blobs = ["Input data 0 1 data 0=%d 1=%d 2=3" % (SIZE, SIZE)], {"data"}
        self.readers = {}
        for layer in layers:
            for x in [layer.x] + ([layer.other] if isinstance(layer, Add) else []):
                self.readers[x] = self.readers.get(x, 0) + 1
        self.turns = {}
        for layer in layers:
            self.add_conv(layer) if isinstance(layer, Conv) else self.add_sum(layer)
            self.split(layer.y)
        last = layers[-1]
        self.line("Pooling pool 1 1 %s pool 0=1 4=1" % last.y, "pool")
        self.line("InnerProduct fc 1 1 pool fc 0=%d 1=1 2=%d" % (CLASSES, CLASSES * last.channels_out), "fc")
        self.line("Softmax softmax 1 1 fc out 0=0", "out")

    def line(self, text, *blobs):
        self.lines.append(text)
        self.blobs.update(blobs)

    def split(self, blob):
        count = self.readers.get(blob, 0)
        if count > 1:
            names = [f"{blob}_{k}" for k in range(count)]
            self.line(f"Split split_{blob} 1 {count} {blob} {' '.join(names)}", *names)

    def read(self, blob):
        if self.readers[blob] < 2:
            return blob
        self.turns[blob] = self.turns.get(blob, -1) + 1
        return f"{blob}_{self.turns[blob]}"

    def add_conv(self, layer):
        kind = "ConvolutionDepthWise" if layer.depthwise else "Convolution"
        text = f"{kind} {layer.y} 1 1 {self.read(layer.x)} {layer.y} 0={layer.channels_out} 1={layer.kernel}"
        text += f" 3={layer.stride} 4=-233 5=1 6={int(np.prod(layer.weight_shape))}"
        if layer.depthwise:
            text += f" 7={layer.channels_in}"
        self.line(text + (" 9=3 -23310=2,0.0,6.0" if layer.relu6 else ""), layer.y)

    def add_sum(self, layer):
        self.line(f"BinaryOp {layer.y} 2 1 {self.read(layer.x)} {self.read(layer.other)} {layer.y} 0=0", layer.y)

    def text(self):
        return "\n".join(["7767517", f"{len(self.lines)} {len(self.blobs)}", *self.lines]) + "\n"


def write_ncnn(name, folder):
    layers = NETWORKS[name]()
    path = pathlib.Path(folder) / name
    path.with_suffix(".param").write_text(NcnnWriter(layers).text())
    with open(path.with_suffix(".bin"), "wb") as file:
        for weights, bias in weights_of(layers):
            file.write(bytes(4))  # the tag of plain float32
            file.write(weights.tobytes())
            file.write(bias.tobytes())


def write_onnx(name, folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    layers, nodes, constants = NETWORKS[name](), [], []
    weights = weights_of(layers)

    def constant(key, array):
        constants.append(numpy_helper.from_array(array, key))
        return key

    constant("zero", np.float32(0).reshape(()))
    constant("six", np.float32(6).reshape(()))
    for layer in layers:
        if isinstance(layer, Add):
            nodes.append(helper.make_node("Add", [layer.x, layer.other], [layer.y]))
            continue
        w, b = next(weights)
        y = layer.y + "_sum" if layer.relu6 else layer.y
        operands = [layer.x, constant(layer.y + "_w", w), constant(layer.y + "_b", b)]
        nodes.append(helper.make_node("Conv", operands, [y], auto_pad="SAME_UPPER", strides=[layer.stride] * 2,
                                      group=layer.channels_in if layer.depthwise else 1))
        if layer.relu6:
            nodes.append(helper.make_node("Clip", [y, "zero", "six"], [layer.y]))
    w, b = next(weights)
    nodes.append(helper.make_node("GlobalAveragePool", [layers[-1].y], ["pool"]))
    nodes.append(helper.make_node("Flatten", ["pool"], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat", constant("fc_w", w), constant("fc_b", b)], ["fc"], transB=1))
    nodes.append(helper.make_node("Softmax", ["fc"], ["out"]))
    x = helper.make_tensor_value_info("data", TensorProto.FLOAT, [1, 3, SIZE, SIZE])
    y = helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, CLASSES])
    graph = helper.make_graph(nodes, name, [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, pathlib.Path(folder) / f"{name}.onnx")


def write_all(folder):
    """Writes both forms of every network into `folder`, unless they exist."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in NETWORKS:
        if not (folder / f"{name}.bin").exists():
            write_ncnn(name, folder)
        if not (folder / f"{name}.onnx").exists():
            write_onnx(name, folder)
