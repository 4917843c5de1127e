// Databases with other tables than Hearth makes: what sqlite computes for a column or an index runs when a row is read.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/sources/bundle_reader.h"
#include "cache/sources/layer.h"
#include "cache/trust/envelope.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

constexpr const char* kRefusal = "its tables are not those of a store";

void Change(const fs::path& file, const std::string& sql) {
  Result<Database> database = Database::Open(file, Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok()) << database.status().message();
  const Status status = database->Run(sql);
  ASSERT_TRUE(status.ok()) << status.message();
}

std::string Within(const Status& status) {
  return status.ok() ? "it was accepted" : std::string(status.message());
}

// The table of entries, with all its names and rows, and with these definitions of two columns.
std::string OtherEntries(const std::string& material, const std::string& origin = "TEXT NOT NULL") {
  const bool is_computed = material.find("GENERATED") != std::string::npos;
  const std::string others = "id, digest, kind, size_bytes, checksum, cost_ms, created_ms, last_used_ms, origin, needs";
  const std::string columns = is_computed ? others : others + ", material";
  return "CREATE TEMP TABLE kept AS SELECT * FROM entries; DROP TABLE entries;"
         "CREATE TABLE entries(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, material " +
         material +
         ", size_bytes INTEGER NOT NULL, checksum BLOB NOT NULL, cost_ms REAL NOT NULL, created_ms INTEGER NOT NULL,"
         " last_used_ms INTEGER NOT NULL, origin " +
         origin +
         ", needs BLOB);"
         "CREATE INDEX tuning_by_key ON entries(material) WHERE kind='tuning';"
         "CREATE INDEX entries_by_need ON entries(needs) WHERE needs IS NOT NULL;"
         "CREATE INDEX entries_by_last_use ON entries(last_used_ms);"
         "INSERT INTO main.entries(" +
         columns + ") SELECT " + columns + " FROM kept;";
}

struct OtherTables {
  const char* name;
  std::string sql;
};
void PrintTo(const OtherTables& tables, std::ostream* out) {
  *out << tables.name;
}

class CacheOtherTables : public ::testing::TestWithParam<OtherTables> {};

INSTANTIATE_TEST_SUITE_P(
    Each, CacheOtherTables,
    ::testing::Values(
        OtherTables{"ComputedColumn", OtherEntries("BLOB GENERATED ALWAYS AS (zeroblob(1000)||x'01') VIRTUAL")},
        OtherTables{"StoredColumn", OtherEntries("BLOB GENERATED ALWAYS AS (zeroblob(1000)) STORED")},
        OtherTables{"Check", OtherEntries("BLOB NOT NULL CHECK(length(material)>0)")},
        OtherTables{"Default", OtherEntries("BLOB NOT NULL", "TEXT NOT NULL DEFAULT (hex(zeroblob(9)))")},
        OtherTables{"OneMoreColumn", "ALTER TABLE models ADD COLUMN more AS (zeroblob(1000))"},
        OtherTables{"IndexOnAnExpression", "CREATE INDEX more ON entries(length(zeroblob(1000)))"},
        OtherTables{"OtherIndex", "DROP INDEX uses_by_digest; CREATE INDEX uses_by_digest ON uses(hex(digest))"},
        OtherTables{"NoIndex", "DROP INDEX uses_by_digest"}, OtherTables{"OneMoreTable", "CREATE TABLE more(x)"},
        OtherTables{"View", "CREATE VIEW more AS SELECT 1"},
        OtherTables{"Trigger", "CREATE TRIGGER more AFTER INSERT ON uses BEGIN DELETE FROM models; END"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(CacheOtherTables, OfALayerAreRefused) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Change(folder.file(), GetParam().sql);
  LayerRequest request;
  request.path = folder.path();
  request.is_trusted = true;
  EXPECT_NE(Within(OpenLayer(request).status()).find(kRefusal), std::string::npos)
      << Within(OpenLayer(request).status());
}

TEST_P(CacheOtherTables, OfTheOwnStoreMakeItADamagedOne) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Change(folder.file(), GetParam().sql);
  EXPECT_EQ(ListEntries(folder.path()).status().code(), StatusCode::kIoError);
  const auto store = folder.Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
  EXPECT_TRUE(fs::exists(folder.file().string() + ".damaged"));
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_TRUE(store->Get(NumberedKey(1)));
}

// VACUUM writes tables before indexes, ANALYZE makes a table of its own.
TEST(CacheOwnTables, MayBeVacuumedAndAnalyzedByOtherTools) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Change(folder.file(), "VACUUM; ANALYZE");
  const auto store = folder.Open();
  EXPECT_EQ(store->Get(NumberedKey(1)), NumberedBlob(1, 100));
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheLongValues, AKeyThatIsLongerThanAnyIsRefused) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Change(folder.file(), "UPDATE entries SET material=zeroblob(17<<20)");
  EXPECT_EQ(ListEntries(folder.path()).status().code(), StatusCode::kIoError);

  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  testing::Unpacked lying = testing::Unpack(carried.bundle);
  Manifest manifest = testing::ManifestOf(carried.bundle);
  const uint64_t length = uint64_t{17} << 20;
  std::vector<std::byte>& envelope = lying.envelopes[0].second;
  std::memcpy(envelope.data() + kEnvelopeStartBytes - sizeof(length), &length, sizeof(length));
  envelope.resize(2 * length);
  manifest.entries[0].size_bytes = envelope.size();
  manifest.entries[0].sha256 = Sha256Of(envelope);
  lying.texts.manifest = manifest.ToText();
  testing::Pack(lying, carried.bundle);
  auto reader = BundleReader::Open(carried.bundle, {});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  const Status status = reader->Check(0).status();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(Within(status).find("is no entry"), std::string::npos) << Within(status);
}

TEST(CacheLongValues, ABlobThatIsLongerThanAnyKeyIsStoredAndReadAgain) {
  const CacheFolder folder;
  const std::vector<std::byte> blob = NumberedBlob(1, 17 << 20);
  PutOne(*folder.Open(), NumberedKey(1), blob);
  const auto store = folder.Open();
  EXPECT_EQ(store->Get(NumberedKey(1)), blob);
  EXPECT_TRUE(store->TakeWarnings().empty());
}

}  // namespace
}  // namespace hearth
