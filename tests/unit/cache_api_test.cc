// hearth/cache.h with a model on a device.
#include <algorithm>

#include "core/plan/key_fields.h"
#include "core/store/entry_links.h"
#include "hal/programs/program_set.h"
#include "hearth/cache.h"
#include "hearth/device.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/loop_models.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::CacheFolder;

const std::string kDemoModel = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

// A usable device that keeps entries; empty when there is none.
std::string KeepingDevice() {
  static const std::string id = [] {
    for (const DeviceDescription& device : ListDevices()) {
      if (device.usable && device.backend != "cpu") return device.id;
    }
    return std::string();
  }();
  return id;
}

#define SKIP_WITHOUT_DEVICE() \
  if (KeepingDevice().empty()) GTEST_SKIP() << "no device but the CPU, which keeps nothing"

BlobKind KindOf(const std::string& name) {
  int kind = 0;
  while (BlobKindName(static_cast<BlobKind>(kind)) != name) ++kind;
  return static_cast<BlobKind>(kind);
}

// Puts the entry `digest` under a key in which `field` is another.
void MoveToOtherKey(const CacheFolder& folder, const CacheEntry& entry, const std::string& field) {
  CacheKey old_key(KindOf(entry.kind)), new_key(KindOf(entry.kind));
  for (const auto& [name, value] : entry.fields) {
    old_key.Add(name, value);
    new_key.Add(name, name == field ? value + " of old" : value);
  }
  ASSERT_EQ(old_key.digest().ToHex(), entry.digest);
  const auto store = folder.Open();
  const auto bytes = store->Get(old_key);
  ASSERT_TRUE(bytes.has_value());
  store->Reject(old_key, "moved");
  testing::PutOne(*store, new_key, *bytes);
}

// The entry that the model asks for. Where a driver shares kernels between models, the cache holds others beside it.
CacheEntry NeededProgram(const Cache& cache) {
  CacheFilter programs{.kind = "program"};
  const auto entries = cache.List(programs);
  const auto explanation = cache.Explain(kDemoModel, {.device = KeepingDevice()});
  for (const CacheNeed& need : explanation->needs) {
    const auto entry = std::ranges::find(*entries, need.digest, &CacheEntry::digest);
    if (entry != entries->end()) return *entry;
  }
  ADD_FAILURE() << "no program is in the cache";
  return {};
}

TEST(CacheApi, AModelThatWasWarmedFindsEverything) {
  SKIP_WITHOUT_DEVICE();
  const CacheFolder folder;
  const auto cache = Cache::At(folder.path().string());
  const auto before = cache->Explain(kDemoModel, {.device = KeepingDevice()});
  ASSERT_TRUE(before.ok()) << before.status().message();
  EXPECT_EQ(before->hits(), 0u);
  EXPECT_FALSE(std::filesystem::exists(folder.file())) << "explaining made a store";
  std::vector<WarmProgress> progress;
  const auto warmed =
      cache->Warm({kDemoModel}, {KeepingDevice()}, {}, [&](const WarmProgress& p) { progress.push_back(p); });
  ASSERT_TRUE(warmed.ok()) << warmed.status().message();
  ASSERT_EQ(warmed->size(), 1u);
  EXPECT_TRUE(warmed->front().status.ok()) << warmed->front().status.message();
  EXPECT_GT(warmed->front().bytes_written, 0u);
  ASSERT_EQ(progress.size(), 2u);
  EXPECT_EQ(progress.back().done, 1u);
  const auto after = cache->Explain(kDemoModel, {.device = KeepingDevice()});
  EXPECT_EQ(after->hits(), after->needs.size());
  EXPECT_EQ(cache->Stats()->lifetime.hits, 0u) << "explaining was counted";
}

TEST(CacheApi, AModelWithALoopThatZerosDoNotEndIsWarmed) {
  const CacheFolder folder;
  const TemporaryFolder models;
  const std::filesystem::path file = models.path() / "loop.tflite";
  const std::vector<std::byte> bytes = testing::DoublingLoop();
  testing::WriteFile(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto warmed = Cache::At(folder.path().string())->Warm({file.string()}, {"cpu"}, {});
  ASSERT_TRUE(warmed.ok()) << warmed.status().message();
  EXPECT_TRUE(warmed->front().status.ok()) << warmed->front().status.message();
}

TEST(CacheApi, ExplainNamesTheOnePartThatDiffers) {
  SKIP_WITHOUT_DEVICE();
  const std::pair<std::string, std::string> changes[] = {
      {"driver", "driver version"}, {"uuid", "device uuid"}, {"vendor", "device"}};
  const CacheFolder folder;
  const auto cache = Cache::At(folder.path().string());
  for (const auto& [field, part] : changes) {
    ASSERT_TRUE(cache->Clear().ok());
    ASSERT_TRUE(cache->Warm({kDemoModel}, {KeepingDevice()}, {}).ok());
    MoveToOtherKey(folder, NeededProgram(*cache), field);
    const auto explanation = cache->Explain(kDemoModel, {.device = KeepingDevice()});
    ASSERT_EQ(explanation->hits() + 1, explanation->needs.size());
    for (const CacheNeed& need : explanation->needs) {
      if (need.is_hit) continue;
      EXPECT_EQ(need.reason, "differs from the nearest in " + part);
      ASSERT_EQ(need.differences.size(), 1u);
      EXPECT_EQ(need.differences[0].field, field);
    }
  }
}

// Where a driver shares kernels between plans, an entry may say that the binary of another plan holds them.
TEST(CacheApi, ExplainNamesTheListThatNamesABinaryWhichIsGone) {
  SKIP_WITHOUT_DEVICE();
  const CacheFolder folder;
  const auto cache = Cache::At(folder.path().string());
  ASSERT_TRUE(cache->Warm({kDemoModel}, {KeepingDevice()}, {}).ok());
  if (cache->List({.kind = "program-list"})->empty()) GTEST_SKIP() << KeepingDevice() << " shares no kernels";
  const CacheEntry program = NeededProgram(*cache);
  CacheKey key(BlobKind::kProgram), list(BlobKind::kProgramList), gone(BlobKind::kProgram);
  size_t kernels = 0;
  for (const auto& [name, value] : program.fields) {
    for (CacheKey* each : {&key, &list, &gone}) each->Add(name, value);
    kernels += name == kKernelField.name;
  }
  gone.Add(kKernelField.name, "of_another_plan");
  {
    const auto store = folder.Open();
    store->Reject(key, "gone");
    testing::PutOne(*store, list, ToBytes(ProgramList{{gone}, std::vector<uint32_t>(kernels, 0)}));
  }
  const auto explanation = cache->Explain(kDemoModel, {.device = KeepingDevice()});
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  const auto need = std::ranges::find(explanation->needs, gone.digest().ToHex(), &CacheNeed::digest);
  ASSERT_NE(need, explanation->needs.end());
  EXPECT_FALSE(need->is_hit);
  const std::string list_digest = list.digest().ToHex();
  EXPECT_EQ(need->nearest_digest, list_digest);
  EXPECT_TRUE(need->differences.empty()) << "of " << need->differences.front().part;
  EXPECT_EQ(need->reason, "entry " + list_digest.substr(0, 12) +
                              " says that this one, made for another plan, holds programs of this plan; it was "
                              "evicted, removed or left out of a bundle");
}

TEST(CacheApi, ExplainNamesThePortablePartWithoutWhichAProgramIsOfNoUse) {
  SKIP_WITHOUT_DEVICE();
  const CacheFolder folder;
  const auto cache = Cache::At(folder.path().string());
  ASSERT_TRUE(cache->Warm({kDemoModel}, {KeepingDevice()}, {}).ok());
  const CacheEntry entry = NeededProgram(*cache);
  CacheKey program(BlobKind::kProgram), source(BlobKind::kSource);
  for (const auto& [name, value] : entry.fields) program.Add(name, value);
  source.Add("kernel", "gone");
  const std::vector<std::byte> rest(1);
  testing::PutOne(*folder.Open(), program, ToBytes(LinkedEntry{{source}, rest}));
  const auto explanation = cache->Explain(kDemoModel, {.device = KeepingDevice()});
  ASSERT_TRUE(explanation.ok()) << explanation.status().message();
  const auto of_program = std::ranges::find(explanation->needs, entry.digest, &CacheNeed::digest);
  const auto of_source = std::ranges::find(explanation->needs, source.digest().ToHex(), &CacheNeed::digest);
  ASSERT_TRUE(of_program != explanation->needs.end() && of_source != explanation->needs.end());
  EXPECT_FALSE(of_program->is_hit);
  EXPECT_EQ(of_program->reason, "the entry exists, but needs the source " + source.digest().ToHex().substr(0, 12));
  EXPECT_FALSE(of_source->is_hit);
  EXPECT_EQ(of_source->reason, "entry " + entry.digest.substr(0, 12) +
                                   ", a program, needs this one; it was evicted, removed or left out of a bundle");
}

TEST(CacheApi, ExplainNamesAnOptionAndTheModelsContent) {
  SKIP_WITHOUT_DEVICE();
  const CacheFolder folder;
  const auto cache = Cache::At(folder.path().string());
  ASSERT_TRUE(cache->Warm({kDemoModel}, {KeepingDevice()}, {}).ok());
  const auto reason_of_plan = [&](const std::string& model, const SessionOptions& options) {
    const auto explanation = cache->Explain(model, options);
    EXPECT_TRUE(explanation.ok()) << explanation.status().message();
    for (const CacheNeed& need : explanation->needs) {
      if (need.kind == "plan") return need.reason;
    }
    return std::string("no plan was asked for");
  };
  EXPECT_EQ(reason_of_plan(kDemoModel, {.device = KeepingDevice(), .model_token = "mine"}),
            "differs from the nearest in option");
  // One bit of the last weight that the file holds.
  std::string bytes = testing::ReadFile(kDemoModel);
  const std::string retrained = (folder.path() / "shapes_f32.tflite").string();
  bytes[bytes.size() / 2] ^= 1;
  testing::WriteFile(retrained, bytes);
  EXPECT_EQ(reason_of_plan(retrained, {.device = KeepingDevice()}), "differs from the nearest in model content");
}

std::vector<std::byte> OutputOf(const std::string& model, const std::string& folder) {
  auto session =
      Session::Open(model, {.device = KeepingDevice(), .use_cache = !folder.empty(), .cache_folder = folder});
  EXPECT_TRUE(session.ok()) << session.status().message();
  if (!session.ok()) return {};
  std::vector<float> input(session->inputs()[0].size_bytes / sizeof(float));
  for (size_t k = 0; k < input.size(); ++k) input[k] = static_cast<float>(k % 97) / 97.0f;
  EXPECT_TRUE(session->SetInput(0, std::as_bytes(std::span(input))).ok());
  EXPECT_TRUE(session->Run().ok());
  return {session->output(0).begin(), session->output(0).end()};
}

TEST(CacheApi, ARetrainedModelOfTheSameNameAndShapesGivesItsOwnResults) {
  SKIP_WITHOUT_DEVICE();
  const CacheFolder folder;
  const std::string model = (folder.path() / "model.tflite").string();
  std::string bytes = testing::ReadFile(kDemoModel);
  testing::WriteFile(model, bytes);
  const auto first = OutputOf(model, (folder.path() / "cache").string());
  EXPECT_EQ(OutputOf(model, (folder.path() / "cache").string()), first) << "warm and cold differ";
  bytes[bytes.size() / 2] ^= 0x40;  // within the weights
  testing::WriteFile(model, bytes);
  const auto retrained = OutputOf(model, (folder.path() / "cache").string());
  EXPECT_NE(retrained, first);
  EXPECT_EQ(retrained, OutputOf(model, "")) << "not what a start without a cache gives";
}

TEST(CacheApi, AnUnknownKindIsAMistakeThatListsTheKinds) {
  const CacheFolder folder;
  CacheFilter filter{.kind = "programme"};
  const auto entries = Cache::At(folder.path().string())->List(filter);
  EXPECT_EQ(entries.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(entries.status().message().find("program,"), std::string::npos) << entries.status().message();
}

TEST(CacheApi, KeysThatAreNoTextStillMakeJson) {
  CacheEntry entry;
  entry.fields = {{"kernel", "a"}, {"kernel", "b"}, {"raw", "\xff\xfe"}};
  const std::string json = CacheJson(entry, {}, -1);
  EXPECT_NE(json.find(R"("kernel":["a","b"])"), std::string::npos) << json;
}

}  // namespace
}  // namespace hearth
