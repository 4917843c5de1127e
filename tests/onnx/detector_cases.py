"""Boxes, regions of pictures, and lists whose length data make, as detectors have them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from one_case import case, network, seeded


def boxes():
    def some(name, batches, classes, count):
        corners = np.sort(seeded(name, (batches, count, 2, 2), low=0, high=4), axis=2).reshape(batches, count, 4)
        return corners, np.round(seeded("s" + name, (batches, classes, count), low=0, high=1), 1)

    corners, scores = some("few", 2, 3, 30)
    numbers = [np.int64(9), np.float32(0.3), np.float32(0.25)]
    yield case("NonMaxSuppression_equal_scores", "NonMaxSuppression", [corners, scores, *numbers], [2, 3, 4])
    yield case("NonMaxSuppression_centers", "NonMaxSuppression", [corners, scores, *numbers], [2, 3, 4],
               center_point_box=1)
    yield case("NonMaxSuppression_all", "NonMaxSuppression", [corners, scores, np.int64(2**62)], [2])
    yield case("NonMaxSuppression_none", "NonMaxSuppression", [corners, scores])
    grid = np.array([[[0, 0, 2, 2], [0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 2, 4]]], np.float32)
    yield case("NonMaxSuppression_at_the_threshold", "NonMaxSuppression",
               [grid, np.ones((1, 1, 4), np.float32), np.int64(4), np.float32(1 / 3)], [2, 3])
    # Boxes looked up by the last column, in a tensor of one batch; what is reduced over them; the first ones.
    held = {"most": numbers[0], "overlap": numbers[1], "score": numbers[2], "two": np.int64(2), "ax": np.array([0], np.int64),
            "ends": np.array([2], np.int64)}
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["taken"]),
        helper.make_node("Gather", ["taken", "two"], ["column"], axis=1),
        helper.make_node("Gather", ["boxes", "column"], ["corners"], axis=1),
        helper.make_node("Squeeze", ["corners", "ax"], ["rows"]),
        helper.make_node("ReduceMax", ["column"], ["last"], keepdims=0),
        helper.make_node("ReduceMean", ["rows", "ax"], ["mean"], keepdims=0),
        helper.make_node("Slice", ["rows", "ax", "ends", "ax"], ["first"]),
        helper.make_node("Shape", ["corners"], ["shape"]),
    ]
    yield network("NonMaxSuppression_looked_up", nodes, {"boxes": corners[:1], "scores": scores[:1]},
                  [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
                  ["corners", "last", "mean", "first", "shape"], 18)
    # The head of a detector: rows (batch, corners, class, score) of the boxes that are taken.
    held = {"most": numbers[0], "overlap": numbers[1], "score": numbers[2], "zero": np.int64(0), "two": np.int64(2),
            "last": np.array([-1], np.int64), "ends": np.array([0, 2], np.int64), "halves": np.array([1, 1, 1], np.int64)}
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["taken"]),
        helper.make_node("Split", ["taken", "halves"], ["batch", "class", "box"], axis=1),
        helper.make_node("Gather", ["taken", "ends"], ["place"], axis=1),
        helper.make_node("GatherND", ["boxes", "place"], ["corners"]),
        helper.make_node("Gather", ["taken", "two"], ["column"], axis=1),
        helper.make_node("Unsqueeze", ["column", "last"], ["again"]),
        helper.make_node("GatherND", ["scores", "taken"], ["values"]),
        helper.make_node("Unsqueeze", ["values", "last"], ["kept"]),
        helper.make_node("Cast", ["batch"], ["batch_f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["class"], ["class_f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["again"], ["again_f"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["batch_f", "corners", "class_f", "kept", "again_f"], ["found"], axis=1),
        helper.make_node("Shape", ["found"], ["shape"]),
    ]
    yield network("NonMaxSuppression_head", nodes, {"boxes": corners, "scores": scores},
                  [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
                  ["found", "shape"])


def lists_of_data():
    """What exported detectors do with rows whose number data make."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    held = numbers(half=np.float32(0.5), zero=np.int64(0), one=np.int64(1), list=np.array([0], np.int64),
                   most=np.array([6], np.int64), count=np.int64(6))
    found = [node("Greater", ["scores", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
             node("Squeeze", ["places", "list"], ["rows"]), node("Gather", ["scores", "rows"], ["high"]),
             node("Gather", ["boxes", "rows"], ["of_high"], axis=0)]
    # The K of torch's _topk_min, in both forms that exporters write.
    least = {"Min": [node("Min", ["size", "most"], ["k"])],
             "ReduceMin": [node("Concat", ["size", "most"], ["both"], axis=0),
                           node("ReduceMin", ["both"], ["k"], keepdims=1)]}
    for count, low in (("few", -1), ("many", 0.3), ("none", -9)):
        given = {"scores": seeded("scores" + count, (20,), low=low, high=0 if low == -9 else 1),
                 "boxes": seeded("boxes" + count, (20, 4), low=0, high=4)}
        for form, least_of in least.items():
            nodes = [*found, node("Shape", ["high"], ["size"]), *least_of,
                     node("TopK", ["high", "k"], ["best", "numbers"], axis=0),
                     node("Gather", ["of_high", "numbers"], ["taken"], axis=0),
                     node("Gather", ["k", "zero"], ["limit"]), node("Range", ["zero", "limit", "one"], ["counted"]),
                     node("Mul", ["counted", "numbers"], ["products"]), node("Size", ["taken"], ["elements"]),
                     node("Add", ["counted", "one"], ["from_one"])]
            yield network(f"TopK_of_rows_{form}_{count}", nodes, given, held,
                          ["best", "numbers", "taken", "counted", "products", "elements", "from_one"])
        # Rows of two lists, one after the other, then without those that overlap.
        nodes = [*found, node("Concat", ["high", "scores", "high"], ["all"], axis=0),
                 node("Concat", ["of_high", "boxes", "of_high"], ["corners"], axis=0),
                 node("Unsqueeze", ["all", "list"], ["in_class"]), node("Unsqueeze", ["in_class", "list"], ["in_batch"]),
                 node("Unsqueeze", ["corners", "list"], ["of_batch"]),
                 node("NonMaxSuppression", ["of_batch", "in_batch", "most", "half"], ["selected"]),
                 node("Gather", ["selected", "ends"], ["column"], axis=1), node("Squeeze", ["column", "last"], ["kept"]),
                 node("Gather", ["all", "kept"], ["values"]), node("NonZero", ["of_high"], ["whole"]),
                 node("ReduceMax", ["corners"], ["largest"], keepdims=0)]
        more = numbers(ends=np.array([2], np.int64), last=np.array([1], np.int64))
        outputs = ["all", "corners", "selected", "values", "whole", *(["largest"] if count != "none" else [])]
        yield network(f"NonMaxSuppression_of_rows_{count}", nodes, given, [*held, *more], outputs, 18)
        # The boxes of each class apart from those of others, as torchvision's batched_nms moves them.
        nodes = [*found, node("Shape", ["high"], ["size"]), node("ConstantOfShape", ["size"], ["zeros"]),
                 node("Add", ["zeros", "half"], ["classes"]), node("Expand", ["half", "size"], ["others"]),
                 node("Concat", ["classes", "others"], ["labels"], axis=0),
                 node("Concat", ["of_high", "of_high"], ["corners"], axis=0),
                 node("Unsqueeze", ["labels", "last"], ["offsets"]), node("Add", ["corners", "offsets"], ["moved"]),
                 node("Concat", ["size", "four"], ["wanted"], axis=0), node("Reshape", ["of_high", "wanted"], ["again"])]
        more = numbers(last=np.array([1], np.int64), four=np.array([4], np.int64))
        yield network(f"sizes_of_rows_{count}", nodes, given, [*held, *more], ["labels", "moved", "again", "others"])
        # A branch without rows for none, as torchvision's batched_nms writes.
        real = [helper.make_tensor_value_info("made", TensorProto.FLOAT, None)]
        branches = {"then_branch": helper.make_graph(
                        [node("ConstantOfShape", ["empty"], ["made"])], "none", [], real,
                        [numpy_helper.from_array(np.array([0, 4], np.int64), "empty")]),
                    "else_branch": helper.make_graph([node("Neg", ["of_high"], ["made"])], "some", [], real)}
        nodes = [*found, node("Size", ["of_high"], ["elements"]), node("Equal", ["elements", "zero"], ["is_empty"]),
                 node("If", ["is_empty"], ["chosen"], **branches), node("ReduceSum", ["chosen"], ["sum"], keepdims=0),
                 node("RoiAlign", ["picture", "of_high", "of_picture"], ["parts"], output_height=2, output_width=3,
                      sampling_ratio=2, mode="avg"),
                 node("Conv", ["parts", "filter"], ["seen"]), node("Relu", ["seen"], ["shown"]),
                 node("Flatten", ["shown"], ["flat"]), node("Gemm", ["flat", "weights"], ["classes"]),
                 node("Softmax", ["classes"], ["shares"], axis=-1)]
        nodes.insert(5, node("Mul", ["rows", "zero"], ["of_picture"]))
        more = numbers(filter=seeded("f", (5, 2, 2, 2)), weights=seeded("w", (10, 3)))
        outputs = ["chosen", "sum", *(["shares"] if count != "none" else [])]
        yield network(f"RoiAlign_of_rows_{count}", nodes, {**given, "picture": seeded("p", (1, 2, 6, 6))},
                      [*held, *more], outputs)


def rows_in_layers():
    """What the second stage of torchvision's detectors does with the regions that the first one found."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    held = numbers(half=np.float32(0.5), list=np.array([0], np.int64), second=np.array([1], np.int64),
                   three=np.array([3], np.int64), minus=np.int64(-1), none=np.array([0], np.int64),
                   flat=np.array([-1], np.int64), pairs=np.array([-1, 2], np.int64), pictures=np.array([-1, 1, 2, 2], np.int64),
                   base=seeded("base", (20, 3)), whole=seeded("whole", (20, 4)), matrix=seeded("m", (2, 3)),
                   pads=np.array([0, 1, 0, 2], np.int64), scales=np.array([1, 1, 2, 2], np.float32),
                   ninety=np.array([90], np.int64), numbers=np.arange(5, dtype=np.float32))
    found = [node("Greater", ["scores", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
             node("Squeeze", ["places", "list"], ["rows"]), node("Gather", ["boxes", "rows"], ["of_high"], axis=0),
             node("Shape", ["rows"], ["size"])]
    # Tensor.expand, where a size of -1 keeps the tensor's own.
    sizes = [node("Concat", ["size", "three"], ["wanted"], axis=0), node("Shape", ["wanted"], ["two"]),
             node("ConstantOfShape", ["two"], ["ones"], value=numpy_helper.from_array(np.array([1], np.int64))),
             node("Mul", ["ones", "minus"], ["keeps"]), node("Equal", ["wanted", "keeps"], ["is_kept"]),
             node("Where", ["is_kept", "ones", "wanted"], ["sizes"]), node("Unsqueeze", ["rows", "second"], ["column"]),
             node("Expand", ["column", "sizes"], ["indices"])]
    scatter = [*found, *sizes, node("Slice", ["of_high", "list", "three", "second"], ["updates"]),
               node("ScatterElements", ["base", "indices", "updates"], ["replaced"], axis=0),
               node("ScatterElements", ["base", "indices", "updates"], ["added"], axis=0, reduction="add"),
               node("ScatterND", ["whole", "column", "of_high"], ["rows_replaced"]),
               node("ScatterND", ["whole", "column", "of_high"], ["largest"], reduction="max")]
    layers = [*found, node("Add", ["none", "size"], ["end"]), node("Slice", ["of_high", "list", "end", "list"], ["all_of_them"]),
              node("Slice", ["whole", "list", "end", "list"], ["first_of_whole"]),
              node("Reshape", ["of_high", "flat"], ["in_one_list"]), node("Reshape", ["of_high", "pairs"], ["in_pairs"]),
              node("Mul", ["in_pairs", "half"], ["halves"]), node("Reshape", ["of_high", "pictures"], ["seen"]),
              node("Flatten", ["seen"], ["lines"], axis=3), node("MatMul", ["lines", "matrix"], ["products"]),
              node("MatMul", ["seen", "matrix"], ["of_pictures"]), node("Pad", ["of_high", "pads"], ["wider"]),
              node("Resize", ["seen", "", "scales"], ["larger"], mode="linear"), node("Shape", ["seen"], ["shape"]),
              node("Gather", ["shape", "second"], ["channels"]), node("Expand", ["numbers", "channels"], ["known"])]
    for count, low in (("few", -1), ("many", 0.3), ("none", -9)):
        given = {"scores": seeded("scores" + count, (20,), low=low, high=0 if low == -9 else 1),
                 "boxes": seeded("boxes" + count, (20, 4), low=0, high=4)}
        yield network(f"scatter_rows_{count}", scatter, given, held, ["replaced", "added", "rows_replaced", "largest"], 18)
        yield network(f"layers_of_rows_{count}", layers, given, held,
                      ["all_of_them", "first_of_whole", "in_one_list", "halves", "products", "wider", "known",
                       *(["of_pictures", "larger"] if count != "none" else [])])
    # What is made of a constant whose rows data count has as many.
    nodes = [*found, node("TopK", ["whole_scores", "size"], ["best", "at"]), node("Relu", ["best"], ["real"]),
             node("Cast", ["at"], ["number"], to=TensorProto.FLOAT), node("LayerNormalization", ["of_high", "four"], ["even"])]
    held = [*held, *numbers(whole_scores=seeded("ws", (20,)), four=np.array([1, 2, 3, 4], np.float32))]
    yield network("rows_of_a_constant", nodes, {"scores": seeded("scorestop", (20,)), "boxes": seeded("boxestop", (20, 4))},
                  held, ["real", "number", "even"])
    # x[x > 0.5] = 7, of more elements than are compared one by one.
    nodes = [node("Greater", ["x", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
             node("Transpose", ["places"], ["at"], perm=[1, 0]), node("Shape", ["at"], ["shape"]),
             node("Gather", ["shape", "list"], ["count"]), node("Expand", ["seven", "count"], ["sevens"]),
             node("ScatterND", ["x", "at", "sevens"], ["y"])]
    yield network("masked_assignment", nodes, {"x": seeded("x", (40, 50))},
                  numbers(half=np.float32(0.5), list=np.array([0], np.int64), seven=np.float32(7)), ["y"])


def ends_of_lists():
    """Where a list whose length data make ends: what counts from there, and what has as many rows."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    held = numbers(half=np.float32(0.5), zero=np.int64(0), list=np.array([0], np.int64), behind=np.array([-1], np.int64),
                   second=np.array([1], np.int64), last=np.int64(-1), both=np.array([[-1], [0]], np.int64))
    found = [node("Greater", ["scores", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
             node("Squeeze", ["places", "list"], ["rows"]), node("Gather", ["scores", "rows"], ["high"]),
             node("Gather", ["boxes", "rows"], ["of_high"], axis=0), node("Shape", ["high"], ["size"])]
    nodes = [*found, node("Slice", ["of_high", "list", "behind", "list"], ["but_last"]),
             node("Gather", ["of_high", "last"], ["last_row"]), node("GatherND", ["of_high", "both"], ["ends"]),
             node("GatherElements", ["high", "behind"], ["last_score"]), node("Gather", ["high", "asked"], ["of_asked"]),
             node("Dropout", ["of_high"], ["same", "mask"]), node("Expand", ["scores", "size"], ["all"]),
             node("Shape", ["but_last"], ["shape"])]
    for count, low in (("few", -1), ("many", 0.3)):
        given = {"scores": seeded("scores" + count, (200,), low=low), "boxes": seeded("boxes" + count, (200, 4), low=0, high=4),
                 "asked": np.array([[-1, 0], [1, -2]], np.int64)}
        if count == "few":  # one row is expanded to all
            given["one"] = np.where(np.arange(200) == 7, 1, 0).astype(np.float32)
            nodes_of = [*nodes[:-2], node("Greater", ["one", "half"], ["is_one"]), node("Compress", ["one", "is_one"], ["single"]),
                        node("Shape", ["single"], ["of_single"]), node("Expand", ["scores", "of_single"], ["all"]), nodes[-1]]
        else:
            nodes_of = [n for n in nodes if n.output[0] != "all"]
        outputs = ["but_last", "last_row", "ends", "last_score", "of_asked", "same", "mask", "shape"]
        yield network(f"ends_of_rows_{count}", nodes_of, given, held,
                      [*outputs, *(["all"] if count == "few" else [])])
    # Lists of one number at most, or of none.
    for score in (0.2, 0.8):
        nodes = [node("Greater", ["score", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
                 node("Squeeze", ["places", "list"], ["rows"]), node("Unsqueeze", ["rows", "list"], ["in_front"]),
                 node("Transpose", ["in_front"], ["turned"], perm=[1, 0]), node("Shape", ["in_front"], ["shape"]),
                 node("Shape", ["turned"], ["shape_turned"]), node("Flatten", ["rows"], ["flat"], axis=0),
                 node("Shape", ["flat"], ["shape_flat"])]
        yield network(f"one_row_at_most_{score}", nodes, {"score": np.array([score], np.float32)}, held,
                      ["in_front", "turned", "flat", "shape", "shape_turned", "shape_flat"])
    real = [helper.make_tensor_value_info("made", TensorProto.FLOAT, None)]
    for sizes in (([3, 0], [5, 0]), ([0, 4], [5, 4]), ([5, 4], [2, 4])):
        branches = {name: helper.make_graph([node("ConstantOfShape", ["size"], ["made"])], name, [], real,
                                            [numpy_helper.from_array(np.array(size, np.int64), "size")])
                    for name, size in zip(("then_branch", "else_branch"), sizes)}
        for chosen in (True, False):
            yield network(f"branch_{sizes}_{chosen}", [node("If", ["first"], ["y"], **branches)],
                          {"first": np.array(chosen)}, [], ["y"])
    given = {"scores": seeded("scoresmany", (20,), low=0.3), "boxes": seeded("b", (20, 4))}
    nodes = [*found, node("Min", ["size", "list"], ["k"]), node("TopK", ["scores", "k"], ["best", "numbers"]),
             node("Size", ["best"], ["elements"])]
    yield network("TopK_of_none", nodes, given, held, ["best", "elements"])


def regions():
    x = seeded("x", (2, 3, 9, 11))
    corners = np.sort(seeded("roi", (5, 2, 2), low=-3, high=24), axis=1).reshape(5, 4)
    images = seeded("image", (5,), np.int64, 0, 1)
    for mode in ("half_pixel", "output_half_pixel"):
        yield case(f"RoiAlign_{mode}", "RoiAlign", [x, corners, images], output_height=3, output_width=2,
                   sampling_ratio=2, spatial_scale=0.5, coordinate_transformation_mode=mode)
    yield case("RoiAlign_one_image", "RoiAlign", [x[:1], corners, np.zeros(5, np.int64)], opset=10, output_height=2,
               output_width=2, sampling_ratio=3, spatial_scale=0.5)


def regions_of_pictures():
    x = seeded("x", (1, 2, 9, 8))

    def sized(name, sizes, opset=18, region=None, **more):
        constants = [3] if region is None else [1, 3]
        return case(f"resize_{name}", "Resize", [x, region, None, np.array(sizes, np.int64)], constants, opset=opset, **more)

    for mode in ("linear", "cubic"):
        for excludes in (0, 1):
            yield case(f"resize_antialias_{mode}_{excludes}", "Resize", [x, None, np.array([1, 1, 0.5, 0.3], np.float32)],
                       [2], opset=18, mode=mode, antialias=1, exclude_outside=excludes)
        yield sized(f"antialias_{mode}_up", [1, 2, 4, 13], mode=mode, antialias=1)
    for policy in ("not_larger", "not_smaller"):
        yield sized(policy, [5, 9], mode="linear", keep_aspect_ratio_policy=policy, axes=[2, 3])
    for mode in ("nearest", "linear"):
        yield sized(f"crop_{mode}", [1, 2, 4, 6], 13, np.array([0, 0, 0.2, 0.3, 1, 1, 0.9, 1.4], np.float32), mode=mode,
                    coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.5)
    for mode in ("nearest", "linear"):  # data say the region
        for name, corners in (("inside", [0.2, 0.3, 0.9, 0.7]), ("beyond", [-0.1, 0.6, 0.5, 1.4])):
            region = np.array([0, 0, *corners[:2], 1, 1, *corners[2:]], np.float32)
            yield case(f"resize_crop_of_data_{mode}_{name}", "Resize",
                       [x, region, None, np.array([1, 2, 4, 1], np.int64)], [3], opset=13, mode=mode,
                       coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.5)
    yield case("resize_crop_of_data_axes", "Resize", [x, np.array([0.1, 0.8], np.float32), None, np.array([5], np.int64)],
               [3], opset=18, mode="linear", coordinate_transformation_mode="tf_crop_and_resize", axes=[-1])


def rows_around_lists():
    """What stands before and behind rows whose number data make, and their running sums."""
    def constant(name, array):
        return numpy_helper.from_array(np.asarray(array), name)

    found = [helper.make_node("Greater", ["x", "zero"], ["is_above"]), helper.make_node("NonZero", ["is_above"], ["places"]),
             helper.make_node("Transpose", ["places"], ["rows"], perm=[1, 0])]
    held = [constant("zero", np.float32(0)), constant("minus", np.int64(-7)), constant("axis", np.int64(0))]
    for name, pads in (("front", [2, 0, 0, 0]), ("back", [0, 0, 3, 0]), ("both", [1, 1, 2, 0])):
        yield network(f"rows_with_{name}", [*found, helper.make_node("Pad", ["rows", "pads", "minus"], ["y"])],
                      {"x": seeded("x", (4, 5))}, [*held, constant("pads", np.array(pads))], ["y"])
    for exclusive in (0, 1):
        yield network(f"sums_of_rows_{exclusive}", [*found, helper.make_node("CumSum", ["rows", "axis"], ["y"],
                                                                             exclusive=exclusive)],
                      {"x": seeded("x", (4, 5))}, held, ["y"])
    counted = [found[0], helper.make_node("Cast", ["is_above"], ["ones"], to=TensorProto.INT64),
               helper.make_node("ReduceSum", ["ones"], ["count"], keepdims=0),
               helper.make_node("Range", ["axis", "count", "one"], ["y"])]
    yield network("range_of_counted_truths", counted, {"x": seeded("x", (4, 5))}, [*held, constant("one", np.int64(1))],
                  ["y"])


def rows_filled_up():
    """Rows of one mask, found once for each tensor, and as many behind them as make a known number together."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    found = [node("Greater", ["scores", "half"], ["is_high"])]
    for part, values in (("box", "boxes"), ("score", "scores")):
        found += [node("NonZero", ["is_high"], [f"places_{part}"]), node("Transpose", [f"places_{part}"], [f"rows_{part}"], perm=[1, 0]),
                  node("GatherND", [values, f"rows_{part}"], [f"of_{part}"])]
    found += [node("Reshape", ["of_score", "column"], ["scores_column"]), node("Concat", ["of_box", "scores_column"], ["all"], axis=-1),
              node("Slice", ["all", "zero", "total", "zero"], ["rows"]), node("Shape", ["rows"], ["shape"]),
              node("Gather", ["shape", "zero"], ["count"]), node("Sub", ["total", "count"], ["missing"])]
    # As PyTorch writes pads: by dimension from the last one on, in pairs, of which the order is turned around.
    padded = [node("Concat", ["zero", "zero", "zero", "missing"], ["torch_pads"], axis=0), node("Reshape", ["torch_pads", "pairs"], ["paired"]),
              node("Slice", ["paired", "minus", "far", "zero", "minus"], ["turned"]), node("Transpose", ["turned"], ["split"], perm=[1, 0]),
              node("Reshape", ["split", "flat"], ["pads"]), node("Pad", ["rows", "pads", "seven"], ["padded"])]
    flat = [node("Reshape", ["rows", "flat"], ["list"]), node("Mul", ["missing", "five"], ["elements"]),
            node("Concat", ["zero", "elements"], ["list_pads"], axis=0), node("Pad", ["list", "list_pads"], ["filled"]),
            node("Reshape", ["filled", "wanted"], ["whole"])]
    for total in (8, 25):
        held = numbers(half=np.float32(0.5), zero=np.array([0]), minus=np.array([-1]), far=np.array([-2**63]), five=np.array([5]),
                       column=np.array([-1, 1]), pairs=np.array([-1, 2]), flat=np.array([-1]), seven=np.float32(-7),
                       total=np.array([total]), wanted=np.array([1, total, 5]))
        for count, low in (("few", -1), ("many", 0.3), ("none", -9)):
            given = {"scores": seeded("scores" + count, (20,), low=low, high=0 if low == -9 else 1), "boxes": seeded("boxes" + count, (20, 4))}
            yield network(f"rows_filled_up_to_{total}_{count}", [*found, *padded, *flat], given, held, ["padded", "whole"])


def sums_of_edges():
    """A layer of a graph network, as torch_geometric exports it: edges without loops, then one loop for each node."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    nodes = [node("Gather", ["edges", "from"], ["sources"], axis=0), node("Gather", ["edges", "to"], ["targets"], axis=0),
             node("Equal", ["sources", "targets"], ["is_loop"]), node("Not", ["is_loop"], ["is_edge"]), node("NonZero", ["is_edge"], ["places"]),
             node("Squeeze", ["places", "zero"], ["rows"]), node("Gather", ["edges", "rows"], ["kept"], axis=1),
             node("Concat", ["kept", "loops"], ["all"], axis=1), node("Shape", ["kept"], ["size"], start=1), node("Add", ["size", "nodes"], ["total"]),
             node("Expand", ["one", "total"], ["ones"]), node("Gather", ["all", "to"], ["ends"], axis=0), node("Gather", ["all", "from"], ["starts"], axis=0),
             node("Expand", ["ends", "total"], ["of_ends"]), node("ScatterElements", ["zeros", "of_ends", "ones"], ["degrees"], reduction="add"),
             node("Gather", ["degrees", "starts"], ["of_starts"]), node("Mul", ["of_starts", "ones"], ["weights"]),
             node("ScatterElements", ["zeros", "ends", "weights"], ["sums"], reduction="add")]
    held = numbers(**{"from": np.int64(0), "to": np.int64(1), "zero": np.array([0]), "loops": np.tile(np.arange(5), (2, 1)), "nodes": np.array([5]),
                      "one": np.float32(1), "zeros": np.zeros(5, np.float32)})
    for name, edges in (("some", seeded("edges", (2, 9), np.int64, 0, 4)), ("none", np.array([[1, 2, 3]] * 2)), ("all", np.array([[0, 1, 4], [1, 2, 0]]))):
        yield network(f"sums_of_edges_{name}", nodes, {"edges": edges}, held, ["degrees", "weights", "sums"], 18)


def shares_of_rows():
    """The best ones of rows whose number data make: a share of them, rounded in float32 and cut off."""
    node = helper.make_node
    nodes = [node("Greater", ["x", "low"], ["is_high"]), node("NonZero", ["is_high"], ["places"]), node("Squeeze", ["places", "zero"], ["rows"]),
             node("Gather", ["x", "rows"], ["high"]), node("Shape", ["high"], ["size"]), node("Cast", ["size"], ["real"], to=TensorProto.FLOAT),
             node("Mul", ["real", "share"], ["part"]), node("Cast", ["part"], ["k"], to=TensorProto.INT64), node("TopK", ["high", "k"], ["best", "at"])]
    for count in (10, 33):
        for share in (0.7, 0.9, 0.3):
            held = [numpy_helper.from_array(np.asarray(array), name) for name, array in
                    dict(low=np.float32(-9), zero=np.array([0]), share=np.float32(share)).items()]
            yield network(f"best_{share}_of_{count}", nodes, {"x": seeded("x", (count,))}, held, ["best", "at"], 18)


def first_rows_of_all():
    """The first rows of a tensor, as many as data say: the tensor itself keeps all of its rows."""
    node = helper.make_node
    held = [numpy_helper.from_array(np.array([0]), "zero")]
    count = [node("NonZero", ["mask"], ["places"]), node("Squeeze", ["places", "zero"], ["rows"]), node("Shape", ["rows"], ["count"])]
    cut = node("Slice", ["whole", "zero", "count", "zero"], ["part"])
    given = {"x": seeded("x", (6, 2)), "mask": np.array([True, False, True, True, False, False])}
    for name, before, behind in (("added", node("Relu", ["x"], ["whole"]), node("Add", ["whole", "whole"], ["y"])),
                                 ("joined", node("Relu", ["x"], ["whole"]), node("Concat", ["whole", "part"], ["y"], axis=0)),
                                 ("of_input", node("Identity", ["x"], ["whole"]), node("ReduceSum", ["x", "zero"], ["y"]))):
        yield network(f"first_rows_{name}", [*count, before, cut, behind], given, held, ["part", "y"], 18)
