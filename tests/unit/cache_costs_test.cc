// Numbers from elsewhere that say what an entry cost: whatever they are, the store stays whole and its sums numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/store/entry_row.h"
#include "cache/trust/envelope.h"
#include "core/base/sha256.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/carried_bundle.h"
#include "tests/testing/counted_server.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::Carried;
using testing::CountedServer;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::TestCache;

constexpr double kInfiniteCost = std::numeric_limits<double>::infinity();
constexpr double kStrangeCosts[] = {std::numeric_limits<double>::quiet_NaN(), kInfiniteCost, -kInfiniteCost, -1e300,
                                    1.5e308};

void ExpectWholeAndBounded(const CacheFolder& folder, size_t entries) {
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "hearth.db.damaged"));
  const auto listed = ListEntries(folder.path());
  ASSERT_TRUE(listed.ok()) << listed.status().message();
  EXPECT_EQ(listed->size(), entries);
  for (const CacheEntry& entry : *listed) {
    EXPECT_GE(entry.cost_ms, 0);
    EXPECT_LE(entry.cost_ms, kMostCostMs);
  }
  Database database = std::move(Database::Open(folder.file(), Database::Access::kReadOnly)).value();
  EXPECT_EQ(*database.Number("SELECT count(id) FROM entries WHERE cost_ms NOT BETWEEN 0 AND 1e8"), 0);
}

// Reads the entries in two sessions, the second of which adds to what the first has written.
void ReadTwice(const CacheFolder& folder, const std::vector<CacheKey>& keys) {
  for (int session = 0; session < 2; ++session) {
    const auto store = folder.Open();
    for (int turn = 0; turn < 2; ++turn) {
      for (const CacheKey& key : keys) EXPECT_TRUE(store->Get(key).has_value());
      store->Flush();
    }
    EXPECT_TRUE(std::isfinite(store->counters().milliseconds_saved));
    EXPECT_TRUE(store->TakeWarnings().empty());
  }
}

TEST(CacheCosts, AreBoundedAndWhatIsNoNumberIsNone) {
  for (const double cost_ms : {0.0, 12.5, kMostCostMs}) EXPECT_EQ(BoundedCostMs(cost_ms), cost_ms);
  for (const double cost_ms : {kStrangeCosts[0], kInfiniteCost, -kInfiniteCost, -1e300, -1.0}) {
    EXPECT_EQ(BoundedCostMs(cost_ms), 0);
  }
  EXPECT_EQ(BoundedCostMs(1.5e308), kMostCostMs);
}

// It did: sqlite stores NULL for it, and the violated NOT NULL looked like a damaged file.
TEST(CacheCosts, ANumberOfOursThatIsNoneIsNoDamageOfTheFile) {
  const CacheFolder folder;
  folder.Open().reset();
  Database database = std::move(Database::Open(folder.file(), Database::Access::kReadWrite)).value();
  Statement statement = std::move(database.Prepare("INSERT INTO counters VALUES('a test', ?)")).value();
  EXPECT_EQ(statement.Bind(0, kStrangeCosts[0]).Run().code(), StatusCode::kInternal);
  EXPECT_TRUE(statement.Bind(0, 1.0).Run().ok()) << "it can be used again";
}

TEST(CacheCosts, OfAnyPutLeaveTheStoreWhole) {
  const CacheFolder folder;
  std::vector<CacheKey> keys;
  for (const BlobKind kind : {BlobKind::kProgram, BlobKind::kSource}) {
    for (const double cost_ms : kStrangeCosts) {
      keys.push_back(NumberedKey(static_cast<int>(keys.size()), kind));
      const auto store = folder.Open();
      for (int time = 0; time < 2; ++time) PutOne(*store, keys.back(), NumberedBlob(1, 100), cost_ms);
      EXPECT_EQ(store->counters().put_errors, 0u);
    }
  }
  ReadTwice(folder, keys);
  ExpectWholeAndBounded(folder, keys.size());
}

TEST(CacheCosts, OfAServersValuesLeaveTheStoreWhole) {
  SKIP_WITHOUT_SIGNATURES();
  SigningKey key;
  key.seed.fill(1);
  const ServerOptions options = testing::FleetOf(key);
  CountedServer server;
  std::vector<CacheKey> keys;
  for (const double cost_ms : kStrangeCosts) {
    TestCache maker(testing::Served({}, server, options));
    keys.push_back(NumberedKey(static_cast<int>(keys.size())));
    PutOne(maker, keys.back(), NumberedBlob(1, 100), cost_ms);
  }
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(100), NumberedBlob(100, 100), 5);
  {
    TestCache session(testing::Served(testing::PartsOf(folder.OpenStore()), server, options));
    for (const CacheKey& wanted : keys) EXPECT_TRUE(session.Get(wanted).has_value());
    EXPECT_TRUE(std::isfinite(session.counters().milliseconds_saved));
    session.Flush();
    EXPECT_TRUE(session.TakeWarnings().empty());
  }
  keys.push_back(NumberedKey(100));
  ReadTwice(folder, keys);
  ExpectWholeAndBounded(folder, keys.size());
}

TEST(CacheCosts, OfABundleLeaveTheStoreWhole) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  testing::Unpacked lying = testing::Unpack(carried.bundle);
  Manifest manifest = Manifest::FromText(lying.texts.manifest).value();
  for (size_t k = 0; k < lying.envelopes.size(); ++k) {
    std::vector<std::byte>& envelope = lying.envelopes[k].second;
    const uint64_t head_bytes = *EnvelopeHeadBytes(envelope);
    const double cost_ms = kStrangeCosts[k];
    std::memcpy(envelope.data() + head_bytes - sizeof(Fingerprint) - sizeof(cost_ms), &cost_ms, sizeof(cost_ms));
    manifest.entries[k].sha256 = Sha256Of(envelope);
  }
  lying.texts.manifest = manifest.ToText();
  testing::Pack(lying, carried.bundle);
  ASSERT_TRUE(carried.ImportTrusting().ok());
  ReadTwice(carried.target,
            {NumberedKey(1, BlobKind::kPlan), testing::NativeKey("conv", "1.0"), testing::NativeKey("conv", "2.0")});
  ExpectWholeAndBounded(carried.target, 3);
}

TEST(CacheCosts, OfALayersRowsAddUpToANumber) {
  for (const char* cost_ms : {"1.5e308", "9e999", "-9e999"}) {
    const CacheFolder folder;
    for (int number = 0; number < 3; ++number) {
      PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 100));
    }
    {
      Database database = std::move(Database::Open(folder.file(), Database::Access::kReadWrite)).value();
      ASSERT_TRUE(database.Run(std::string("UPDATE entries SET cost_ms=") + cost_ms).ok());
    }
    StoreOptions options = folder.options();
    options.read_only = true;
    const auto store = testing::WithLayer(std::move(SqliteStore::Open(options)).value());
    for (int number = 0; number < 3; ++number) EXPECT_TRUE(store->Get(NumberedKey(number)).has_value());
    EXPECT_GE(store->counters().milliseconds_saved, 0);
    EXPECT_LE(store->counters().milliseconds_saved, 3 * kMostCostMs);
  }
}

}  // namespace
}  // namespace hearth
