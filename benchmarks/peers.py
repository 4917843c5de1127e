#!/usr/bin/env python3
"""Runs one other runtime on one model; prints one JSON object (milliseconds, bytes).

    peers.py litert MODEL.tflite --threads 1
    peers.py ncnn-vulkan MODEL.param       # its .bin lies beside it
    peers.py onnxruntime MODEL.onnx --threads 2

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


PEERS = {"litert": open_litert, "ncnn-vulkan": open_ncnn, "ncnn-cpu": open_ncnn, "onnxruntime": open_onnxruntime}


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
