// Models with loops whose end depends on data.
#ifndef HEARTH_TESTS_TESTING_LOOP_MODELS_H_
#define HEARTH_TESTS_TESTING_LOOP_MODELS_H_

#include <cstdint>
#include <vector>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth::testing {

// Writes subgraphs that take a counter and two floats.
class LoopParts {
 public:
  explicit LoopParts(TfliteWriter& to) : writer(to) { Begin(); }

  void Begin() {
    counter = writer.AddTensor({"i", {}, wire::TensorType_INT32});
    v = writer.AddTensor({"v", {2}});
  }
  int32_t Number(float number) { return writer.AddConstant<float>({"", {}}, {number}); }
  int32_t Made(int32_t code, const std::vector<int32_t>& inputs, const WrittenTensor& tensor) {
    const int32_t made = writer.AddTensor(tensor);
    writer.AddOperator(code, inputs, {made});
    return made;
  }
  // "sum(v) < limit".
  void EndCondition(float limit) {
    const int32_t total = writer.AddTensor({"", {}});
    const auto options = wire::CreateReducerOptions(writer.builder(), false);
    writer.AddOperator(kSum, {v, writer.AddIntegers({0})}, {total}, options);
    writer.EndSubgraph({counter, v}, {Made(kLess, {total, Number(limit)}, {"goes_on", {}, wire::TensorType_BOOL})});
    Begin();
  }
  int32_t Next() {
    return Made(kAdd, {counter, writer.AddConstant<int32_t>({"", {}, wire::TensorType_INT32}, {1})},
                {"", {}, wire::TensorType_INT32});
  }
  // "counter + 1, factor * v".
  void EndBody(float factor) {
    const int32_t next = Next();
    writer.EndSubgraph({counter, v}, {next, Made(kMul, {v, Number(factor)}, {"", {2}})});
    Begin();
  }

  TfliteWriter& writer;
  int32_t counter = 0, v = 0;
};

// counter, v = 0, x; both are the model's outputs. Subgraphs 1 and 2 follow.
inline void AddLoop(TfliteWriter& writer) {
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  const int32_t turns = writer.AddTensor({"turns", {}, wire::TensorType_INT32});
  const int32_t zero = writer.AddConstant<int32_t>({"zero", {}, wire::TensorType_INT32}, {0});
  writer.AddOperator(kWhile, {zero, x}, {turns, y}, wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {turns, y});
}

// Doubles x until its sum is 1000: zeros never end.
inline std::vector<std::byte> DoublingLoop() {
  TfliteWriter writer;
  AddLoop(writer);
  LoopParts parts(writer);
  parts.EndCondition(1000.0f);
  parts.EndBody(2.0f);
  return writer.FinishFile();
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_LOOP_MODELS_H_
