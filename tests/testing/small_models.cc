#include "tests/testing/small_models.h"

#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {}  // namespace

std::vector<std::byte> ModelOfAllKinds() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({.name = "x", .shape = {1, 4}, .shape_signature = {-1, 4}});
  const WrittenSparsity sparsity = {
      {0, 1, 2, 3}, {0, 1}, {{2, {}, {}}, {0, {0, 1, 3}, {1, 0, 1}}, {2, {}, {}}, {2, {}, {}}}};
  const int32_t w = writer.AddSparseConstant<float>({"w", {4, 4}}, sparsity, std::vector<float>(12, 1.0f));
  const int32_t state = writer.AddTensor({.name = "state", .shape = {1, 4}, .is_variable = true});
  const int32_t y = writer.AddTensor({.name = "y", .shape = {1, 4}, .shape_signature = {-1, 4}});
  const int32_t shape = writer.AddTensor({"shape", {2}, wire::TensorType_INT32});
  const int32_t z = writer.AddTensor({.name = "z", .shape = {1, 4}, .shape_signature = {-1, 4}});
  const int32_t sum = writer.AddTensor({.name = "sum", .shape = {1, 4}, .shape_signature = {-1, 4}});
  writer.AddOperator(9, {x, w}, {y});       // FULLY_CONNECTED
  writer.AddOperator(77, {x}, {shape});     // SHAPE
  writer.AddOperator(22, {y, shape}, {z});  // RESHAPE
  writer.AddOperator(kAdd, {z, state}, {sum});
  writer.AddSignature("serve", 0, {{"in", x}}, {{"out", sum}});
  return writer.Finish({x}, {sum});
}

std::vector<std::byte> ModelWithALoop() {
  TfliteWriter writer;
  constexpr auto kInt = wire::TensorType_INT32, kBool = wire::TensorType_BOOL;
  const auto number = [&](int32_t of) { return writer.AddConstant<int32_t>({"", {}, kInt}, {of}); };
  const int32_t x = writer.AddTensor({"x", {2}}), y = writer.AddTensor({"y", {2}});
  writer.AddOperator(119, {number(0), x}, {writer.AddTensor({"", {}, kInt}), y},
                     wire::CreateWhileOptions(writer.builder(), 1, 2));
  writer.EndSubgraph({x}, {y});
  int32_t i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
  const int32_t goes_on = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(58, {i, number(2)}, {goes_on});  // LESS
  writer.EndSubgraph({i, v}, {goes_on});
  i = writer.AddTensor({"i", {}, kInt}), v = writer.AddTensor({"v", {2}});
  const int32_t next = writer.AddTensor({"", {}, kInt}), made = writer.AddTensor({"", {2}});
  const int32_t total = writer.AddTensor({"", {}}), is_small = writer.AddTensor({"", {}, kBool});
  writer.AddOperator(kAdd, {i, number(1)}, {next});
  writer.AddOperator(74, {v, writer.AddIntegers({0})}, {total}, wire::CreateReducerOptions(writer.builder(), false));
  writer.AddOperator(58, {total, writer.AddConstant<float>({"", {}}, {9.0f})}, {is_small});
  writer.AddOperator(118, {is_small, v}, {made}, wire::CreateIfOptions(writer.builder(), 3, 4));
  writer.EndSubgraph({i, v}, {next, made});
  v = writer.AddTensor({"v", {2}});
  const int32_t doubled = writer.AddTensor({"", {2}});
  writer.AddOperator(kAdd, {v, v}, {doubled});
  writer.EndSubgraph({v}, {doubled});
  v = writer.AddTensor({"v", {2}});
  writer.EndSubgraph({v}, {v});
  return writer.FinishFile();
}

}  // namespace hearth
