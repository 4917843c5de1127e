"""Attention, rotary positions, and what onnxruntime's transformer optimizer and model builder write."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from one_case import case, network, seeded


def attention():
    def turned(name, x, caches, positions, microsoft=False, **more):
        operands = [x, positions, *caches] if microsoft else [x, *caches, positions]
        while operands[-1] is None:
            operands.pop()
        return case(name, "RotaryEmbedding", operands, domain="com.microsoft" if microsoft else "",
                    opset=19 if microsoft else 23, **more)

    half = [np.cos(seeded("c", (9, 4), low=-3, high=3)), np.sin(seeded("c", (9, 4), low=-3, high=3))]
    positions = seeded("p", (2, 5), np.int64, 0, 8)
    heads, flat = seeded("h", (2, 3, 5, 8)), seeded("f", (2, 5, 24))
    for k in (0, 1):
        yield turned(f"RotaryEmbedding_{k}", heads, half, positions, interleaved=k)
        yield turned(f"RotaryEmbedding_flat_{k}", flat, half, positions, interleaved=k, num_heads=3)
        yield turned(f"RotaryEmbedding_microsoft_{k}", flat, half, positions, True, interleaved=k)
    yield turned("RotaryEmbedding_first", flat, half, np.array([3], np.int64), True)
    part = [array[:, :2] for array in half]
    yield turned("RotaryEmbedding_part", heads, part, positions, rotary_embedding_dim=4)
    own = [array[positions] for array in half]
    yield turned("RotaryEmbedding_without_positions", heads, own, None)
    q, k, v = seeded("q", (2, 4, 3, 8)), seeded("k", (2, 2, 6, 8)), seeded("v", (2, 2, 6, 5))
    yield case("Attention_causal_grouped", "Attention", [q, k, v], opset=23, is_causal=1)


def transformers():
    """What onnxruntime's transformer optimizer and model builder write."""
    def made(name, op, operands, constants=(), outputs=1, **more):
        while operands[-1] is None:
            operands.pop()
        return case(name, op, operands, list(constants), outputs, domain="com.microsoft", **more)

    def ints(*numbers):
        return np.array(numbers, np.int32)

    def numbers(name, *shape):
        return seeded(name, shape)

    masks = {"none": None, "lengths": ints(4, 3), "ends_and_starts": ints(4, 3, 1, 0),
             "keys": seeded("m", (2, 4), np.int32, 0, 1), "queries_and_keys": seeded("m", (2, 4, 4), np.int32, 0, 1)}
    for kind, mask in masks.items():
        for causal in (0, 1):
            yield made(f"MicrosoftAttention_{kind}_{causal}", "Attention",
                       [numbers("x", 2, 4, 5), numbers("w", 5, 28), numbers("b", 28), mask], [1, 2], num_heads=2,
                       unidirectional=causal, qkv_hidden_sizes=[8, 8, 12])
        if kind != "ends_and_starts":
            yield made(f"MultiHeadAttention_{kind}", "MultiHeadAttention",
                       [numbers("q", 2, 4, 8), numbers("k", 2, 4, 8), numbers("v", 2, 4, 12), numbers("b", 28), mask,
                        numbers("s", 1, 2, 4, 4)], [3], num_heads=2, mask_filter_value=-6.0)
    yield made("MicrosoftAttention_past", "Attention", [numbers("x", 2, 1, 5), numbers("w", 5, 24), numbers("b", 24), None,
                                                         numbers("p", 2, 2, 2, 3, 4)], [1, 2], 2, num_heads=2)
    past = [numbers("pk", 2, 2, 3, 4), numbers("pv", 2, 2, 3, 4)]
    yield made("MultiHeadAttention_past", "MultiHeadAttention",
               [numbers("q", 2, 2, 8), numbers("k", 2, 2, 8), numbers("v", 2, 2, 8), None, None, None, *past], [], 3,
               num_heads=2, unidirectional=1, scale=0.3)
    yield made("MultiHeadAttention_cross", "MultiHeadAttention",
               [numbers("q", 2, 3, 8), numbers("k", 2, 2, 5, 4), numbers("v", 2, 2, 5, 4)], num_heads=2)

    angles = [numbers("cos", 12, 8), numbers("sin", 12, 8)]
    for name, length, held, total, counts, more in (
            ("first", 5, 0, 5, (4, 4), {"local_window_size": 2}), ("first_with_room", 3, 7, 3, (2, 2), {"softcap": 2.0}),
            ("next", 1, 4, 5, (4, 4), {}), ("next_of_two_lengths", 1, 4, 5, (4, 2), {"rotary_interleaved": 1}),
            ("next_in_a_larger_past", 1, 8, 6, (5, 3), {"local_window_size": 3}), ("several", 2, 3, 5, (4,), {}), ("both_ways", 1, 4, 5, (4, 2), {"causal": 0})):
        batch = len(counts)
        past = [numbers("pk", batch, 2, held, 16), numbers("pv", batch, 2, held, 16)] if held else [None, None]
        for packed in (0, 1):
            qkv = [numbers("qkv", batch, length, 128), None, None] if packed else [
                numbers("q", batch, length, 64), numbers("k", batch, length, 32), numbers("v", batch, length, 32)]
            sinks = [None, None, numbers("sinks", 4)] if name == "next" else []
            yield made(f"GroupQueryAttention_{name}_{packed}", "GroupQueryAttention",
                       [*qkv, *past, ints(*counts), np.int32(total), *(angles if packed else [None, None]), *sinks], [6], 3,
                       num_heads=4, kv_num_heads=2, do_rotary=packed, **{k: v for k, v in more.items() if packed or "rotary" not in k})
    # A past of fixed room: partly filled, full, after keys were dropped, and where this step drops some.
    for name, length, counts, left in (("partly_filled", 1, (3,), 4), ("full", 1, (5,), 6), ("drops", 1, (6,), 4),
                                       ("dropped", 1, (9, 4), 4), ("several", 3, (8,), 6)):
        given = {"qkv": numbers("qkv", len(counts), length, 128), "pk": numbers("pk", len(counts), 2, 6, 16),
                 "pv": numbers("pv", len(counts), 2, 6, 16), "counts": ints(*counts)}
        held = [numpy_helper.from_array(np.asarray(a), n) for n, a in
                {"total": np.int32(max(counts) + 1), "cos": angles[0], "sin": angles[1], "start": np.array([0], np.int64),
                 "left": np.array([left], np.int64), "rows": np.array([2], np.int64)}.items()]
        nodes = [helper.make_node("GroupQueryAttention", ["qkv", "", "", "pk", "pv", "counts", "total", "cos", "sin"],
                                  ["y", "keys", "values"], domain="com.microsoft", num_heads=4, kv_num_heads=2,
                                  do_rotary=1, local_window_size=4, sliding_window_cache=1)]
        for kind in ("keys", "values"):  # what lies behind those that are left is not said
            nodes.append(helper.make_node("Slice", [kind, "start", "left", "rows"], [f"{kind}_left"]))
        yield network(f"GroupQueryAttention_sliding_{name}", nodes, given, held, ["y", "keys_left", "values_left"],
                      domain="com.microsoft")
    # Numbers of keys as the model builder takes them from a mask.
    held = [numpy_helper.from_array(np.asarray(a), n) for n, a in {"one": np.array([1], np.int64), "last": np.int64(1)}.items()]
    nodes = [helper.make_node("ReduceSum", ["mask", "one"], ["sums"], keepdims=0),
             helper.make_node("Sub", ["sums", "one"], ["less"]),
             helper.make_node("Cast", ["less"], ["counts"], to=TensorProto.INT32), helper.make_node("Shape", ["mask"], ["shape"]),
             helper.make_node("Gather", ["shape", "last"], ["all"], axis=0),
             helper.make_node("Cast", ["all"], ["total"], to=TensorProto.INT32),
             helper.make_node("GroupQueryAttention", ["qkv", "", "", "pk", "pv", "counts", "total"], ["y", "keys", "values"],
                              domain="com.microsoft", num_heads=4, kv_num_heads=2)]
    yield network("GroupQueryAttention_of_a_mask", nodes,
                  {"qkv": numbers("qkv", 1, 1, 128), "pk": numbers("pk", 1, 2, 3, 16), "pv": numbers("pv", 1, 2, 3, 16),
                   "mask": np.ones((1, 4), np.int64)}, held, ["y", "keys", "values"], domain="com.microsoft")
    words, kinds = seeded("w", (2, 4), np.int32, 0, 6), seeded("k", (2, 4), np.int32, 0, 1)
    tables = [numbers("words", 7, 5), numbers("places", 9, 5), numbers("kinds", 2, 5), numbers("s", 5), numbers("b", 5)]
    yield made("EmbedLayerNormalization", "EmbedLayerNormalization", [words, kinds, *tables, kinds], range(2, 7), 2,
               epsilon=1e-3, mask_index_type=1)
    yield made("EmbedLayerNormalization_places", "EmbedLayerNormalization",
               [words, None, *tables[:2], None, *tables[3:], None, seeded("p", (1, 4), np.int32, 0, 8)], [2, 3, 5, 6], 2)
