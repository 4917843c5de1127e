// Hearth's own kernels on the host: products, operations of two operands, look-ups, conversions, reductions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/vectorized.h"
#include "core/graph/ops/elementwise_table.h"
#include "tests/testing/one_host_node.h"

namespace hearth {
namespace {

using testing::ExpectAsReference;
using testing::KernelOf;
using testing::OneHostNode;

constexpr DType kIntegers[] = {DType::kInt32, DType::kInt64};
const std::string kXnnpack = "xnnpack";  // takes some of these where it is built in

void ExpectBatchMatMul(const BatchMatMul& op, const Shape& a, const Shape& b, bool b_is_constant = false) {
  OneHostNode one;
  const ValueId left = one.Input(a);
  one.Add(op, {left, b_is_constant ? one.Constant(b) : one.Input(b)});
  const int32_t columns = b[b.rank() - (op.adjoint_b ? 2 : 1)], rows = a[a.rank() - (op.adjoint_a ? 1 : 2)];
  const bool is_one_tall_matrix = b.rank() == 2 && !op.adjoint_a;
  const int64_t all_rows = is_one_tall_matrix ? a.element_count() / a[a.rank() - 1] : rows;
  const bool are_few = !b_is_constant && (all_rows <= 4 || columns == 1);
  ExpectAsReference(std::move(one), are_few ? "rows times matrix" : "matrix product");
}

TEST(CpuKernels, MatrixProductsFollowTheReferenceForEachSizeOfATile) {
  for (int32_t rows : {1, 2, 4, 5, 13, 25, 100}) {
    for (int32_t columns : {1, 7, 16, 17, 32, 33, 70}) ExpectBatchMatMul({}, {rows, 19}, {19, columns});
  }
}

TEST(CpuKernels, MatrixProductsFollowTheReferenceForEachOrderOfTheirOperands) {
  for (bool constant : {false, true}) {
    ExpectBatchMatMul({false, false}, {2, 3, 21, 40}, {2, 3, 40, 35}, constant);
    ExpectBatchMatMul({true, false}, {2, 3, 40, 21}, {2, 3, 40, 35}, constant);
    ExpectBatchMatMul({false, true}, {2, 3, 21, 40}, {2, 3, 35, 40}, constant);
    ExpectBatchMatMul({true, true}, {2, 3, 40, 21}, {2, 3, 35, 40}, constant);
  }
}

TEST(CpuKernels, FewRowsAndOneColumnFollowTheReferenceForEachOrderOfTheirOperands) {
  for (const int32_t rows : {1, 3}) {
    for (const int32_t depth : {1, 4, 19, 40}) {
      ExpectBatchMatMul({false, false}, {2, 3, rows, depth}, {2, 3, depth, 35});
      ExpectBatchMatMul({true, false}, {2, 3, depth, rows}, {2, 3, depth, 35});
      ExpectBatchMatMul({false, true}, {2, 3, rows, depth}, {2, 3, 35, depth});
      ExpectBatchMatMul({true, true}, {2, 3, depth, rows}, {2, 3, 35, depth});
    }
  }
  ExpectBatchMatMul({}, {2, 1, 5}, {2, 5, 2100});
  ExpectBatchMatMul({}, {2, 37, 21}, {2, 21, 1});
  ExpectBatchMatMul({true, false}, {2, 21, 37}, {2, 21, 1});
}

TEST(CpuKernels, MatrixProductsBroadcastTheirLeadingDimensions) {
  ExpectBatchMatMul({}, {4, 9, 8}, {8, 5});
  ExpectBatchMatMul({}, {9, 8}, {4, 8, 5});
  ExpectBatchMatMul({}, {2, 1, 9, 8}, {1, 3, 8, 5});
  ExpectBatchMatMul({true, false}, {3, 8, 9}, {1, 8, 5});
}

TEST(CpuKernels, DeepMatrixProductsContinueTheirSums) {
  OneHostNode one;
  const ValueId a = one.Input({14, 2500});
  one.Add(BatchMatMul{}, {a, one.Input({2500, 37})});
  ExpectAsReference(std::move(one), "matrix product", 1e-3);  // sums of 2500 products of up to 36
}

TEST(CpuKernels, FunctionsKeepNanOfAnyBits) {
  std::vector<float> numbers;
  for (uint32_t low = 1; low < 0x400; ++low) numbers.push_back(std::bit_cast<float>(0x7f800000 | low | low << 13));
  for (UnaryKind kind : {UnaryKind::kTanh, UnaryKind::kLogistic, UnaryKind::kGelu, UnaryKind::kExp}) {
    std::vector<float> results(numbers.size());
    ApplyUnary(Unary{kind}, numbers, results);
    EXPECT_TRUE(std::ranges::all_of(results, [](float y) { return std::isnan(y); })) << static_cast<int>(kind);
  }
}

TEST(CpuKernels, MatrixProductsKeepNan) {
  OneHostNode one;
  const ValueId a = one.Input({20, 30}), b = one.Input({30, 40});
  one.Add(BatchMatMul{}, {a, b});
  one.Set(0, 95, std::numeric_limits<float>::quiet_NaN());
  ExpectAsReference(std::move(one), "matrix product");
}

TEST(CpuKernels, FullyConnectedTakesWeightsThatAreComputed) {
  for (Activation activation : {Activation::kNone, Activation::kRelu6, Activation::kTanh}) {
    OneHostNode one;
    FullyConnected op;
    op.activation = activation;
    const ValueId x = one.Input({5, 33}), weights = one.Input({18, 33});
    one.Add(op, {x, weights, one.Input({18})});
    ExpectAsReference(std::move(one), "matrix product");
  }
}

TEST(CpuKernels, ConvolutionsAsProductsFollowTheReferenceForEachWindow) {
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "XNNPACK's are taken without AVX2";
  for (Activation activation : {Activation::kNone, Activation::kRelu6, Activation::kSigmoid}) {
    for (int32_t stride : {1, 2}) {
      for (int32_t dilation : {1, 2}) {
        for (PaddingMode mode : {PaddingMode::kSame, PaddingMode::kValid}) {
          for (const Shape& filter : {Shape{35, 3, 2, 5}, Shape{16, 1, 1, 5}}) {
            OneHostNode one;
            Conv2D conv{{stride, stride, dilation, dilation, {mode}}, activation};
            const ValueId x = one.Input({2, 14, 11, 5});
            one.Add(conv, {x, one.Constant(filter), one.Constant({filter[0]})});
            ExpectAsReference(std::move(one), "convolution", 1e-4);
          }
        }
      }
    }
  }
}

TEST(CpuKernels, ConvolutionsOfWideImagesReadTheirWindowsInPlace) {
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "XNNPACK's are taken without AVX2";
  constexpr Padding2D kPaddings[] = {{PaddingMode::kSame},
                                     {PaddingMode::kValid},
                                     {PaddingMode::kExplicit, 0, 3, 0, 0},
                                     {PaddingMode::kExplicit, 2, 0, 1, 4}};
  for (const Padding2D& padding : kPaddings) {
    for (int32_t stride : {1, 2}) {
      for (int32_t dilation : {1, 3}) {
        OneHostNode one;
        const ValueId x = one.Input({2, 13, 61, 3});
        one.Add(Conv2D{{stride, stride, dilation, dilation, padding}, Activation::kRelu},
                {x, one.Constant({21, 3, 2, 3}), one.Constant({21})});
        ExpectAsReference(std::move(one), "convolution", 1e-4);
      }
    }
  }
}

TEST(CpuKernels, LargeConvolutionsKeepNanWhereTheirWindowsReadIt) {
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "XNNPACK's are taken without AVX2";
  OneHostNode one;
  Conv2D conv{{1, 1, 1, 1, {PaddingMode::kSame}}, Activation::kRelu};
  const ValueId x = one.Input({1, 40, 40, 16});
  one.Add(conv, {x, one.Constant({20, 3, 3, 16}), kNoValue});
  one.Set(0, 5000, std::numeric_limits<float>::quiet_NaN());
  ExpectAsReference(std::move(one), "winograd", 1e-3);
}

TEST(CpuKernels, SmallWindowsOfManyChannelsAreWinogradsProducts) {
  // The sizes of up to 576 products add up to 1,700, and float32 rounds by 6e-8 of that. Between the transforms, whose
  // rows add up to 10 and to 19, numbers are up to 40 times as large.
  constexpr double kTolerance = 4e-3;
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "XNNPACK's are taken without AVX2";
  for (const Padding2D& padding :
       {Padding2D{PaddingMode::kSame}, Padding2D{PaddingMode::kValid}, Padding2D{PaddingMode::kExplicit, 2, 0, 1, 3}}) {
    for (const Activation activation : {Activation::kNone, Activation::kRelu6, Activation::kTanh}) {
      for (const Shape& filter : {Shape{16, 3, 3, 18}, Shape{37, 3, 3, 16}, Shape{130, 3, 3, 64}}) {
        OneHostNode one;
        const ValueId x = one.Input({2, 13, 11, filter[3]});
        one.Add(Conv2D{{1, 1, 1, 1, padding}, activation}, {x, one.Constant(filter), one.Constant({filter[0]})});
        ExpectAsReference(std::move(one), "winograd", kTolerance);
      }
    }
  }
}

TEST(CpuKernels, WinogradsProductsThatOverflowAreSumsOfWindows) {
  if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "XNNPACK's are taken without AVX2";
  OneHostNode one;
  const ValueId x = one.Input({1, 12, 12, 16});
  one.Add(Conv2D{{1, 1, 1, 1, {PaddingMode::kSame}}, Activation::kNone}, {x, one.Constant({16, 3, 3, 16}), kNoValue});
  one.Set(0, 777, 3e37f);  // its patch would be 1e39
  ExpectAsReference(std::move(one), "winograd", 1e-4);
}

TEST(CpuKernels, AnInfiniteWeightCountsNotWhereItLiesInThePadding) {
  for (const int32_t width : {8, 40}) {  // windows that are copied, and those that are read in place
    OneHostNode one;
    const Shape shape = {4, 3, 3, 2};
    std::vector<float> weights(static_cast<size_t>(shape.element_count()), 1.0f);
    weights[0] = std::numeric_limits<float>::infinity();  // the upper left place of the first filter
    const ValueId x = one.Input({1, 8, width, 2});
    one.Add(Conv2D{{1, 1, 1, 1, {PaddingMode::kSame}}, Activation::kNone},
            {x, one.graph.AddFloatConstant("weights", shape, weights), kNoValue});
    const std::string kernel = KernelOf(one);
    ExpectAsReference(std::move(one), kernel);
  }
}

TEST(CpuKernels, OperationsOfTwoOperandsFollowTheReferenceForEachKindAndType) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool}) {
    for (const BinaryRow& row : BinaryRows()) {
      const bool is_integer = dtype == DType::kInt32 || dtype == DType::kInt64, is_bool = dtype == DType::kBool;
      const bool is_compared = row.rule == ElementRule::kCompared, is_logical = row.rule == ElementRule::kLogical;
      if (is_integer ? row.integer_text.empty() : row.text.empty()) continue;
      if (is_bool ? !is_compared && !is_logical : is_logical) continue;
      if (row.kind == BinaryKind::kPow && !is_integer) continue;  // of negative numbers
      for (const Shape& other : {Shape{3, 1, 5}, Shape{5}, Shape{2, 3, 4, 5}, Shape{2, 1, 4, 1}, Shape{}}) {
        OneHostNode one;
        const ValueId a = one.Input({2, 3, 4, 5}, dtype), b = one.Input(other, dtype);
        one.Add(Binary{row.kind}, {b, a}, {is_compared ? DType::kBool : dtype});
        const std::string kernel = KernelOf(one) == kXnnpack ? kXnnpack : "binary";
        ExpectAsReference(std::move(one), kernel);
      }
    }
  }
}

TEST(CpuKernels, ComparisonsOfALargeTensorAreSharedByThreads) {
  OneHostNode one;
  const ValueId a = one.Input({70, 33, 41}), b = one.Input({33, 1});
  one.Add(Binary{BinaryKind::kGreaterEqual}, {a, b}, {DType::kBool});
  ExpectAsReference(std::move(one), "binary");
}

TEST(CpuKernels, FunctionsOfIntegersFollowTheReference) {
  for (DType dtype : kIntegers) {
    for (UnaryKind kind : {UnaryKind::kNeg, UnaryKind::kAbs, UnaryKind::kSign, UnaryKind::kSquare}) {
      OneHostNode one;
      one.Add(Unary{kind}, {one.Input({300, 70}, dtype)}, {dtype});
      ExpectAsReference(std::move(one), "elementwise");
    }
  }
  OneHostNode truth;
  truth.Add(Unary{UnaryKind::kLogicalNot}, {truth.Input({90}, DType::kBool)}, {DType::kBool});
  ExpectAsReference(std::move(truth), "elementwise");
}

TEST(CpuKernels, AnyNumberOfTensorsIsAddedUp) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    OneHostNode one;
    const ValueId a = one.Input({200, 101}, dtype), b = one.Input({200, 101}, dtype);
    one.Add(AddN{}, {a, b, one.Input({200, 101}, dtype)}, {dtype});
    ExpectAsReference(std::move(one), "add all");
  }
}

TEST(CpuKernels, PReluTakesSlopesOfEachShape) {
  for (const Shape& slopes : {Shape{4, 5, 6}, Shape{4, 1, 6}, Shape{1}}) {
    OneHostNode one;
    const ValueId x = one.Input({3, 4, 5, 6});
    one.Add(PRelu{}, {x, one.Constant(slopes)});
    ExpectAsReference(std::move(one), "binary");
  }
}

TEST(CpuKernels, SelectFollowsTheReferenceForEachTypeAndShape) {
  for (DType dtype : {DType::kFloat32, DType::kInt64, DType::kBool}) {
    for (const Shape& condition : {Shape{2, 3, 40}, Shape{3, 1}, Shape{}}) {
      for (const Shape& other : {Shape{2, 3, 40}, Shape{40}, Shape{}}) {
        OneHostNode one;
        const ValueId chooses = one.Input(condition, DType::kBool), a = one.Input({2, 3, 40}, dtype);
        one.Add(Select{}, {chooses, a, one.Input(other, dtype)}, {dtype});
        ExpectAsReference(std::move(one), "select");
      }
    }
  }
  OneHostNode rows;
  const ValueId chooses = rows.Input({7}, DType::kBool), a = rows.Input({7, 9}), b = rows.Input({7, 9});
  rows.Add(SelectRows{}, {chooses, a, b});
  ExpectAsReference(std::move(rows), "select");
}

TEST(CpuKernels, LookUpsFollowTheReferenceAlsoOutsideOfTheTable) {
  for (DType indices : kIntegers) {
    for (const Gather& gather : {Gather{0, 0}, Gather{1, 0}, Gather{2, 0}, Gather{2, 1}}) {
      OneHostNode one;
      const ValueId x = one.Input({4, 5, 3, 6});
      one.Add(gather, {x, one.Input({4, 7}, indices)});
      ExpectAsReference(std::move(one), "look-up");
    }
    OneHostNode table;
    table.Add(Gather{}, {table.Constant({5, 40}), table.Input({2, 3}, indices)});
    ExpectAsReference(std::move(table), "look-up");
    OneHostNode nd;
    const ValueId x = nd.Input({4, 5, 6});
    nd.Add(GatherNd{}, {x, nd.Input({3, 2, 2}, indices)});
    ExpectAsReference(std::move(nd), "look-up");
  }
}

TEST(CpuKernels, ScatteredRowsFollowTheReferenceAlsoOutsideOfTheMatrix) {
  const auto expect = [](std::optional<BinaryKind> kind, DType dtype, const std::string& kernel) {
    OneHostNode one;
    const ValueId matrix = one.Input({5, 3}, dtype), rows = one.Input({9, 3}, dtype);
    one.Add(Scatter{kind}, {matrix, rows, one.Input({9}, DType::kInt32)}, {dtype});
    const int32_t places[] = {4, 0, -1, 4, 5, 2, 2, 2147483647, -2147483647};
    for (int64_t k = 0; k < 9; ++k) one.Set(2, k, places[k]);
    ExpectAsReference(std::move(one), kernel);
  };
  for (DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8, DType::kBool}) {
    expect(std::nullopt, dtype, "scatter");
  }
  for (BinaryKind kind : {BinaryKind::kAdd, BinaryKind::kMul, BinaryKind::kMaximum, BinaryKind::kMinimum}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kInt8, DType::kUInt16}) {
      expect(kind, dtype, "scatter");
    }
  }
}

TEST(CpuKernels, UpdatesOfSlicesStayInside) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    OneHostNode one;
    const ValueId x = one.Input({3, 8, 4}, dtype), update = one.Input({2, 3, 4}, dtype);
    one.Add(DynamicUpdateSlice{}, {x, update, one.Input({3}, DType::kInt32)}, {dtype});
    ExpectAsReference(std::move(one), "update");
  }
}

TEST(CpuKernels, CastsFollowTheReferenceBetweenAllTypes) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kInt16,
                              DType::kInt8,    DType::kUInt8, DType::kBool};
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      OneHostNode one;
      one.Add(Cast{to}, {one.Input({3, 50}, from)}, {to});
      if (from == DType::kFloat32) {
        const float special[] = {std::numeric_limits<float>::infinity(), -1e30f, 3e9f, -0.5f, 255.5f};
        for (int64_t k = 0; k < 5; ++k) one.Set(0, k, special[k]);
      }
      ExpectAsReference(std::move(one), "cast");
    }
  }
}

TEST(CpuKernels, ReductionsFollowTheReferenceForEachKindTypeAndAxes) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool}) {
    for (ReduceKind kind : {ReduceKind::kMean, ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kProd,
                            ReduceKind::kAny, ReduceKind::kAll}) {
      const bool is_logical = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
      if (is_logical != (dtype == DType::kBool)) continue;
      for (uint32_t axes = 1; axes < 16; ++axes) {
        OneHostNode one;
        one.Add(Reduce{kind, axes, axes % 2 == 0}, {one.Input({2, 3, 2, 19}, dtype)}, {dtype});
        const std::string kernel = KernelOf(one) == kXnnpack ? kXnnpack : "reduce";
        ExpectAsReference(std::move(one), kernel);
      }
    }
  }
}

TEST(CpuKernels, LargeReductionsAreSharedByThreads) {
  for (uint32_t axes : {1u, 2u, 4u, 5u}) {
    OneHostNode one;
    one.Add(Reduce{ReduceKind::kSum, axes}, {one.Input({60, 31, 300})});
    ExpectAsReference(std::move(one), "reduce");
  }
}

TEST(CpuKernels, ReductionsKeepNan) {
  for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin}) {
    for (uint32_t axes : {1u, 2u}) {
      OneHostNode one;
      one.Add(Reduce{kind, axes}, {one.Input({37, 41})});
      for (int64_t k : {0, 40, 700}) one.Set(0, k, std::numeric_limits<float>::quiet_NaN());
      ExpectAsReference(std::move(one), "reduce");
    }
  }
}

void ExpectConvolutionByAChangingFilter(const Window2D& window, const Shape& x, const Shape& filter, float weight) {
  OneHostNode one;
  const ValueId image = one.Input(x);
  one.Add(Conv2D{window, Activation::kRelu}, {image, one.Input(filter)});
  one.Set(1, 3, weight);
  ExpectAsReference(std::move(one), "convolution");
}

TEST(CpuKernels, FiltersThatANodeMakesArePackedInEachRun) {
  const Window2D same{1, 1, 1, 1, {PaddingMode::kSame}}, apart{2, 1, 1, 2, {}};
  ExpectConvolutionByAChangingFilter(same, {2, 7, 30, 5}, {6, 3, 3, 5}, 1.0f);
  ExpectConvolutionByAChangingFilter(apart, {1, 9, 12, 4}, {20, 2, 3, 4}, 1.0f);
  ExpectConvolutionByAChangingFilter({}, {1, 9, 12, 4}, {20, 1, 1, 4}, 1.0f);
  // Padding is not multiplied with.
  ExpectConvolutionByAChangingFilter(same, {1, 5, 6, 3}, {4, 3, 3, 3}, std::numeric_limits<float>::infinity());
  ExpectConvolutionByAChangingFilter(same, {1, 5, 6, 3}, {4, 3, 3, 3}, NAN);
}

}  // namespace
}  // namespace hearth
