// What only moves elements costs a dispatch where a reader needs it moved, and none where that finds the elements
// itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

DeviceInfo PlainDevice() {
  DeviceInfo info;
  info.backend = "opencl";
  info.dialect = Dialect::kOpenCl;
  info.type = DeviceType::kCpu;
  info.name = "a device of the test";
  info.max_local_invocations = 256;
  info.max_local_size = {256, 256, 64};
  info.max_storage_buffers = 8;
  info.buffer_offset_alignment = 128;
  return info;
}

Plan PlanOf(const std::string& text, const DeviceInfo& device = PlainDevice()) {
  return testing::Lowered(testing::Parsed(text), device);
}

int CountOf(const Plan& plan, const std::string& kernel) {
  return static_cast<int>(std::ranges::count_if(
      plan.dispatches, [&](const Dispatch& dispatch) { return plan.kernels[dispatch.kernel].name == kernel; }));
}

// Attention of two heads of `depth` channels over 6 tokens, and what reads its parts besides.
std::string Attention(int depth, const std::string& behind) {
  const std::string d = std::to_string(depth), all = std::to_string(2 * depth);
  return "graph \"attention\"\n%0 = input : float32[1x6x" + all + "] \"q\"\n%1 = input : float32[1x6x" + all +
         "] \"k\"\n" + "%2 = reshape(%0) shape=1x6x2x" + d + " : float32[1x6x2x" + d + "] \"q_apart\"\n" +
         "%3 = transpose(%2) permutation=0,2,1,3 : float32[1x2x6x" + d + "] \"q_heads\"\n" +
         "%4 = reshape(%1) shape=1x6x2x" + d + " : float32[1x6x2x" + d + "] \"k_apart\"\n" +
         "%5 = transpose(%4) permutation=0,2,1,3 : float32[1x2x6x" + d + "] \"k_heads\"\n" +
         "%6 = batch_matmul(%3, %5) adjoint_b=true : float32[1x2x6x6] \"scores\"\n" +
         "%7 = softmax(%6) : float32[1x2x6x6] \"weights\"\n" + "%8 = batch_matmul(%7, %5) : float32[1x2x6x" + d +
         "] \"heads\"\n" + "%9 = transpose(%8) permutation=0,2,1,3 : float32[1x6x2x" + d + "] \"together\"\n" +
         "%10 = reshape(%9) shape=1x6x" + all + " : float32[1x6x" + all + "] \"y\"\n" + behind;
}

TEST(MovedValues, AttentionCopiesNoHead) {
  const Plan plan = PlanOf(Attention(8, "%11 = softmax(%10) : float32[1x6x16] \"z\"\noutput %11\n"));
  EXPECT_EQ(plan.dispatches.size(), 4u) << "two products and two softmaxes";
}

TEST(MovedValues, HeadsThatEndWithinATexelAreCopiedOnceEach) {
  const Plan plan = PlanOf(Attention(6, "%11 = softmax(%10) : float32[1x6x12] \"z\"\noutput %11\n"));
  EXPECT_EQ(CountOf(plan, "strided_copy"), 3) << "reshape and transpose are one copy";
}

TEST(MovedValues, AResultThatOthersReadIsNotStoredElsewhere) {
  const Plan outputs = PlanOf(Attention(8, "output %8\noutput %10\n"));
  EXPECT_EQ(CountOf(outputs, "strided_copy"), 1);
  const Plan twice = PlanOf(Attention(8, "%11 = softmax(%8) : float32[1x2x6x8] \"z\"\noutput %10\noutput %11\n"));
  EXPECT_EQ(CountOf(twice, "strided_copy"), 1);
  const Plan between = PlanOf(Attention(8, "%11 = softmax(%9) : float32[1x6x2x8] \"z\"\noutput %10\noutput %11\n"));
  EXPECT_EQ(CountOf(between, "strided_copy"), 2) << "of the product, to both of its moved forms";
}

TEST(MovedValues, AnOutputIsMovedThoughNothingElseReadsIt) {
  EXPECT_EQ(CountOf(PlanOf(Attention(8, "output %3\noutput %10\n")), "strided_copy"), 1);
}

// A value of 16 pixels and 24 channels, and `first` to `first` + 8 of them.
std::string Part(int first, const std::string& behind) {
  const std::string at = std::to_string(first);
  return "graph \"part\"\n%0 = input : float32[1x16x24] \"x\"\n%1 = softmax(%0) : float32[1x16x24] \"a\"\n"
         "%2 = slice(%1) begin=0,0," +
         at + " size=1,16,8 strides=1,1,1 shape=1x16x8 : float32[1x16x8] \"part\"\n" + behind;
}

TEST(MovedValues, WholeSlicesOfChannelsAreReadWhereTheyLie) {
  const std::string behind = "%3 = softmax(%2) : float32[1x16x8] \"y\"\noutput %3\n";
  const Plan plan = PlanOf(Part(8, behind));
  ASSERT_EQ(plan.dispatches.size(), 2u);
  const Dispatch &first = plan.dispatches[0], &second = plan.dispatches[1];
  EXPECT_EQ(second.tensors[0].offset_bytes, first.tensors[1].offset_bytes + 2 * 16 * 16) << "two slices further on";
  EXPECT_EQ(second.tensors[0].size_bytes, 2u * 16 * 16);
  EXPECT_EQ(PlanOf(Part(10, behind)).dispatches.size(), 3u) << "within a texel";
  DeviceInfo coarse = PlainDevice();
  coarse.buffer_offset_alignment = 4096;
  EXPECT_EQ(PlanOf(Part(8, behind), coarse).dispatches.size(), 3u);
}

TEST(MovedValues, APartMayBeTheResult) {
  const Plan plan = PlanOf(Part(16, "output %2\n"));
  EXPECT_EQ(plan.dispatches.size(), 1u);
  EXPECT_EQ(plan.outputs[0].transfer.range.size_bytes, 2u * 16 * 16);
}

TEST(MovedValues, AStateIsReadBeforeAnotherStateTakesItsPlace) {
  const Plan plan = PlanOf(R"(graph "states"
%0 = input : float32[1x4x8] "x"
%1 = value : float32[1x4x8] "old"
%2 = value : float32[1x8x4] "older"
%3 = transpose(%1) permutation=0,2,1 : float32[1x8x4] "turned"
%4 = add(%0, %1) : float32[1x4x8] "sum"
%5 = softmax(%2) : float32[1x8x4] "y"
output %5
state %1 = %4
state %2 = %3
)");
  std::vector<std::string> labels;
  for (const Dispatch& dispatch : plan.dispatches) labels.push_back(dispatch.label);
  const auto at = [&](const char* word) {
    return std::ranges::find_if(labels, [&](const std::string& label) { return label.find(word) != label.npos; });
  };
  EXPECT_LT(at("transpose"), at("state"));
}

}  // namespace
}  // namespace hearth
