// What tuning measured: its text, how two records add up, how the cache keeps them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/null/device.h"
#include "cache/desk/bundle.h"
#include "core/plan/tuning.h"
#include "runtime/plans/tuning_cache.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::MemoryStore;

DeviceInfo TunedDevice() {
  DeviceInfo info = NullDeviceInfo();
  info.name = "a device of the test";
  return info;
}

TuningRecord SomeRecord() {
  return {{{{"wide", 6, 1, 8}, 5, 2.0, 0.5}, {{"tile", 4, 2, 8}, 5, 1.0, 0.25}}, true};
}

TEST(TuningRecord, ItsTextReadsBackAndDamageIsRefused) {
  const std::string text = ToText(SomeRecord());
  const Result<TuningRecord> read = TuningRecordFromText(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, SomeRecord());
  for (size_t length = 0; length < text.size(); ++length) {
    const Result<TuningRecord> cut = TuningRecordFromText(text.substr(0, length));
    EXPECT_TRUE(!cut.ok() || cut->candidates.size() < read->candidates.size()) << length;
  }
  for (const char* line : {"wide 6x1 lanes 8 = 0 1 1", "wide 6x1 lanes 8 = 5 -1 1", "wide 6x1 lanes 8 = 5 nan 1",
                           "wide 6x1 lanes 8 = 5 1 -1", "wide 6x1 lanes 8 = 5 1e300 1", "wide 6x1 lanes 8 = 5 1"}) {
    EXPECT_FALSE(TuningRecordFromText(fmt::format("tuned layer\n{}\n", line)).ok()) << line;
  }
}

// As if all samples had been taken at once.
TEST(TuningRecord, TwoAddUpInCountMeanAndSquares) {
  const KernelChoice choice{"wide", 6, 1, 8};
  const TuningRecord one{{{choice, 2, 1.5, 0.5}}, false};   // 1, 2
  const TuningRecord other{{{choice, 3, 5.0, 8.0}}, true};  // 3, 5, 7
  const TuningRecord both = Merged(one, other);
  ASSERT_EQ(both.candidates.size(), 1u);
  EXPECT_EQ(both.samples(), 5);
  EXPECT_DOUBLE_EQ(both.candidates[0].ms, 3.6);
  EXPECT_DOUBLE_EQ(both.candidates[0].squares, 23.2);
  EXPECT_TRUE(both.of_all);
}

TEST(TuningRecord, OneOfFewCandidatesTakesNoneFromOneOfMore) {
  const TuningRecord few{{{{"wide", 6, 1, 8}, 5, 2.0, 0}}, false};
  const TuningRecord merged = Merged(few, SomeRecord());
  ASSERT_EQ(merged.candidates.size(), 2u);
  EXPECT_EQ(merged.Best()->choice, (KernelChoice{"tile", 4, 2, 8}));
  EXPECT_EQ(merged.candidates[0].count, 10);
}

// Whoever writes a record at a limit must not make the next merging one that cannot be read.
TEST(TuningRecord, TwoAtTheLimitsAddUpToOneThatCanBeRead) {
  const char* line = "tuned layer\nwide 6x1 lanes 8 = {} {} {}\n";
  const Result<TuningRecord> most = TuningRecordFromText(fmt::format(fmt::runtime(line), int64_t{1} << 40, 1e12, 1e24));
  const Result<TuningRecord> least = TuningRecordFromText(fmt::format(fmt::runtime(line), int64_t{1} << 40, 0, 1e24));
  ASSERT_TRUE(most.ok() && least.ok());
  EXPECT_TRUE(TuningRecordFromText(ToText(Merged(*most, *most))).ok());
  EXPECT_TRUE(TuningRecordFromText(ToText(Merged(*most, *least))).ok());

  TuningRecord low, high;
  for (int i = 1; i <= 1000; ++i) {
    low.candidates.push_back({{"wide", i, 1, 8}, 1, 1.0, 0});
    high.candidates.push_back({{"wide", 1000 + i, 1, 8}, 1, 1.0, 0});
  }
  EXPECT_TRUE(TuningRecordFromText(ToText(Merged(low, high))).ok());
}

TEST(StoredTuning, IsOfOneDeviceDriverAndVersion) {
  MemoryStore store;
  const DeviceInfo device = TunedDevice();
  StoreTuning(device, {{"layer", SomeRecord()}}, 1, store);
  for (auto change :
       {+[](DeviceInfo& info) { info.name = "another"; }, +[](DeviceInfo& info) { info.uuid = "7"; },
        +[](DeviceInfo& info) { info.driver_version = "2"; }, +[](DeviceInfo& info) { info.vendor = "another"; },
        +[](DeviceInfo& info) { info.backend = "gles"; },
        +[](DeviceInfo& info) { info.driver_environment = "ACO_DEBUG=0"; }}) {
    DeviceInfo other = device;
    change(other);
    EXPECT_TRUE(StoredTuning(other, store).empty());
  }
  EXPECT_EQ(StoredTuning(device, store), (TuningRecords{{"layer", SomeRecord()}}));
}

// Records are found by how their keys begin, and only one of these keys has a field for it.
TEST(StoredTuning, OfADriverWithVariablesSetIsNotFoundWithoutThem) {
  MemoryStore store;
  DeviceInfo device = TunedDevice();
  device.driver_environment = "ACO_DEBUG=0";
  StoreTuning(device, {{"layer", SomeRecord()}}, 1, store);
  EXPECT_TRUE(StoredTuning(TunedDevice(), store).empty());
  EXPECT_EQ(StoredTuning(device, store).size(), 1u);
}

TEST(StoredTuning, ThatCannotBeReadIsRejectedAndStartsAnew) {
  MemoryStore store;
  const DeviceInfo device = TunedDevice();
  const CacheKey key = KeyOf(TunedLayerRequest{.device = &device, .layer = std::string("layer")});
  const std::vector<std::byte> garbage(40, std::byte{0x41});
  testing::PutOne(store, key, garbage);
  EXPECT_TRUE(StoredTuning(TunedDevice(), store).empty());
  EXPECT_EQ(store.counters().rejected, 1u);
  StoreTuning(TunedDevice(), {{"layer", SomeRecord()}}, 1, store);
  EXPECT_EQ(StoredTuning(TunedDevice(), store).size(), 1u);
}

TEST(StoredTuning, MeasuredTwiceAddsUp) {
  MemoryStore store;
  for (int k = 0; k < 2; ++k) StoreTuning(TunedDevice(), {{"layer", SomeRecord()}}, 1, store);
  EXPECT_EQ(StoredTuning(TunedDevice(), "layer", store)->samples(), 2 * SomeRecord().samples());
}

// It did: an empty record of another machine took the place of all that was measured here.
TEST(StoredTuning, IsNotLostToTheBundleOfAMachineThatMeasuredNothingOrOtherLayers) {
  const testing::CacheFolder here, there, parent;
  StoreTuning(TunedDevice(), {{"layer", SomeRecord()}, {"shared", SomeRecord()}}, 1, *here.Open());
  testing::PutOne(*there.Open(), testing::NumberedKey(1), testing::NumberedBlob(1, 10));
  const auto carry = [&](const char* name) {
    const auto exported = ExportBundle({there.path(), parent.path() / name, {}, {}, ""});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    ImportRequest request;
    request.bundle = parent.path() / name;
    request.store = here.path();
    request.is_trusted = true;
    const auto imported = ImportBundle(request);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
  };
  carry("nothing.tar");
  EXPECT_EQ(StoredTuning(TunedDevice(), *here.Open()).size(), 2u);
  StoreTuning(TunedDevice(), {{"shared", SomeRecord()}, {"new", SomeRecord()}}, 1, *there.Open());
  carry("other.tar");
  const TuningRecords records = StoredTuning(TunedDevice(), *here.Open());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records.at("layer"), SomeRecord());
  EXPECT_GE(records.at("shared").samples(), SomeRecord().samples());
}

}  // namespace
}  // namespace hearth
