"""What the cases that only move elements share."""

import tensorflow as tf

import flatbuffer_net as fb

QUANT = ("float", "int8", "int16")
TYPES = (tf.int32, tf.int64, tf.bool)


def moved(models, op, name, function, specs, modes=("float",), shows="", ranges=((-3, 3),)):
    models.converted(op, f"{op.lower()}_{name}", function, specs, ranges, modes, shows, moves=True)


def typed(models, op, function, shape, types=TYPES, count=1, bound=9):
    for dtype in types:
        moved(
            models,
            op,
            dtype.name,
            function,
            [(shape, dtype)] * count,
            ranges=[(-bound if dtype != tf.uint8 else 0, bound)],
        )


def built(
    models, op, name, version, shape, out, dtype, operands, options, attributes=None, quant=(0.02, 5), shows="", count=1
):
    """A movement in a type that the converter does not write. `operands`: constants after the input."""
    net = fb.Net()
    quant = None if dtype not in (fb.INT8, fb.UINT8, fb.INT16) else (quant[0], 0) if dtype == fb.INT16 else quant
    inputs = [net.input(shape, dtype, quant) for _ in range(count)] + [net.const(value) for value in operands]
    y = net.tensor(out, dtype, quant)
    net.op(op, inputs, [y], version, options, **(attributes or {}))
    models.built(op, f"{op.lower()}_{name}", net, [y], [(-9, 9)], shows or name, moves=True)
