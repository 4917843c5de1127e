#include "core/plan/plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace hearth {
namespace {

KernelSource RichKernel() {
  KernelSource kernel;
  kernel.name = "pointwise_wide";
  kernel.tensors = {{"x", ArgDirection::kRead, AccessPath::kTexelBuffer, StorageType::kFloat16, true},
                    {"y", ArgDirection::kWrite, AccessPath::kBuffer, StorageType::kFloat32, false}};
  kernel.scalars = {{"width", ScalarType::kInt}, {"alpha", ScalarType::kFloat}};
  kernel.shared = {{"part", "float4", 64}};
  kernel.defines = {{"ROWS", "6"}};
  kernel.epilogue = {"v = max(v, 0.0f);"};
  kernel.local_size = {8, 2, 1};
  kernel.body = "y_store(GID(0), x_load(GID(0)));\n";
  return kernel;
}

PlanConstant QuantizedConstant() {
  PlanConstant constant;
  constant.range = {1, 256, 4 * 4 * 4};
  constant.recipe = {PackLayout::kMatrix,
                     {DType::kInt8, Shape{2, 1, 1, 3}, Quantization{{0.5f, 0.25f}, {-3, int64_t{1} << 40}, 0}},
                     4,
                     {2, 1, 1, 3}};
  constant.file_offset = 0x123456789a;
  constant.file_size_bytes = 6;
  return constant;
}

// Every member differs from its default, and every list has something in it.
Plan RichPlan() {
  Plan plan;
  plan.kernels = {RichKernel(), RichKernel()};
  plan.kernels[1].name = "other";
  plan.buffers = {{BufferRole::kArena, 4096}, {BufferRole::kConstants, 1024}};
  plan.constants = {QuantizedConstant(), QuantizedConstant()};
  plan.constants[1].inline_bytes = {std::byte{1}, std::byte{255}, std::byte{0}};
  const HostTransfer transfer{7, {DType::kUInt8, {1, 2, 3, 5}, {}}, StorageType::kFloat16, {0, 128, 6 * 2 * 8}};
  plan.steps.emplace_back(Dispatch{1, {{0, 0, 64}, {1, 64, 64}}, {3, 0x3f800000}, {4, 5, 6}, "conv 1"});
  plan.steps.emplace_back(HostStep{{2, 3}, {transfer}, {transfer, transfer}});
  plan.steps.emplace_back(Dispatch{0, {{0, 0, 64}, {0, 64, 64}}, {7, 8}, {1, 1, 1}, ""});
  plan.inputs.resize(1);  // GCC 12 warns of an uninitialized quantization in a braced list of these
  plan.inputs[0].name = "image";
  plan.inputs[0].desc = {DType::kUInt8, Shape{1, 2, 3, 5}, Quantization{{1.0f}, {128}, 0}};
  plan.inputs[0].transfer = transfer;
  plan.outputs.resize(1);
  plan.outputs[0].name = "scores";
  plan.outputs[0].on_device = false;
  plan.outputs[0].transfer.value = 9;
  plan.fallbacks = {{4, "TFLite_Detection_PostProcess", "no kernel"}};
  plan.source_op_count = 31;
  plan.memory = {1, 2, 3, uint64_t{1} << 50};
  return plan;
}

std::span<const std::byte> First(const std::vector<std::byte>& bytes, size_t count) {
  return std::span(bytes).first(count);
}

TEST(Plan, EverythingSurvivesTheRoundTrip) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  const Result<Plan> read = DeserializePlan(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(SerializePlan(*read), bytes);

  const Plan expected = RichPlan();
  EXPECT_EQ(read->kernels, expected.kernels);
  ASSERT_EQ(read->constants.size(), 2u);
  EXPECT_EQ(read->constants[0].recipe, expected.constants[0].recipe);
  EXPECT_EQ(read->constants[0].range, expected.constants[0].range);
  EXPECT_EQ(read->constants[0].file_offset, expected.constants[0].file_offset);
  EXPECT_EQ(read->constants[1].inline_bytes, expected.constants[1].inline_bytes);
  ASSERT_EQ(read->buffers.size(), 2u);
  EXPECT_EQ(read->buffers[1].role, BufferRole::kConstants);
  EXPECT_EQ(read->inputs[0].name, "image");
  EXPECT_EQ(read->inputs[0].desc, expected.inputs[0].desc);
  EXPECT_EQ(read->inputs[0].transfer.desc, expected.inputs[0].transfer.desc);
  EXPECT_FALSE(read->outputs[0].on_device);
  EXPECT_EQ(read->fallbacks[0].reason, "no kernel");
  EXPECT_EQ(read->memory.weights_bytes, uint64_t{1} << 50);
}

TEST(Plan, StepsKeepTheirOrderAndKind) {
  const Result<Plan> read = DeserializePlan(SerializePlan(RichPlan()));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->steps.size(), 3u);
  const Dispatch& dispatch = std::get<Dispatch>(read->steps[0]);
  EXPECT_EQ(dispatch.kernel, 1u);
  EXPECT_EQ(dispatch.tensors[1], (BufferRange{1, 64, 64}));
  EXPECT_EQ(dispatch.scalars, (std::vector<uint32_t>{3, 0x3f800000}));
  EXPECT_EQ(dispatch.group_count, (std::array<uint32_t, 3>{4, 5, 6}));
  EXPECT_EQ(dispatch.label, "conv 1");
  const HostStep& host = std::get<HostStep>(read->steps[1]);
  EXPECT_EQ(host.nodes, (std::vector<int>{2, 3}));
  EXPECT_EQ(host.reads.size(), 1u);
  EXPECT_EQ(host.writes[1].storage, StorageType::kFloat16);
  EXPECT_EQ(host.writes[1].value, 7);
}

TEST(Plan, CountsDispatchesAndSeesHostSteps) {
  Plan plan = RichPlan();
  EXPECT_EQ(plan.dispatch_count(), 2u);
  EXPECT_TRUE(plan.has_host_steps());
  plan.steps.erase(plan.steps.begin() + 1);
  EXPECT_EQ(plan.dispatch_count(), 2u);
  EXPECT_FALSE(plan.has_host_steps());
  EXPECT_FALSE(Plan().has_host_steps());
}

TEST(Plan, AnEmptyPlanSurvives) {
  EXPECT_TRUE(DeserializePlan(SerializePlan(Plan())).ok());
}

// ---- Damage ----

TEST(Plan, ATruncatedPlanIsRefusedAtEveryLength) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DeserializePlan(First(bytes, length)).ok()) << length;
  }
}

TEST(Plan, TrailingBytesAreRefused) {
  std::vector<std::byte> bytes = SerializePlan(RichPlan());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DeserializePlan(bytes).ok());
}

// Whatever is accepted after damage must still be a plan: the only one with these bytes.
TEST(Plan, FlippedBytesAreRefusedOrGiveAnotherPlan) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  std::mt19937 random(20240607);
  std::uniform_int_distribution<size_t> position(0, bytes.size() - 1);
  std::uniform_int_distribution<int> value(1, 255), count(1, 4);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    std::vector<std::byte> damaged = bytes;
    for (int flips = count(random); flips > 0; --flips)
      damaged[position(random)] ^= static_cast<std::byte>(value(random));
    const Result<Plan> read = DeserializePlan(damaged);
    if (!read.ok()) continue;
    ++accepted;
    ASSERT_EQ(SerializePlan(*read), damaged);
  }
  EXPECT_GT(accepted, 0);  // names, offsets and the like have no wrong values
}

// Whichever 8 bytes hold a count: as the largest number they must not make the reader allocate or loop.
TEST(Plan, HugeCountsAreRefused) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  for (size_t at = 8; at + 8 <= bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    std::memset(damaged.data() + at, 0xff, 8);
    const Result<Plan> read = DeserializePlan(damaged);
    if (read.ok()) {
      EXPECT_EQ(SerializePlan(*read), damaged) << at;
    }
  }
}

TEST(Plan, AnotherVersionIsRefusedByName) {
  std::vector<std::byte> bytes = SerializePlan(Plan());
  bytes[4] ^= std::byte{0x40};
  EXPECT_NE(DeserializePlan(bytes).status().message().find("version"), std::string::npos);
}

// ---- Plans that parse but make no sense ----

bool Survives(const Plan& plan) {
  return DeserializePlan(SerializePlan(plan)).ok();
}

TEST(Plan, RangesOutsideTheirBufferAreRefused) {
  for (const BufferRange range : {BufferRange{2, 0, 0}, BufferRange{0, 4096, 1}, BufferRange{0, 1, 4096},
                                  BufferRange{0, UINT64_MAX, 2}, BufferRange{0, 2, UINT64_MAX}}) {
    Plan plan = RichPlan();
    std::get<Dispatch>(plan.steps[0]).tensors[0] = range;
    EXPECT_FALSE(Survives(plan)) << range.buffer << " " << range.offset_bytes << " " << range.size_bytes;
  }
}

TEST(Plan, DispatchesThatDoNotMatchTheirKernelAreRefused) {
  Plan plan = RichPlan();
  std::get<Dispatch>(plan.steps[0]).kernel = 2;
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  std::get<Dispatch>(plan.steps[0]).scalars.pop_back();
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  std::get<Dispatch>(plan.steps[0]).tensors.pop_back();
  EXPECT_FALSE(Survives(plan));
}

TEST(Plan, TransfersAndConstantsLargerThanTheirRangeAreRefused) {
  Plan plan = RichPlan();
  plan.inputs[0].transfer.range.size_bytes -= 1;
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  plan.inputs[0].transfer.desc.shape = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  plan.constants[0].range.size_bytes -= 1;
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  plan.constants[0].recipe.source.shape = {-1, 6};
  EXPECT_FALSE(Survives(plan));
}

}  // namespace
}  // namespace hearth
