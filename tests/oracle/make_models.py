#!/usr/bin/env python3
"""Makes the archive of single-operator models, models.zip, and its manifest, models.json.

Needs the packages of requirements-make.txt. The same packages give the same files. Takes about two minutes.
"""

import argparse
import collections
import pathlib
import sys

import cases_arrange
import cases_control
import cases_detection
import cases_elementwise
import cases_hlo
import cases_host
import cases_hybrid
import cases_join
import cases_logic
import cases_lookup
import cases_lstm
import cases_matrix
import cases_places
import cases_pool
import cases_ranks
import cases_reduce
import cases_run_time
import cases_types
import cases_volumes
import cases_window
import model_archive
from model_set import ModelSet

# The operators that the GPU delegate takes, with the versions that its parser accepts and the interpreter has.
# Not among them: FULLY_CONNECTED 2, whose weights are shuffled for one kernel of the interpreter.
REQUIRED = """
ABS 1 2; COS 1; ELU 1; EXP 1 2; FLOOR 1; GELU 1 2; LOG 1 2; LOGISTIC 1 2 3; NEG 1; RSQRT 1 2 3; SIGN 1 2; SIN 1; SQRT 1;
SQUARE 1; TANH 1 2 3; ADD 1 2 3 4; ADD_N 1; MUL 1 2 3 4; SUB 1 2 3; DIV 1 2; MAXIMUM 1 2; MINIMUM 1 2; POW 1;
SQUARED_DIFFERENCE 1 2; FLOOR_DIV 1 2; FLOOR_MOD 1; EQUAL 1 2; NOT_EQUAL 1 2; LESS 1 2; LESS_EQUAL 1 2; GREATER 1 2;
GREATER_EQUAL 1 2; LOGICAL_AND 1; AVERAGE_POOL_2D 1 2 3; MAX_POOL_2D 1 2 3; BATCH_MATMUL 1 2 3 4; CAST 1;
CONCATENATION 1 2 3;
CONV_2D 1 2 3 4 5 6 7 8; CUMSUM 1; DENSIFY 1; DEPTHWISE_CONV_2D 1 2 3 4 5 6 7; DEPTH_TO_SPACE 1 2; SPACE_TO_DEPTH 1 2;
DEQUANTIZE 1 2 3 5 6; QUANTIZE 1 2 3; FULLY_CONNECTED 1 3 4 5 6 7 8 9 10 11 12; GATHER 1 2 3 4 5; HARD_SWISH 1;
LEAKY_RELU 1 2; LSTM 1 2 3 4; MEAN 1 2 3; SUM 1 2; REDUCE_MAX 1 2 3; REDUCE_MIN 1 2 3; REDUCE_PROD 1; MIRROR_PAD 1 2 3;
PAD 1 2 3 4; PADV2 1 2; ONE_HOT 1; PACK 1; UNPACK 1; PRELU 1; RELU 1 2 3; RELU6 1 2 3; RELU_0_TO_1 1; RELU_N1_TO_1 1;
RESHAPE 1; RESIZE_BILINEAR 1 2 3 4; RESIZE_NEAREST_NEIGHBOR 1 2 3 4; SELECT 1 2; SELECT_V2 1; SLICE 1 2 4 5;
STRIDED_SLICE 1 2 3 4 6 8; SOFTMAX 1 2 3; SPLIT 1; SPLIT_V 1; TILE 1; TRANSPOSE 1 2 3 4 5; TRANSPOSE_CONV 1 2 3 4;
BATCH_TO_SPACE_ND 1 2; SPACE_TO_BATCH_ND 1 2; SQUEEZE 1; EXPAND_DIMS 1; CEIL 1; ROUND 1; LOGICAL_OR 1; LOGICAL_NOT 1;
REVERSE_V2 1; ARG_MAX 1 2; ARG_MIN 1 2; L2_NORMALIZATION 1 2; LOG_SOFTMAX 1 2; BROADCAST_TO 2; TOPK_V2 1; REDUCE_ANY 1;
REDUCE_ALL 1; ATAN2 1; UNIDIRECTIONAL_SEQUENCE_LSTM 1 2 3; LOCAL_RESPONSE_NORMALIZATION 1; GATHER_ND 1;
TFLite_Detection_PostProcess 1
"""

FAMILIES = {  # run together, as one network
    "elementwise": [cases_elementwise.add_unary],
    "binary": [cases_elementwise.add_binary],
    "logic": [cases_logic.add_comparisons, cases_logic.add_select, cases_logic.add_casts],
    "quantization": [cases_logic.add_quantization],
    "convolution": [cases_window.add_conv, cases_window.add_depthwise, cases_window.add_transpose_conv],
    "pooling": [cases_pool.add_pool, cases_pool.add_l2_pool, cases_pool.add_normalizations],
    "matrix": [cases_matrix.add_fully_connected, cases_matrix.add_batch_matmul],
    "reduction": [cases_reduce.add_reductions, cases_reduce.add_softmax],
    "ordering": [cases_reduce.add_orderings, cases_reduce.add_cumsum],
    "join_and_split": [cases_join.add_joins, cases_join.add_parts],
    "padding": [cases_arrange.add_padding],
    "arrangement": [cases_arrange.add_arrangements, cases_arrange.add_blocks],
    "gather": [cases_lookup.add_gathers],
    "detection": [cases_detection.add_detection],
    "resize": [cases_lookup.add_resizes],
    "recurrent": [cases_lstm.add_basic, cases_lstm.add_full, cases_lstm.add_sequences],
    "bidirectional": [cases_lstm.add_simple, cases_lstm.add_bidirectional],
    "places": [
        cases_places.add_diagonals,
        cases_places.add_scatters,
        cases_places.add_segments,
        cases_places.add_sparse,
        cases_places.add_reversals,
        cases_places.add_buckets,
        cases_places.add_numbers,
        cases_places.add_rows,
    ],
    "volumes": [cases_volumes.add_conv_3d, cases_volumes.add_conv_3d_transpose],
    "spectra": [cases_volumes.add_spectra],
    "suppression": [cases_volumes.add_suppression],
    "stablehlo": [
        cases_hlo.add_elements,
        cases_hlo.add_borders,
        cases_hlo.add_windows,
        cases_hlo.add_gathers,
        cases_hlo.add_scatters,
    ],
    "ranks": [cases_ranks.add_functions, cases_ranks.add_sums, cases_ranks.add_moves],
    "types": [cases_types.add_casts, cases_types.add_functions, cases_types.add_moves],
    "control": [cases_control.add_loops, cases_control.add_ends, cases_control.add_branches],
    "host": [
        cases_host.add_bits,
        cases_host.add_random,
        cases_host.add_bit_generators,
        cases_host.add_unsigned_words,
        cases_host.add_data_sized,
    ],
    "run_time": [
        cases_run_time.add_slices,
        cases_run_time.add_strided_slices,
        cases_run_time.add_plain,
        cases_run_time.add_segments,
        cases_run_time.add_indices,
    ],
    "hybrid": [cases_hybrid.add_other_declarations],
}


def make_all():
    models = ModelSet()
    for models.family, functions in FAMILIES.items():
        for add in functions:
            add(models)
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output-dir", type=pathlib.Path, default=model_archive.FOLDER)
    folder = parser.parse_args().output_dir
    models = make_all()
    folder.mkdir(parents=True, exist_ok=True)
    model_archive.write(folder, models.files, models.entries)
    versions = collections.Counter(op for entry in models.entries for op in entry["ops"])
    for row in REQUIRED.replace("\n", " ").split(";"):
        op, *wanted = row.split()
        models.failures += [
            f"{op} version {version}: no model" for version in wanted if f"{op}/{version}" not in versions
        ]
    print(f"{len(models.files)} models, {sum(map(len, models.files.values()))} bytes")
    for failure in models.failures:
        print("not made:", failure, file=sys.stderr)
    return 1 if models.failures else 0


if __name__ == "__main__":
    sys.exit(main())
