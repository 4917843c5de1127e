// What nodes make of constants, known before any run.
#include "core/graph/constant_results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/graph/element.h"
#include "core/graph/evaluate.h"

namespace hearth {
namespace {

// Numbers of 64 bits, of which doubles would not keep all.
std::vector<uint64_t> LongNumbers(int64_t count) {
  std::vector<uint64_t> numbers(static_cast<size_t>(count));
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = (uint64_t{1} << 53) + 1 + 2 * k;
  return numbers;
}

// The numbers that a node makes of the constant, which is each of its operands.
std::vector<uint64_t> ResultOf(Op op, const Shape& shape, size_t operands = 1) {
  const std::vector<uint64_t> numbers = LongNumbers(shape.element_count());
  Graph graph;
  std::vector<std::byte> bytes(numbers.size() * sizeof(uint64_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  const ValueId constant = graph.AddConstantValue("numbers", {DType::kInt64, shape, {}}, std::move(bytes));
  const ValueId made = graph.AddValue({.name = "made", .desc = {.dtype = DType::kInt64}});
  const Node& node = graph.AddNode(
      {.op = std::move(op), .inputs = std::vector(operands, constant), .outputs = {made}, .name = "node"});
  graph.outputs = {made};
  const Status inferred = InferShapes(graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
  const ConstantResults results = ResultsOfConstants(graph, node);
  if (results.size() != 1) return {};
  std::vector<uint64_t> result(results[0].size() / sizeof(uint64_t));
  std::memcpy(result.data(), results[0].data(), results[0].size());
  return result;
}

TEST(ConstantResults, OfATransposeKeepAllBits) {
  const std::vector<uint64_t> numbers = LongNumbers(6);
  EXPECT_EQ(ResultOf(Transpose{{1, 0}}, {2, 3}),
            (std::vector<uint64_t>{numbers[0], numbers[3], numbers[1], numbers[4], numbers[2], numbers[5]}));
}

TEST(ConstantResults, OfASliceBeginWhereItBegins) {
  const std::vector<uint64_t> numbers = LongNumbers(12);
  EXPECT_EQ(ResultOf(Slice{{1, 2}, {2, 2}, {1, 1}, {2, 2}}, {3, 4}),
            (std::vector<uint64_t>{numbers[6], numbers[7], numbers[10], numbers[11]}));
}

TEST(ConstantResults, OfAConcatAreTheRowsOfItsParts) {
  const std::vector<uint64_t> numbers = LongNumbers(4);
  EXPECT_EQ(ResultOf(Concat{.axis = 1}, {2, 2}, 2),
            (std::vector<uint64_t>{numbers[0], numbers[1], numbers[0], numbers[1], numbers[2], numbers[3], numbers[2],
                                   numbers[3]}));
}

TEST(ConstantResults, OfAReshapeAreTheSameBytes) {
  EXPECT_EQ(ResultOf(Reshape{{4, 3}}, {2, 6}), LongNumbers(12));
}

// As std::round does, between the least and the largest number of the type.
template <typename T>
double Rounded(double number) {
  constexpr auto kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  if (std::isnan(number)) return 0;
  const double rounded = std::round(number);
  if (rounded <= static_cast<double>(kLeast)) return static_cast<double>(kLeast);
  return rounded >= static_cast<double>(kMost) ? static_cast<double>(kMost)
                                               : static_cast<double>(static_cast<T>(rounded));
}

template <typename T>
void ExpectRounded(DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto most = static_cast<double>(std::numeric_limits<T>::max()),
             least = static_cast<double>(std::numeric_limits<T>::min());
  std::vector<double> numbers = {0.49999999999999994, 0.5,         1.5,        2.5,        std::nan(""),
                                 kInfinity,           0x1p53 - 1,  0x1p53 + 2, most - 0.5, most,
                                 most + 0.5,          most - 0.51, 0x1p63,     0x1p64,     1e300,
                                 least - 0.5,         least,       least + 0.5};
  for (size_t k = numbers.size(); k-- > 0;) numbers.push_back(-numbers[k]);
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  StoreElements(dtype, numbers, bytes);
  std::vector<double> stored(numbers.size());
  LoadElements(dtype, bytes, stored);
  for (size_t k = 0; k < numbers.size(); ++k) {
    EXPECT_EQ(stored[k], Rounded<T>(numbers[k])) << DTypeName(dtype) << " of " << numbers[k];
    EXPECT_EQ(stored[k], LoadElement(dtype, bytes, static_cast<int64_t>(k)));
    const bool is_stored = stored[k] == numbers[k];
    EXPECT_TRUE(is_stored || !AreStored(dtype, {&numbers[k], 1})) << DTypeName(dtype) << " of " << numbers[k];
  }
}

TEST(ConstantResults, OfIntegersAreRoundedHalfAwayFromZeroAndClamped) {
  ExpectRounded<int8_t>(DType::kInt8);
  ExpectRounded<uint8_t>(DType::kUInt8);
  ExpectRounded<int16_t>(DType::kInt16);
  ExpectRounded<uint16_t>(DType::kUInt16);
  ExpectRounded<int32_t>(DType::kInt32);
  ExpectRounded<uint32_t>(DType::kUInt32);
  ExpectRounded<int64_t>(DType::kInt64);
  ExpectRounded<uint64_t>(DType::kUInt64);
}

}  // namespace
}  // namespace hearth
