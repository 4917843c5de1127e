#include "core/plan/plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "core/emit/kernel_library.h"
#include "core/graph/op.h"

namespace hearth {
namespace {

// A kernel in which everything that lowering may change is changed.
KernelSource RichKernel() {
  KernelSource kernel = *LoadKernel("softmax");  // it has shared arrays too
  kernel.tensors[0].path = AccessPath::kTexelBuffer;
  kernel.tensors[0].storage = StorageType::kFloat16;
  kernel.tensors.push_back({"other", ArgDirection::kRead, AccessPath::kTexelBuffer});
  kernel.scalars.push_back({"other_pixels", ScalarType::kInt});
  kernel.scalars.push_back({"low", ScalarType::kFloat});
  kernel.scalars.push_back({"high", ScalarType::kFloat});
  EXPECT_TRUE(SetDefine(kernel, "LANES", "8").ok());
  kernel.epilogue = {{.form = StatementForm::kPair,
                      .function = ElementFunction::Of(BinaryKind::kMul),
                      .reach = Reach::kPerChannel,
                      .other_first = true,
                      .arguments = {"other", "other_pixels"}},
                     {.form = StatementForm::kClamp, .arguments = {"low", "high"}}};
  kernel.local_size = {8, 2, 1};
  kernel.shared.front().count += 7;  // as pointwise_local's, whose tiles need more or less local memory
  return kernel;
}

PlanConstant QuantizedConstant() {
  PlanConstant constant{.range = {1, 256, 4 * 4 * 4}};
  constant.recipe = {PackLayout::kMatrix,
                     {DType::kInt8, Shape{2, 1, 1, 3}, Quantization{{0.5f, 0.25f}, {-3, int64_t{1} << 40}, 0}},
                     4,
                     {2, 1, 1, 3}};
  constant.source.file = 2;
  constant.source.offset_bytes = 0x123456789a;
  constant.source.size_bytes = 6;
  return constant;
}

Dispatch DispatchOf(const Plan& plan, uint32_t kernel) {
  Dispatch dispatch;
  dispatch.kernel = kernel;
  for (size_t k = 0; k < plan.kernels[kernel].tensors.size(); ++k) dispatch.tensors.push_back({0, 64 * k, 64});
  for (size_t k = 0; k < plan.kernels[kernel].scalars.size(); ++k)
    dispatch.scalars.push_back(static_cast<uint32_t>(3 + k));
  dispatch.group_count = {4, 5, 6};
  dispatch.label = "conv 1";
  return dispatch;
}

// Every member differs from its default, and every list has something in it.
Plan RichPlan() {
  Plan plan;
  plan.kernels = {RichKernel(), *LoadKernel("map")};
  plan.buffers = {{BufferRole::kArena, 4096}, {BufferRole::kConstants, 1024}, {BufferRole::kState, 512}};
  plan.constants = {QuantizedConstant(), QuantizedConstant()};
  plan.constants[1].inline_bytes = {std::byte{1}, std::byte{255}, std::byte{0}};
  plan.constants[1].is_kept = true;
  const HostTransfer transfer{7, {DType::kUInt8, {1, 2, 3, 5}, {}}, StorageType::kFloat16, {0, 128, 6 * 2 * 8}};
  plan.dispatches = {DispatchOf(plan, 1), DispatchOf(plan, 0)};
  plan.segments.resize(3);
  plan.segments[0].dispatch_count = plan.segments[2].dispatch_count = 1;
  plan.segments[1].first_dispatch = plan.segments[2].first_dispatch = 1;
  plan.segments[1].executor = Executor::kCpu;
  plan.segments[1].nodes = {2, 3};
  plan.segments[1].reads = {{{HostPlace::Kind::kInput, 0}, true, transfer}};
  plan.segments[1].writes = {{{HostPlace::Kind::kValue, 0}, true, transfer},
                             {{HostPlace::Kind::kValue, 0}, false, transfer}};
  plan.host_bytes = {transfer.desc.size_bytes()};
  plan.inputs.resize(1);  // GCC 12 warns of an uninitialized quantization in a braced list of these
  plan.inputs[0].name = "image";
  plan.inputs[0].desc = {DType::kUInt8, Shape{1, 2, 3, 5}, Quantization{{1.0f}, {128}, 0}};
  plan.inputs[0].transfer = transfer;
  plan.inputs[0].host = {HostPlace::Kind::kInput, 0};
  plan.outputs.resize(1);
  plan.outputs[0].name = "scores";
  plan.outputs[0].on_device = false;
  plan.outputs[0].transfer.value = 9;
  plan.outputs[0].host.kind = HostPlace::Kind::kConstant;
  plan.states.resize(1);
  plan.states[0].name = "memory";
  plan.states[0].desc = transfer.desc;
  plan.states[0].on_device = true;
  plan.states[0].transfer = transfer;
  plan.states[0].next_on_device = true;
  plan.states[0].next = transfer;
  plan.states[0].host = plan.states[0].next_host = {HostPlace::Kind::kValue, 0};
  plan.fallbacks = {{4, "TFLite_Detection_PostProcess", "no kernel"}};
  plan.source_op_count = 31;
  plan.memory = {1, 2, 3, uint64_t{1} << 50, 4};
  return plan;
}

std::span<const std::byte> First(const std::vector<std::byte>& bytes, size_t count) {
  return std::span(bytes).first(count);
}

TEST(Plan, EverythingSurvivesTheRoundTrip) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  const Result<Plan> read = DeserializePlan(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(*read == RichPlan());
  EXPECT_EQ(SerializePlan(*read), bytes);
}

TEST(Plan, HoldsNoBodyAndNoStatementOfAKernel) {
  const std::vector<std::byte> bytes = SerializePlan(RichPlan());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const char* piece : {"_store(", ";", "{", "vclamp", "for ("}) EXPECT_EQ(text.find(piece), text.npos) << piece;
}

TEST(Plan, RunsOnTheCpuIfASegmentDoes) {
  Plan plan = RichPlan();
  EXPECT_TRUE(plan.runs_on_cpu());
  plan.segments.erase(plan.segments.begin() + 1);
  EXPECT_FALSE(plan.runs_on_cpu());
  EXPECT_FALSE(Plan().runs_on_cpu());
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
    SCOPED_TRACE(::testing::Message() << "round " << round);
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
  for (size_t at = 12; at + 8 <= bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    std::memset(damaged.data() + at, 0xff, 8);
    const Result<Plan> read = DeserializePlan(damaged);
    if (read.ok()) {
      EXPECT_EQ(SerializePlan(*read), damaged) << at;
    }
  }
}

TEST(Plan, APlanOfOtherSourcesIsRefusedByName) {
  std::vector<std::byte> bytes = SerializePlan(Plan());
  bytes[12] ^= std::byte{0x01};  // behind the magic and the length of the fingerprint
  EXPECT_NE(DeserializePlan(bytes).status().message().find("another version"), std::string::npos);
}

// ---- Plans that parse but make no sense ----

bool Survives(const Plan& plan) {
  return DeserializePlan(SerializePlan(plan)).ok();
}

TEST(Plan, RangesOutsideTheirBufferAreRefused) {
  for (const BufferRange range : {BufferRange{3, 0, 0}, BufferRange{0, 4096, 1}, BufferRange{0, 1, 4096},
                                  BufferRange{0, UINT64_MAX, 2}, BufferRange{0, 2, UINT64_MAX}}) {
    Plan plan = RichPlan();
    plan.dispatches[0].tensors[0] = range;
    EXPECT_FALSE(Survives(plan)) << range.buffer << " " << range.offset_bytes << " " << range.size_bytes;
  }
}

TEST(Plan, DispatchesThatDoNotMatchTheirKernelAreRefused) {
  Plan plan = RichPlan();
  plan.dispatches[0].kernel = 2;
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  plan.dispatches[0].scalars.pop_back();
  EXPECT_FALSE(Survives(plan));
  plan = RichPlan();
  plan.dispatches[0].tensors.pop_back();
  EXPECT_FALSE(Survives(plan));
}

TEST(Plan, SegmentsThatDoNotHaveEachDispatchOnceAndInOrderAreRefused) {
  const std::function<void(std::vector<Segment>&)> changes[] = {
      [](auto& segments) { segments.pop_back(); },
      [](auto& segments) { segments.push_back(segments.back()); },
      [](auto& segments) { segments.erase(segments.begin() + 1); },
      [](auto& segments) { segments[0].first_dispatch = 1; },
      [](auto& segments) { segments[0].dispatch_count = 2; },
      [](auto& segments) { segments[1].dispatch_count = 1; },
      [](auto& segments) { segments[2].dispatch_count = UINT32_MAX; },
  };
  for (const auto& change : changes) {
    Plan plan = RichPlan();
    change(plan.segments);
    EXPECT_FALSE(Survives(plan)) << &change - changes;
  }
}

TEST(Plan, PlacesInHostMemoryWithoutRoomForTheirValueAreRefused) {
  const std::function<void(Plan&)> changes[] = {
      [](Plan& plan) { plan.host_bytes[0] -= 1; },
      [](Plan& plan) { plan.segments[1].writes[0].place.index = 1; },
      [](Plan& plan) { plan.segments[1].reads[0].place.index = 1; },
      [](Plan& plan) {
        plan.outputs[0].host = {HostPlace::Kind::kInput, 0};
      },
      [](Plan& plan) {
        plan.states[0].next_host = {HostPlace::Kind::kOutput, 0};
      },
  };
  for (const auto& change : changes) {
    Plan plan = RichPlan();
    change(plan);
    EXPECT_FALSE(Survives(plan)) << &change - changes;
  }
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

// ---- Kernels that the library does not have ----

TEST(Plan, KernelsThatLoweringCannotWriteAreRefused) {
  const std::pair<const char*, std::function<void(KernelSource&)>> changes[] = {
      {"another name", [](KernelSource& k) { k.name = "mine"; }},
      {"a define with code", [](KernelSource& k) { k.defines[0].value = "1; asm(0)"; }},
      {"a define with a huge number", [](KernelSource& k) { k.defines[0].value = "12345678"; }},
      {"a define of another name", [](KernelSource& k) { k.defines[0].name = "x_load"; }},
      {"a define too many",
       [](KernelSource& k) {
         k.defines.push_back({"MORE", "1"});
       }},
      {"an argument with code for a name", [](KernelSource& k) { k.tensors.back().name = "a; b"; }},
      {"two arguments of one name", [](KernelSource& k) { k.scalars.back().name = "low"; }},
      {"an argument less", [](KernelSource& k) { k.tensors.resize(1); }},
      {"an argument of the kernel renamed", [](KernelSource& k) { k.tensors[0].name = "z"; }},
      {"a second argument that is written", [](KernelSource& k) { k.tensors.back().direction = ArgDirection::kWrite; }},
      {"a texture", [](KernelSource& k) { k.tensors[0].path = AccessPath::kTexture; }},
      {"lent memory", [](KernelSource& k) { k.tensors[1].storage = StorageType::kUnorm8; }},
      {"a statement of no argument", [](KernelSource& k) { k.epilogue[1].arguments.pop_back(); }},
      {"a statement of another's argument", [](KernelSource& k) { k.epilogue[1].arguments[0] = "asm(0)"; }},
      {"a function that there is not", [](KernelSource& k) { k.epilogue[0].function.row = 250; }},
      {"an array of local memory with code for a type", [](KernelSource& k) { k.shared[0].type = "float4 a[9]; int"; }},
      {"an array of local memory less", [](KernelSource& k) { k.shared.pop_back(); }},
      {"an array of local memory without elements", [](KernelSource& k) { k.shared[0].count = 0; }},
      {"a huge array of local memory", [](KernelSource& k) { k.shared[0].count = 1u << 31; }},
      {"no work items", [](KernelSource& k) { k.local_size[1] = 0; }},
      {"too many work items",
       [](KernelSource& k) {
         k.local_size = {4096, 4096, 4096};
       }},
  };
  for (const auto& [what, change] : changes) {
    Plan plan = RichPlan();
    change(plan.kernels[0]);
    EXPECT_FALSE(Survives(plan)) << what;
  }
}

TEST(Plan, AKernelsBodyIsTheLibrarysWhateverWasWritten) {
  Plan plan = RichPlan();
  plan.kernels[0].body = "mine";
  const Result<Plan> read = DeserializePlan(SerializePlan(plan));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(*read == RichPlan());
}

TEST(Plan, DispatchesWithoutWorkGroupsAreRefused) {
  Plan plan = RichPlan();
  plan.dispatches[0].group_count[2] = 0;
  EXPECT_FALSE(Survives(plan));
}

}  // namespace
}  // namespace hearth
