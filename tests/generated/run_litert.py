#!/usr/bin/env python3
"""Worker: runs a model by the LiteRT interpreter, without delegates, on seeded inputs.

Request: name, model, rules (by input name), runs, file (where inputs and outputs go). The answer describes the outputs.
"""

import numpy as np
from ai_edge_litert.interpreter import Interpreter

import numbers_of_models
import worker


def described(details):
    scale, zero_point = details["quantization"]
    return {"name": details["name"], "dtype": np.dtype(details["dtype"]).name, "scale": float(scale),
            "zero_point": int(zero_point)}


def rule_of(rules, name):
    """The converter calls an input `serving_default_x:0` where the function calls it `x`."""
    plain = name.split(":")[0].removeprefix("serving_default_")
    return rules.get(plain, rules.get(name, "normal"))


def answer(request):
    interpreter = Interpreter(model_path=request["model"], num_threads=1)
    interpreter.allocate_tensors()
    inputs = sorted(interpreter.get_input_details(), key=lambda details: details["name"])
    outputs = interpreter.get_output_details()
    arrays = {}
    for run in range(request["runs"]):
        for position, details in enumerate(inputs):
            values = numbers_of_models.real_values(request["name"], run, position, details["shape"],
                                                   rule_of(request["rules"], details["name"]))
            values = numbers_of_models.stored(values, np.dtype(details["dtype"]), *details["quantization"])
            interpreter.set_tensor(details["index"], values)
            arrays[f"in/{run}/{details['name']}"] = values
        interpreter.invoke()
        for position, details in enumerate(outputs):
            arrays[f"out/{run}/{position}"] = interpreter.get_tensor(details["index"])
    np.savez(request["file"], **arrays)
    return {"outputs": [described(details) for details in outputs],
            "inputs": [described(details) | {"shape": [int(size) for size in details["shape"]]} for details in inputs]}


if __name__ == "__main__":
    worker.serve(answer)
