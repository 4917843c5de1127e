// Hearth's own kernels on the host along one dimension: rows, searches, running sums, recurrent networks.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "backends/cpu/host/vectorized.h"
#include "core/graph/ops/recurrent.h"
#include "tests/testing/one_host_node.h"

namespace hearth {
namespace {

using testing::ExpectAsReference;
using testing::KernelOf;
using testing::OneHostNode;

constexpr DType kIndexTypes[] = {DType::kInt32, DType::kInt64};

TEST(CpuSequenceKernels, RowsFollowTheReference) {
  for (const Op& op : {Op(Softmax{0.5f}), Op(Softmax{-2.0f}), Op(Softmax{-400.0f}), Op(LogSoftmax{}),
                       Op(L2Normalization{}), Op(L2Normalization{Activation::kRelu})}) {
    for (int32_t length : {1, 5, 100}) {
      OneHostNode one;
      one.Add(op, {one.Input({300, length})});
      ExpectAsReference(std::move(one), "rows");
    }
  }
}

TEST(CpuSequenceKernels, SoftmaxOfAFewClassesIsHearthsOwn) {
  for (int32_t classes : {1, 2, 3, 16}) {
    OneHostNode one;
    one.Add(Softmax{}, {one.Input({3000, classes})});
    if (KernelOf(one) == "rows" || BestVectorSet() != VectorSet::kBase) ExpectAsReference(std::move(one), "rows");
  }
}

TEST(CpuSequenceKernels, RowsKeepNanAndReachZero) {
  OneHostNode one;
  one.Add(Softmax{2.0f}, {one.Input({3, 20})});
  one.Set(0, 5, std::numeric_limits<float>::quiet_NaN());
  one.Set(0, 25, -std::numeric_limits<float>::infinity());
  one.Set(0, 45, -3000.0f);
  ExpectAsReference(std::move(one), "rows");
}

TEST(CpuSequenceKernels, SearchesFollowTheReferenceAlongEachDimension) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    for (int32_t axis : {0, 1, 2, -1}) {
      for (DType indices : kIndexTypes) {
        for (ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) {
          OneHostNode one;
          one.Add(ArgReduce{kind, axis}, {one.Input({4, 17, 300}, dtype)}, {indices});
          ExpectAsReference(std::move(one), "search");
        }
      }
      for (bool exclusive : {false, true}) {
        for (bool reverse : {false, true}) {
          OneHostNode one;
          one.Add(CumSum{axis, exclusive, reverse}, {one.Input({4, 17, 300}, dtype)}, {dtype});
          ExpectAsReference(std::move(one), "search");
        }
      }
    }
  }
}

TEST(CpuSequenceKernels, TheLargestElementsComeInOrder) {
  for (const DType integers : {DType::kInt32, DType::kInt64}) {
    OneHostNode whole;
    const ValueId x = whole.Input({9, 40}, integers);
    whole.Add(TopK{7}, {x}, {integers, DType::kInt32});
    ExpectAsReference(std::move(whole), "search");
  }
  OneHostNode one;
  const ValueId x = one.Input({9, 40});
  one.Add(TopK{7}, {x}, {DType::kFloat32, DType::kInt32});
  for (int64_t k : {1, 2, 3}) one.Set(0, k, 2.5f);  // equal ones
  for (int64_t k = 40; k < 76; ++k) one.Set(0, k, std::numeric_limits<float>::quiet_NaN());
  ExpectAsReference(std::move(one), "search");
}

TEST(CpuSequenceKernels, DifferentIntegersAreListedInTheOrderInWhichTheyComeFirst) {
  for (const DType integers : {DType::kInt32, DType::kInt64}) {
    for (const DType places : {DType::kInt32, DType::kInt64}) {
      OneHostNode one;
      one.Add(Unique{}, {one.Input({40}, integers)}, {integers, places, DType::kInt32});
      ExpectAsReference(std::move(one), "unique");
    }
  }
}

TEST(CpuSequenceKernels, OneHotVectorsStandAlongEachDimension) {
  for (DType indices : kIndexTypes) {
    for (DType values : {DType::kFloat32, DType::kInt64, DType::kBool}) {
      for (int32_t axis : {0, 1, -1}) {
        OneHostNode one;
        const ValueId places = one.Input({5, 6}, indices), on = one.Input({}, values);
        one.Add(OneHot{axis, 4}, {places, on, one.Input({1}, values)}, {values});
        ExpectAsReference(std::move(one), "one-hot");
      }
    }
  }
}

// With every operand or the fewest, as one step or a sequence of either order.
OneHostNode LstmOf(const Shape& x, bool time_major, int gates, bool with_all) {
  constexpr int32_t kUnits = 20;
  const int32_t outputs = with_all ? 6 : kUnits, rows = gates * kUnits, depth = x[x.rank() - 1];
  const int32_t batch = SequenceOf(x, time_major).batch;
  OneHostNode one;
  std::vector<ValueId> operands = {one.Input(x),
                                   one.Input({batch, outputs}),
                                   one.Input({batch, kUnits}),
                                   one.Constant({rows, depth}),
                                   one.Constant({rows, outputs}),
                                   one.Constant({rows})};
  if (with_all) {
    operands.insert(operands.end(), {one.Constant({rows - kUnits}), one.Constant({rows}),
                                     one.Constant({outputs, kUnits}), one.Constant({outputs})});
  }
  Lstm op{.time_major = time_major, .activation = Activation::kTanh};
  if (with_all) op.cell_clip = op.proj_clip = 0.8f;
  one.Add(op, std::move(operands), std::vector(3, DType::kFloat32));
  return one;
}

TEST(CpuSequenceKernels, SvdfFollowsTheReferenceInEachForm) {
  for (const int32_t batch : {1, 3}) {
    for (const int32_t memory : {1, 2, 10}) {
      for (const int32_t rank : {1, 2}) {
        for (const bool has_bias : {false, true}) {
          OneHostNode one;
          std::vector<ValueId> operands = {one.Input({batch, 33}), one.Input({batch, 24 * memory}),
                                           one.Constant({24, 33}), one.Constant({24, memory})};
          if (has_bias) operands.push_back(one.Constant({24 / rank}));
          one.Add(Svdf{rank, has_bias ? Activation::kRelu : Activation::kNone}, std::move(operands),
                  {DType::kFloat32, DType::kFloat32});
          ExpectAsReference(std::move(one), "recurrent");
        }
      }
    }
  }
}

TEST(CpuSequenceKernels, LstmFollowsTheReferenceInEachForm) {
  for (int gates : {3, 4}) {
    for (bool with_all : {false, true}) {
      ExpectAsReference(LstmOf({2, 7, 9}, false, gates, with_all), "recurrent");
      ExpectAsReference(LstmOf({7, 2, 9}, true, gates, with_all), "recurrent");
      ExpectAsReference(LstmOf({3, 9}, false, gates, with_all), "recurrent");
    }
  }
}

// With weights in 8 bits and a scale for each row. `zero_point`: of all weights.
OneHostNode QuantizedLstmOf(const Shape& x, int32_t units, int64_t zero_point) {
  const int32_t rows = 4 * units, depth = x[x.rank() - 1], batch = SequenceOf(x, true).batch;
  OneHostNode one;
  const auto bytes = [&](int32_t columns) {
    std::mt19937 random(20261129);
    std::vector<std::byte> numbers(static_cast<size_t>(rows * columns));
    for (std::byte& number : numbers) number = static_cast<std::byte>(random());
    return one.graph.AddConstantValue(
        "w", {DType::kInt8, {rows, columns}, Quantization{{1.0f}, {zero_point}, 0, nullptr}}, std::move(numbers));
  };
  std::vector<float> scales;
  for (int32_t row = 0; row < rows; ++row) scales.push_back(1e-4f * static_cast<float>(1 + row % 7));
  const ValueId of_rows = one.graph.AddFloatConstant("scales", {rows}, scales);
  std::vector<ValueId> operands = {one.Input(x), one.Input({batch, units}), one.Input({batch, units}), bytes(depth),
                                   bytes(units), one.Constant({rows})};
  operands.resize(kLstmWeightScales, kNoValue);
  operands.insert(operands.end(), {of_rows, of_rows});
  one.Add(Lstm{.time_major = true, .activation = Activation::kTanh}, std::move(operands),
          std::vector(3, DType::kFloat32));
  return one;
}

// Of several steps, states of double precision are counted in other steps here and there.
TEST(CpuSequenceKernels, QuantizedLstmFollowsTheReference) {
  for (const int64_t zero_point : {0, 3}) {
    for (const int32_t batch : {1, 2, 3, 7}) {
      for (const int32_t depth : {1, 15, 16, 64, 67, 200}) {
        for (const int32_t units : {1, 5, 16, 67})
          ExpectAsReference(QuantizedLstmOf({1, batch, depth}, units, zero_point), "recurrent");
      }
    }
    ExpectAsReference(QuantizedLstmOf({40, 2, 200}, 67, zero_point), "recurrent", 5e-3);
  }
}

TEST(CpuSequenceKernels, QuantizedLstmKeepsNanInItsSequence) {
  OneHostNode one = QuantizedLstmOf({1, 3, 40}, 5, 0);
  one.Set(0, 50, std::numeric_limits<float>::quiet_NaN());
  ExpectAsReference(std::move(one), "recurrent");
  for (const float infinity : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    OneHostNode other = QuantizedLstmOf({1, 3, 40}, 5, 0);
    other.Set(0, 50, infinity);
    ExpectAsReference(std::move(other), "recurrent");
  }
}

// A 255th of them is no float but 0.
TEST(CpuSequenceKernels, QuantizedLstmTakesTheLeastNumbersForZeros) {
  OneHostNode one = QuantizedLstmOf({1, 1, 20}, 5, 0);
  for (int64_t k = 0; k < 20; ++k) one.Set(0, k, 1e-44f);
  ExpectAsReference(std::move(one), "recurrent");
}

TEST(CpuSequenceKernels, RnnFollowsTheReferenceInEachOrder) {
  for (bool time_major : {false, true}) {
    OneHostNode one;
    const ValueId x = one.Input({3, 3, 8}), h = one.Input({3, 10});
    one.Add(Rnn{time_major, Activation::kTanh},
            {x, h, one.Constant({10, 8}), one.Constant({10, 10}), one.Constant({10})},
            {DType::kFloat32, DType::kFloat32});
    ExpectAsReference(std::move(one), "recurrent");
  }
}

TEST(CpuSequenceKernels, FunctionsOfElementsReachZeroAndInfinityAndKeepNan) {
  OneHostNode one;
  one.Add(Unary{UnaryKind::kExp}, {one.Input({50})});
  const float special[] = {-500.0f,
                           -90.0f,
                           88.6f,
                           89.0f,
                           500.0f,
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  for (int64_t k = 0; k < 8; ++k) one.Set(0, k, special[k]);
  ExpectAsReference(std::move(one), "elementwise");
}

}  // namespace
}  // namespace hearth
