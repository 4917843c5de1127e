// An operator that programs of tests bring along, and a model with it.
#ifndef HEARTH_TESTS_TESTING_CUSTOM_OPS_H_
#define HEARTH_TESTS_TESTING_CUSTOM_OPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/custom_op.h"
#include "tests/testing/tflite_writer.h"

namespace hearth::testing {

inline Status SameAsInput(const hearth_op_call& call) {
  call.outputs[0].dtype = call.inputs[0].dtype;
  call.outputs[0].rank = call.inputs[0].rank;
  std::ranges::copy(call.inputs[0].shape, call.outputs[0].shape);
  return Status::Ok();
}

// y = factor * x, with the factor in the first byte of the options.
inline Status Scale(const hearth_op_call& call) {
  const auto factor = static_cast<float>(*static_cast<const uint8_t*>(call.options));
  const std::span<const float> x = Elements<float>(call.inputs[0]);
  std::ranges::transform(x, Elements<float>(call.outputs[0]).begin(), [&](float number) { return factor * number; });
  return Status::Ok();
}

// x [1,4] -> NEG -> SCALE(3) -> NEG -> y, whose shapes follow from that of x.
inline std::vector<std::byte> ScaleModel() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 4}}), a = writer.AddTensor({"a", {1, 4}});
  const int32_t b = writer.AddTensor({"b", {1, 4}}), y = writer.AddTensor({"y", {1, 4}});
  writer.AddOperator(59, {x}, {a});
  writer.AddCustomOperator("SCALE", {a}, {b}, {3});
  writer.AddOperator(59, {b}, {y});
  return writer.Finish({x}, {y});
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_CUSTOM_OPS_H_
