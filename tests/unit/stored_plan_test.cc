// A plan in the cache that is not what it should be costs time, never a run.
#include <algorithm>
#include <random>

#include "backends/null/device.h"
#include "core/base/contains.h"
#include "core/graph/evaluate.h"
#include "core/graph/op.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "core/plan/plan_proof.h"
#include "frontends/tflite/reader.h"
#include "hal/run/plan_runs.h"
#include "hearth/cache.h"
#include "hearth/device.h"
#include "hearth/session.h"
#include "runtime/plans/plan_cache.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::CacheFolder;

const std::string kModel = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

std::vector<std::byte> FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// ---- Seeded mutations, as far as a device that checks what it is asked ----

struct Lowered {
  std::vector<std::byte> model;
  Graph graph;
  Plan plan;
};

Result<std::unique_ptr<Lowered>> LowerDemo(const DeviceInfo& device, const std::string& model = kModel,
                                           const LowerOptions& options = {}) {
  auto lowered = std::make_unique<Lowered>();
  lowered->model = FileBytes(model);
  HEARTH_ASSIGN(lowered->graph, ReadTfliteModel(lowered->model));
  Graph rewritten = lowered->graph.Clone();
  HEARTH_TRY(InferShapes(rewritten));
  HEARTH_TRY(RunPasses(rewritten, device, {}));
  HEARTH_ASSIGN(lowered->plan, Lower(rewritten, device, options));
  lowered->plan.proof = ProofOf(lowered->graph, rewritten);
  return lowered;
}

// One mutation: bytes flipped, numbers made extreme, pieces cut out, doubled or exchanged.
void Mutate(std::vector<std::byte>& bytes, std::mt19937& random) {
  const size_t at = random() % bytes.size(), size = std::min<size_t>(1 + random() % 16, bytes.size() - at);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at), end = begin + static_cast<std::ptrdiff_t>(size);
  switch (random() % 6) {
    case 0: bytes[at] ^= static_cast<std::byte>(1u << random() % 8); break;
    case 1: bytes[at] = static_cast<std::byte>(random()); break;
    case 2: std::fill(begin, end, std::byte{0xff}); break;
    case 3: std::fill(begin, end, std::byte{0}); break;
    case 4: bytes.erase(begin, end); break;
    default: {
      const std::vector<std::byte> piece(begin, end);
      bytes.insert(begin, piece.begin(), piece.end());
    }
  }
}

TEST(StoredPlan, MutatedPlansAreErrorsOrPlansThatADeviceTakesOrRefuses) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info());
  ASSERT_TRUE(lowered.ok()) << lowered.status().message();
  const std::vector<std::byte> whole = SerializePlan((*lowered)->plan);
  ASSERT_TRUE(CheckStoredPlan(*DeserializePlan(whole), (*lowered)->graph, device.info()).ok());
  constexpr uint32_t kSeed = 20260607;
  std::mt19937 random(kSeed);
  int usable = 0;
  for (int round = 0; round < testing::SanitizersRounds(3000, 5); ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", round " << round);
    std::vector<std::byte> mutated = whole;
    for (uint32_t count = 1 + random() % 3; count > 0; --count) Mutate(mutated, random);
    Result<Plan> plan = DeserializePlan(mutated);
    if (!plan.ok()) continue;
    EXPECT_EQ(SerializePlan(*plan), mutated);
    if (!CheckStoredPlan(*plan, (*lowered)->graph, device.info()).ok()) continue;
    ++usable;
    const auto ready = MakePlanReady(std::move(plan).value(), {.device = &device, .model_files = {(*lowered)->model}});
    EXPECT_TRUE(!ready.ok() || ready->runs->RunDispatches().ok());
  }
  EXPECT_GT(usable, 0) << "no mutation got as far as a device";
}

template <typename Item>
void DropOrExchange(std::vector<Item>& items, std::mt19937& random) {
  if (items.empty()) return;
  if (random() % 2 == 0) {
    items.erase(items.begin() + random() % items.size());
  } else {
    std::swap(items[random() % items.size()], items[random() % items.size()]);
  }
}

Dispatch* SomeDispatch(Plan& plan, std::mt19937& random) {
  return plan.dispatches.empty() ? nullptr : &plan.dispatches[random() % plan.dispatches.size()];
}

// One mutation that flipped bytes seldom make: names and lists that are sound but belong elsewhere.
void MutateField(Plan& plan, std::mt19937& random) {
  KernelSource& kernel = plan.kernels[random() % plan.kernels.size()];
  const KernelSource& other = plan.kernels[random() % plan.kernels.size()];
  switch (random() % 12) {
    case 0: kernel.name = other.name; break;
    case 1: DropOrExchange(kernel.tensors, random); break;
    case 2: DropOrExchange(kernel.scalars, random); break;
    case 3: DropOrExchange(kernel.defines, random); break;
    case 4: DropOrExchange(kernel.epilogue, random); break;
    case 5: kernel.defines = other.defines; break;
    case 6: kernel.tensors = other.tensors; break;
    case 7: DropOrExchange(plan.kernels, random); break;
    case 8: DropOrExchange(plan.constants, random); break;
    case 9: plan.outputs[0].on_device = false; break;
    case 10: plan.inputs[0].transfer.value = static_cast<ValueId>(random() % 1000) - 500; break;
    default:
      if (Dispatch* dispatch = SomeDispatch(plan, random)) {
        if (random() % 2 == 0) DropOrExchange(dispatch->tensors, random);
        if (random() % 2 == 0) DropOrExchange(dispatch->scalars, random);
        if (random() % 2 == 0) dispatch->kernel = random() % 40;
      }
  }
}

TEST(StoredPlan, PlansWhoseNamesAndListsBelongElsewhereAreErrorsOrRun) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info());
  ASSERT_TRUE(lowered.ok()) << lowered.status().message();
  constexpr uint32_t kSeed = 20261122;
  std::mt19937 random(kSeed);
  int usable = 0;
  for (int round = 0; round < testing::SanitizersRounds(800, 4); ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", round " << round);
    Plan plan = (*lowered)->plan;
    for (uint32_t count = 1 + random() % 2; count > 0 && !plan.kernels.empty(); --count) MutateField(plan, random);
    Result<Plan> read = DeserializePlan(SerializePlan(plan));
    if (!read.ok() || !CheckStoredPlan(*read, (*lowered)->graph, device.info()).ok()) continue;
    const auto ready = MakePlanReady(std::move(read).value(), {.device = &device, .model_files = {(*lowered)->model}});
    if (!ready.ok()) continue;
    ++usable;
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::span<const std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
    memory.reserve(ready->plan().inputs.size() + ready->plan().outputs.size());
    for (const PlanTensor& input : ready->plan().inputs)
      inputs.emplace_back(memory.emplace_back(input.desc.size_bytes()));
    for (const PlanTensor& output : ready->plan().outputs)
      outputs.emplace_back(memory.emplace_back(output.desc.size_bytes()));
    const Status status = ready->runs->Run(inputs, outputs);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kInternal) << status.message();
  }
  EXPECT_GT(usable, 0) << "no mutation got as far as a run";
}

TEST(StoredPlan, AnotherModelsPlanIsRefused) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info());
  ASSERT_TRUE(lowered.ok());
  Plan plan = (*lowered)->plan;
  plan.inputs[0].desc.shape = {1, 7};
  EXPECT_FALSE(CheckStoredPlan(plan, (*lowered)->graph, device.info()).ok());
  plan = (*lowered)->plan;
  plan.outputs.clear();
  EXPECT_FALSE(CheckStoredPlan(plan, (*lowered)->graph, device.info()).ok());
  plan = (*lowered)->plan;
  plan.segments.emplace_back().executor = Executor::kCpu;
  EXPECT_FALSE(CheckStoredPlan(plan, (*lowered)->graph, device.info()).ok());
  plan = (*lowered)->plan;
  plan.host_bytes.push_back(UINT64_MAX);
  EXPECT_FALSE(CheckStoredPlan(plan, (*lowered)->graph, device.info()).ok());
  for (const HostPlace::Kind kind : {HostPlace::Kind::kNone, HostPlace::Kind::kConstant, HostPlace::Kind::kOutput}) {
    plan = (*lowered)->plan;
    plan.outputs[0].on_device = false;
    plan.outputs[0].host.kind = kind;
    EXPECT_FALSE(CheckStoredPlan(plan, (*lowered)->graph, device.info()).ok());
  }
}

// ---- A model that was taken for another: same names, shapes and places in the file ----

const std::string kInt8Model = (SourceFolder() / "tools/demo/shapes_int8.tflite").string();

// Whether the plan counts for the model with one byte of the file changed.
bool CountsWith(const Lowered& lowered, uint64_t changed_byte, const DeviceInfo& device) {
  std::vector<std::byte> model = lowered.model;
  model[changed_byte] ^= std::byte{1};
  const Result<Graph> graph = ReadTfliteModel(model);
  return graph.ok() && CheckStoredPlan(lowered.plan, *graph, device).ok();
}

TEST(StoredPlan, APlanOfOtherScalesIsRefused) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info(), kInt8Model);
  ASSERT_TRUE(lowered.ok());
  Graph& graph = (*lowered)->graph;
  ASSERT_TRUE(CheckStoredPlan((*lowered)->plan, graph, device.info()).ok());
  graph.value(graph.inputs[0]).desc.quantization->scales[0] *= 1.5f;
  EXPECT_FALSE(CheckStoredPlan((*lowered)->plan, graph, device.info()).ok());
}

// In 16 bits the bounds of filters decide how products are calculated.
TEST(StoredPlan, APlanOfOtherConstantsThatWentIntoItIsRefused) {
  DeviceInfo info = NullDeviceInfo();
  info.fp16_storage = info.fp16_arithmetic = true;
  const auto lowered = LowerDemo(info, kModel, {.precision = Precision::kFp16});
  ASSERT_TRUE(lowered.ok());
  ASSERT_TRUE(CheckStoredPlan((*lowered)->plan, (*lowered)->graph, info).ok());
  const std::vector<FileRange>& read = (*lowered)->plan.proof.read;
  ASSERT_FALSE(read.empty()) << "no constant of this model goes into a plan: the test shows nothing";
  for (const FileRange& range : read) EXPECT_FALSE(CountsWith(**lowered, range.offset_bytes, info));
}

TEST(StoredPlan, APlanIsUsedWithOtherWeightsThatAreOnlyPacked) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info(), kInt8Model);
  ASSERT_TRUE(lowered.ok());
  int packed = 0;
  for (const PlanConstant& constant : (*lowered)->plan.constants) {
    if (!constant.inline_bytes.empty() || Contains((*lowered)->plan.proof.read, constant.source)) continue;
    ++packed;
    EXPECT_TRUE(CountsWith(**lowered, constant.source.offset_bytes, device.info()));
  }
  EXPECT_GT(packed, 0);
}

TEST(StoredPlan, APlanBeyondTheDevicesLimitsIsRefused) {
  NullDevice device(NullDeviceInfo());
  const auto lowered = LowerDemo(device.info());
  ASSERT_TRUE(lowered.ok());
  DeviceInfo smaller = device.info();
  smaller.max_group_count = {1, 1, 1};
  EXPECT_FALSE(CheckStoredPlan((*lowered)->plan, (*lowered)->graph, smaller).ok());
  smaller = device.info();
  smaller.max_buffer_bytes = 16;
  EXPECT_FALSE(CheckStoredPlan((*lowered)->plan, (*lowered)->graph, smaller).ok());
}

// ---- A whole session over a store whose plan was exchanged ----

std::string SomeDevice() {
  for (const DeviceDescription& device : ListDevices()) {
    if (device.usable && device.backend != "cpu") return device.id;
  }
  return "";
}

// The first output of a run on zeros, and the session's report.
Result<std::pair<std::vector<std::byte>, Report>> RunDemo(const CacheFolder& folder) {
  HEARTH_ASSIGN(Session session,
                Session::Open(kModel, {.device = SomeDevice(), .cache_folder = folder.path().string()}));
  for (size_t k = 0; k < session.inputs().size(); ++k) {
    HEARTH_TRY(session.SetInput(k, std::vector<std::byte>(session.inputs()[k].size_bytes)));
  }
  HEARTH_TRY(session.Run());
  const std::span<const std::byte> output = session.output(0);
  session.SaveToCache();
  return std::pair(std::vector<std::byte>(output.begin(), output.end()), session.report());
}

void ExchangePlan(const CacheFolder& folder, const std::function<void(Plan&)>& change) {
  CacheFilter plans{.kind = "plan"};
  const auto cache = Cache::At(folder.path().string());
  ASSERT_TRUE(cache.ok());
  const auto entries = cache->List(plans);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 1u);
  CacheKey key(BlobKind::kPlan);
  for (const auto& [name, value] : entries->front().fields) key.Add(name, value);
  const auto store = folder.Open();
  const auto bytes = store->Get(key);
  ASSERT_TRUE(bytes.has_value());
  Result<Plan> plan = DeserializePlan(*bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  change(*plan);
  store->Reject(key, "exchanged");
  testing::PutOne(*store, key, SerializePlan(*plan));
}

TEST(StoredPlan, APlanThatCannotBeUsedIsMadeAnewAndTheNextStartIsWarm) {
  if (SomeDevice().empty()) GTEST_SKIP() << "no device but the CPU, which keeps nothing";
  const std::pair<const char*, std::function<void(Plan&)>> changes[] = {
      {"constants beyond the model",
       [](Plan& plan) {
         for (PlanConstant& constant : plan.constants) constant.source.offset_bytes += uint64_t{1} << 40;
       }},
      {"another kernel", [](Plan& plan) { plan.kernels[0].name = "mine"; }},
      {"no dispatches", [](Plan& plan) { plan.outputs.clear(); }},
      {"a statement that does not compile",
       [](Plan& plan) {
         plan.kernels[0].epilogue.push_back({.form = StatementForm::kPair,
                                             .function = ElementFunction::Of(BinaryKind::kAdd),
                                             .arguments = {plan.kernels[0].scalars[0].name}});
       }},
  };
  const CacheFolder folder;
  const auto cold = RunDemo(folder);
  ASSERT_TRUE(cold.ok()) << cold.status().message();
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    ExchangePlan(folder, change);
    const auto mended = RunDemo(folder);
    ASSERT_TRUE(mended.ok()) << mended.status().message();
    EXPECT_EQ(mended->first, cold->first);
    EXPECT_GE(mended->second.cache.rejected, 1u);
    const auto warm = RunDemo(folder);
    ASSERT_TRUE(warm.ok()) << warm.status().message();
    EXPECT_EQ(warm->first, cold->first);
    EXPECT_EQ(warm->second.programs.compiled, 0);
    EXPECT_EQ(warm->second.cache.rejected, 0u);
    EXPECT_EQ(warm->second.cache.misses, 0u);
  }
}

}  // namespace
}  // namespace hearth
