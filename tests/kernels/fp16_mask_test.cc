// Masks beyond float16's range, on devices that store real numbers in 16 bits.
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "tests/testing/graph_from_text.h"
#include "tests/testing/on_device.h"
#include "tests/testing/run_lowered.h"

namespace hearth {
namespace {

constexpr int kRows = 8, kChannels = 12;

Result<std::vector<float>> RunOn(const OpenedDevice& opened, const std::string& text, Precision precision,
                                 float scale) {
  HEARTH_ASSIGN(Graph graph, GraphFromText(text));
  HEARTH_TRY(InferShapes(graph));
  LowerOptions options{.precision = precision};
  HEARTH_TRY(RunPasses(graph, opened.info, {}));
  std::vector<float> x(kRows * kChannels), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = scale * (static_cast<float>(i % 7) - 40.0f);
  HEARTH_ASSIGN(const std::vector<std::byte> stored,
                testing::RunLowered(opened, graph, options, std::as_bytes(std::span(x))));
  std::memcpy(y.data(), stored.data(), stored.size());
  return y;
}

class Fp16Mask : public testing::Fp16Device {
 protected:
  void ExpectEvenRows(const std::string& text, float scale = 1) {
    for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
      SCOPED_TRACE(::testing::Message() << PrecisionName(precision) << "\n" << text);
      const Result<std::vector<float>> y = RunOn(opened_, text, precision, scale);
      ASSERT_TRUE(y.ok()) << y.status().message();
      for (float number : *y) ASSERT_NEAR(number, 1.0f / kChannels, 1e-3f);
    }
  }
  void ExpectRowsOfFloat32(const std::string& text) {
    const Result<std::vector<float>> expected = RunOn(opened_, text, Precision::kFp32, 1);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
      SCOPED_TRACE(::testing::Message() << PrecisionName(precision) << "\n" << text);
      const Result<std::vector<float>> y = RunOn(opened_, text, precision, 1);
      ASSERT_TRUE(y.ok()) << y.status().message();
      for (size_t i = 0; i < y->size(); ++i) ASSERT_NEAR((*y)[i], (*expected)[i], 1e-3f);
    }
  }
};

std::string Masked(const char* op, const char* number) {
  return fmt::format(R"(graph "mask"
%0 = input : float32[1x2x4x12] "x"
%1 = constant : float32[1x2x4x12] "mask" = fill({1})
%2 = {0}(%0, %1) : float32[1x2x4x12] "masked" node "mask" operator 0
%3 = softmax(%2) : float32[1x2x4x12] "y" node "softmax" operator 1
output %3
)",
                     op, number);
}

TEST_P(Fp16Mask, ASoftmaxOfAWhollyMaskedRowIsEven) {
  for (const char* mask : {"-1e9", "-3.4e38"}) ExpectEvenRows(Masked("add", mask));
}

TEST_P(Fp16Mask, WhatFloat32TellsApartBehindAMaskStaysApart) {
  ExpectRowsOfFloat32(Masked("add", "-1e5"));
  ExpectRowsOfFloat32(Masked("mul", "1e9"));
}

// What the caller gives is stored in 16 bits: it can't be told from its neighbours.
TEST_P(Fp16Mask, ARowOfTheInputWhollyBelowTheRangeIsEven) {
  ExpectEvenRows(R"(graph "given"
%0 = input : float32[1x2x4x12] "x"
%1 = softmax(%0) : float32[1x2x4x12] "y" node "softmax" operator 0
output %1
)",
                 1e9f);
}

INSTANTIATE_TEST_SUITE_P(Devices, Fp16Mask, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
