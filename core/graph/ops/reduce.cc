#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/numbers.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool IsReduced(const Reduce& reduce, int dimension) {
  return ((reduce.axes_mask >> dimension) & 1u) != 0;
}

double StartOf(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax: return -std::numeric_limits<double>::infinity();
    case ReduceKind::kMin: return std::numeric_limits<double>::infinity();
    case ReduceKind::kProd:
    case ReduceKind::kAll: return 1.0;
    default: return 0.0;
  }
}

double Combine(ReduceKind kind, double a, double b) {
  switch (kind) {
    case ReduceKind::kMean:
    case ReduceKind::kSum: return a + b;
    case ReduceKind::kMax: return LargerOf(a, b);
    case ReduceKind::kMin: return SmallerOf(a, b);
    case ReduceKind::kProd: return a * b;
    case ReduceKind::kAny: return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case ReduceKind::kAll: return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
  }
  return a;
}

// Wraps to the type of an integer output. A mean's sum has 64 bits in TFLite and here.
double Wrapped(ReduceKind kind, const ReferenceTensor& out, double number) {
  if (!out.integers.has_value() || kind == ReduceKind::kMean || std::fabs(number) > 0x1p62) return number;
  return static_cast<double>(WrapInteger(*out.integers, static_cast<int64_t>(number)));
}

Status CheckType(const NodeInference& inference, ReduceKind kind) {
  const TensorDesc& desc = inference.input(0);
  const bool logical = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
  const bool is_bool = desc.dtype == DType::kBool;
  const bool calculates = IsReal(desc) || desc.dtype == DType::kInt32 || desc.dtype == DType::kInt64;
  // LiteRT's integer products wrap in the tensor's type. Its sums and means of narrow integers need scales.
  const bool takes_all = kind == ReduceKind::kMax || kind == ReduceKind::kMin || kind == ReduceKind::kProd;
  if (logical ? is_bool : !is_bool && (calculates || takes_all)) return Status::Ok();
  return inference.Unsupported(
      "input 0 is {}; {}", DTypeName(desc.dtype),
      logical ? "only bool can be run here" : "only real numbers, int32 and int64 can be run here");
}

}  // namespace

Status InferReduce(const NodeInference& inference) {
  const auto& reduce = inference.op<Reduce>();
  HEARTH_TRY(CheckType(inference, reduce.kind));
  HEARTH_TRY(inference.SetOutputTypeOf(0, 0));
  const Shape& in = inference.shape(0);
  if ((reduce.axes_mask >> in.rank()) != 0)
    return inference.Malformed("an axis lies outside of rank {} ({})", in.rank(), in);
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (!IsReduced(reduce, d)) dims.push_back(in[d]);
    if (IsReduced(reduce, d) && reduce.keep_dims) dims.push_back(1);
  }
  return inference.SetOutput(0, dims);
}

void ReferenceReduce(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& reduce = std::get<Reduce>(node.op);
  const ReferenceTensor& in = *inputs[0];
  ReferenceTensor& out = outputs[0];
  const int rank = in.shape.rank();
  std::array<int64_t, Shape::kMaxRank> position{};
  std::fill(out.values.begin(), out.values.end(), StartOf(reduce.kind));
  for (double element : in.values) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) {
      if (!IsReduced(reduce, d)) to = to * in.shape[d] + position[d];
    }
    out.values[to] = Wrapped(reduce.kind, out, Combine(reduce.kind, out.values[to], element));
    for (int d = rank - 1; d >= 0 && ++position[d] == in.shape[d]; --d) position[d] = 0;
  }
  const bool is_number = !in.values.empty() || !out.integers.has_value();  // the mean of no integers stays 0
  if (reduce.kind != ReduceKind::kMean || !is_number) return;
  const double count = static_cast<double>(in.values.size()) / static_cast<double>(out.values.size());
  for (double& sum : out.values) sum = out.integers.has_value() ? std::trunc(sum / count) : sum / count;
}

}  // namespace hearth
