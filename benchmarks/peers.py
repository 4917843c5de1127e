#!/usr/bin/env python3
"""Runs one other runtime on one model; prints one JSON object (milliseconds, bytes).

    peers.py litert MODEL.tflite --threads 1
    peers.py ncnn-vulkan MODEL.param       # its .bin lies beside it
    peers.py onnxruntime MODEL.onnx --threads 2
    peers.py litert-webgpu MODEL.tflite    # CompiledModel with the accelerator of LiteRT's wheel
    peers.py torch-compile -               # MobileNet v1 of networks.py on CUDA; `torch` runs it eagerly

`ready_ms` is from asking for the model (packages imported) until the first result is in host memory, `steady_ms` the
median of whole inferences, input copied in and output copied out, float32 throughout.
"""

import argparse
import json
import pathlib
import statistics
import time


def peak_resident_bytes():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def open_litert(arguments):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    def start():
        interpreter = Interpreter(model_path=arguments.model, num_threads=arguments.threads)
        interpreter.allocate_tensors()
        inputs = [(d["index"], np.ones(d["shape"], d["dtype"])) for d in interpreter.get_input_details()]
        outputs = [d["index"] for d in interpreter.get_output_details()]

        def run():
            for index, value in inputs:
                interpreter.set_tensor(index, value)
            interpreter.invoke()
            return [interpreter.get_tensor(index) for index in outputs]

        return run

    return start


def open_ncnn(arguments):
    import ncnn
    import numpy as np

    x = np.random.default_rng(0).uniform(-1, 1, (3, 224, 224)).astype(np.float32)

    def start():
        net = ncnn.Net()
        net.opt.use_vulkan_compute = arguments.peer == "ncnn-vulkan"
        net.opt.num_threads = arguments.threads
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage", "bf16_packed"):
            if hasattr(net.opt, "use_" + option):
                setattr(net.opt, "use_" + option, False)
        if net.load_param(arguments.model) or net.load_model(str(pathlib.Path(arguments.model).with_suffix(".bin"))):
            raise SystemExit("ncnn cannot load " + arguments.model)

        def run():
            with net.create_extractor() as extractor:
                extractor.input("data", ncnn.Mat(x).clone())
                code, out = extractor.extract("out")
                if code:
                    raise SystemExit(f"ncnn failed: {code}")
                return np.array(out)

        return run

    return start


def open_onnxruntime(arguments):
    import numpy as np
    import onnxruntime

    x = np.random.default_rng(0).uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32)

    def start():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        session = onnxruntime.InferenceSession(arguments.model, options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, {"data": x})

    return start


def open_litert_webgpu(arguments):
    import numpy as np
    from ai_edge_litert.compiled_model import CompiledModel
    from ai_edge_litert.hardware_accelerator import HardwareAccelerator

    def start():
        model = CompiledModel.from_file(arguments.model, hardware_accel=HardwareAccelerator.GPU)
        if not model.is_fully_accelerated():
            raise SystemExit("not all of the model runs on the GPU")
        signature = model.get_signature_by_index(0)
        details = model.get_input_tensor_details(signature["key"])
        out = model.get_output_tensor_details(signature["key"])
        values = [np.ones(details[name]["shape"], details[name]["dtype"]) for name in signature["inputs"]]
        sizes = [(int(np.prod(out[name]["shape"])), np.dtype(out[name]["dtype"])) for name in signature["outputs"]]
        inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)

        def run():
            for buffer, value in zip(inputs, values, strict=True):
                buffer.write(value)
            model.run_by_index(0, inputs, outputs)
            return [buffer.read(*size) for buffer, size in zip(outputs, sizes, strict=True)]

        return run

    return start


def open_torch(arguments):
    import networks
    import numpy as np
    import torch

    torch.backends.cudnn.allow_tf32 = False  # float32 throughout
    x = np.random.default_rng(0).uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32)

    def start():
        steps = []
        for layer in networks.mobilenet_v1():
            groups = layer.channels_in if layer.depthwise else 1
            steps.append(torch.nn.Conv2d(layer.channels_in, layer.channels_out, layer.kernel, layer.stride,
                                         layer.kernel // 2, groups=groups))
            steps.append(torch.nn.ReLU6())
        steps += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(1024, networks.CLASSES)]
        steps.append(torch.nn.Softmax(1))
        net = torch.nn.Sequential(*steps).eval().cuda()
        if arguments.peer == "torch-compile":
            net = torch.compile(net)

        def run():
            with torch.inference_mode():
                return net(torch.from_numpy(x).cuda()).cpu()

        return run

    return start


PEERS = {"litert": open_litert, "litert-webgpu": open_litert_webgpu, "torch": open_torch, "torch-compile": open_torch,
          "ncnn-vulkan": open_ncnn, "ncnn-cpu": open_ncnn, "onnxruntime": open_onnxruntime}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=5)
    arguments = parser.parse_args()
    start = PEERS[arguments.peer](arguments)
    asked = time.perf_counter()
    run = start()
    run()
    ready = time.perf_counter() - asked
    times = []
    for turn in range(-arguments.warmup, arguments.runs):
        begun = time.perf_counter()
        run()
        if turn >= 0:
            times.append(time.perf_counter() - begun)
    figures = {"ready_ms": 1e3 * ready, "peak_rss_bytes": peak_resident_bytes()}
    figures["steady_ms"], figures["steady_min_ms"] = 1e3 * statistics.median(times), 1e3 * min(times)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
