// Whose samples are in a tuning record: an entry has one origin, by which revocations find all of them.
#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/null/device.h"
#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "core/base/sha256.h"
#include "core/plan/tuning.h"
#include "runtime/plans/open_cache.h"
#include "runtime/plans/tuning_cache.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/carried_bundle.h"
#include "tests/testing/counted_server.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::CountedServer;
using ::testing::IsEmpty;
using testing::KeyFiles;
using testing::PartsOf;
using testing::Served;
using ::testing::SizeIs;
using testing::TestCache;

DeviceInfo MeasuredDevice() {
  DeviceInfo info = NullDeviceInfo();
  info.name = "a device that several measured";
  return info;
}

TuningRecord RecordOf(int64_t samples) {
  return {{{{"wide", 6, 1, 8}, samples, 2.0, 0.5}}, true};
}

void Measure(ResultCache& store, int64_t samples) {
  StoreTuning(MeasuredDevice(), {{"layer", RecordOf(samples)}}, 1, store);
}

int64_t SamplesIn(ResultCache& store) {
  const TuningRecords records = StoredTuning(MeasuredDevice(), store);
  const auto found = records.find("layer");
  return found == records.end() ? 0 : found->second.samples();
}

std::vector<std::string> TuningOriginsIn(const CacheFolder& folder) {
  std::vector<std::string> origins;
  const auto entries = ListEntries(folder.path());
  if (!entries.ok()) return {entries.status().message()};
  for (const CacheEntry& entry : *entries) origins.push_back(entry.origin);
  return origins;
}

// A machine whose bundles its key signs.
struct Signer {
  std::filesystem::path Bundle(const std::string& name, int64_t samples) const {
    Measure(*store.Open(), samples);
    const std::filesystem::path bundle = parent.path() / name;
    const auto exported = ExportBundle({store.path(), bundle, {}, keys.secret(), "1"});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    return bundle;
  }
  std::string digits() const { return HexOf(keys.trusted().front()); }
  BundleImport ImportInto(const CacheFolder& target, const std::string& name, int64_t samples) const {
    ImportRequest request;
    request.bundle = Bundle(name, samples);
    request.store = target.path();
    request.trusted_keys = keys.trusted();
    const auto imported = ImportBundle(request);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
    return imported.ok() ? *imported : BundleImport();
  }
  KeyFiles keys;
  CacheFolder store, parent;
};

class TuningOrigin : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_SIGNATURES(); }
};

TEST_F(TuningOrigin, WhatIsMeasuredHereReplacesWhatWasImported) {
  const Signer signer;
  const CacheFolder here;
  signer.ImportInto(here, "bundle.tar", 100);
  EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("bundle " + signer.digits()));
  EXPECT_EQ(SamplesIn(*here.Open()), 100);
  Measure(*here.Open(), 5);
  EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("here"));
  EXPECT_EQ(SamplesIn(*here.Open()), 5) << "the signer's samples are still in it";
  Measure(*here.Open(), 5);
  EXPECT_EQ(SamplesIn(*here.Open()), 10) << "what was measured here adds up";
}

TEST_F(TuningOrigin, AnImportLeavesWhatWasMeasuredHere) {
  const Signer signer;
  const CacheFolder here;
  Measure(*here.Open(), 5);
  const BundleImport imported = signer.ImportInto(here, "bundle.tar", 100);
  EXPECT_EQ(imported.entries, 0u);
  EXPECT_THAT(imported.warnings, SizeIs(1));
  EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("here"));
  EXPECT_EQ(SamplesIn(*here.Open()), 5);
}

TEST_F(TuningOrigin, OfTwoSignersRecordsTheLaterOneStaysAlone) {
  const Signer one, other;
  const CacheFolder here;
  one.ImportInto(here, "one.tar", 100);
  other.ImportInto(here, "other.tar", 30);
  EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("bundle " + other.digits()));
  EXPECT_EQ(SamplesIn(*here.Open()), 30);
  EXPECT_EQ(ClearStore(here.path(), {.signed_by = other.digits()})->entries, 1u);
  EXPECT_THAT(TuningOriginsIn(here), IsEmpty());
}

TEST_F(TuningOrigin, OneSignersRecordsAddUpAndAreRevokedTogether) {
  const Signer signer;
  const CacheFolder here;
  signer.ImportInto(here, "first.tar", 100);
  signer.ImportInto(here, "second.tar", 20);  // of the signer's store, which has 120 then
  EXPECT_EQ(SamplesIn(*here.Open()), 220);
  EXPECT_EQ(ClearStore(here.path(), {.signed_by = signer.digits()})->entries, 1u);
  EXPECT_EQ(SamplesIn(*here.Open()), 0);
}

// What a layer has is the layer's, and the writable store's own record comes first, however few samples it has.
TEST_F(TuningOrigin, WhatIsMeasuredHereIsNotAddedToALayersRecord) {
  const Signer signer;
  const std::string layer = signer.Bundle("layer.tar", 100).string();
  const std::string keys = (signer.keys.folder.path() / "key.pub").string();
  for (const std::string token : {"", "a token"}) {  // a store around it must not hide origins
    const CacheFolder here;
    SessionOptions options{
        .cache_folder = here.path().string(), .cache_layers = {layer}, .cache_layer_keys = keys, .model_token = token};
    options.on_cache_event = [](const CacheEvent&) {};
    Measure(*OpenCache(options).store, 5);
    EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("here"));
    EXPECT_EQ(SamplesIn(*here.Open()), token.empty() ? 5 : 0);
    EXPECT_EQ(SamplesIn(*OpenCache(options).store), 5);
  }
}

TEST_F(TuningOrigin, NoSamplesOfOthersAreSignedForAServer) {
  const Signer signer;
  const CacheFolder here, there;
  signer.ImportInto(here, "bundle.tar", 100);
  SigningKey own;
  own.seed.fill(7);
  const ServerOptions options = testing::FleetOf(own);
  CountedServer server;
  {
    TestCache session(Served(PartsOf(here.OpenStore()), server, options));
    Measure(session, 5);
  }
  TestCache other(Served(PartsOf(there.OpenStore()), server, options));
  const auto received = StoredTuning(MeasuredDevice(), "layer", other);
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->samples(), 5);
}

TEST_F(TuningOrigin, WhatIsMeasuredHereIsNotReplacedByWhatWasFetchedBefore) {
  SigningKey own;
  own.seed.fill(7);
  const ServerOptions options = testing::FleetOf(own);
  CountedServer server;
  {
    TestCache maker(Served({}, server, options));
    Measure(maker, 100);
  }
  const CacheFolder here;
  {
    TestCache session(Served(PartsOf(here.OpenStore()), server, options));
    EXPECT_TRUE(StoredTuning(MeasuredDevice(), "layer", session).has_value());
    Measure(session, 5);
  }
  EXPECT_EQ(SamplesIn(*here.Open()), 5);
  EXPECT_THAT(TuningOriginsIn(here), ::testing::ElementsAre("here"));
}

}  // namespace
}  // namespace hearth
