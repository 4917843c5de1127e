// What revoking a key does and says: all of it, or what it did not do.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::CacheFolder;
using testing::Carried;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::KeyFiles;
using testing::NumberedBlob;
using testing::NumberedKey;

const std::string kRevokedKey(64, 'a'), kUnknownKey(64, 'e');

// Two kinds of entries of one signer.
void PutSignedPair(const CacheFolder& folder, const std::string& signer) {
  const std::string origin = "bundle " + signer;
  for (const BlobKind kind : {BlobKind::kProgram, BlobKind::kWeights}) {
    const CacheKey key = NumberedKey(1, kind);
    const auto bytes = NumberedBlob(1, 1000);
    const testing::PutRequest request{&key, bytes, 1, origin};
    folder.Open()->Put({&request, 1});
  }
}

TEST(CacheRevoking, WithAnotherConditionIsAMistakeAndRevokesNothing) {
  const CacheFolder folder;
  PutSignedPair(folder, kRevokedKey);
  const CacheFilter filters[] = {
      {.kind = "weights", .signed_by = kRevokedKey},
      {.device = "opencl", .signed_by = kRevokedKey},
      {.digests = std::vector<std::string>(), .signed_by = kRevokedKey},
      {.unused_since_ms = 0, .signed_by = kRevokedKey},
      {.origin = "bundle", .signed_by = kRevokedKey},
  };
  for (const CacheFilter& filter : filters) {
    const Status refused = ClearStore(folder.path(), filter).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("no other condition"));
  }
  EXPECT_EQ(ListEntries(folder.path())->size(), 2u);
  EXPECT_TRUE(ListRevocations(folder.path())->of_keys.empty());
}

TEST(CacheRevoking, MoreDigitsThanAKeyHasRevokeNothing) {
  const CacheFolder folder;
  folder.Open().reset();
  const Status refused = ClearStore(folder.path(), {.signed_by = std::string(80, 'a')}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("80 hex digits"), HasSubstr("has 64")));
  EXPECT_TRUE(ListRevocations(folder.path())->of_keys.empty());
}

TEST(CacheRevoking, SaysWhichKeyItsFirstDigitsMeant) {
  const CacheFolder folder;
  PutSignedPair(folder, kRevokedKey);
  const auto removed = ClearStore(folder.path(), {.signed_by = "aaaa"});
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->revoked_key, kRevokedKey);
  EXPECT_EQ(removed->entries, 2u);
  EXPECT_EQ(removed->other_formats_bytes, 0u);
}

TEST(CacheRevoking, IsRememberedAlsoWhereNoStoreIsYet) {
  const CacheFolder parent;
  const auto folder = parent.path() / "cache";
  EXPECT_EQ(ClearStore(folder, {.signed_by = "eee"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder)) << "too few digits";
  const auto removed = ClearStore(folder, {.signed_by = kUnknownKey});
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->revoked_key, kUnknownKey);
  ASSERT_EQ(ListRevocations(folder)->of_keys.size(), 1u);
  EXPECT_EQ(ListRevocations(folder)->of_keys.begin()->first, kUnknownKey);
}

TEST(CacheRevoking, TellsOfStoresOfOtherVersionsWhichKeepWhatTheKeySigned) {
  const CacheFolder folder;
  PutSignedPair(folder, kRevokedKey);
  constexpr int kOlder = 1;  // FormatStamp in store_file.cc
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)
                  ->Run("PRAGMA user_version=" + std::to_string((~kOlder & 0x7fff) << 16 | kOlder))
                  .ok());
  const auto removed = ClearStore(folder.path(), {.signed_by = kRevokedKey});
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 0u);
  EXPECT_GT(removed->other_formats_bytes, 0u);
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_EQ(ReadStoreStats(folder.path())->other_formats_bytes, 0u) << "as the advice says";
}

// Whoever imports the bundle knows no other signer of these.
TEST(CacheRevoking, ASignedExportCountsWhatOthersSignedAndNamesTheirKeys) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const Carried carried;
  PutSignedPair(carried.source, kRevokedKey);
  const auto exported = carried.Export(keys.secret());
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_EQ(exported->entries, 5u);
  EXPECT_EQ(exported->from_others, 2u);
  EXPECT_THAT(exported->other_keys, ElementsAre(kRevokedKey));
  ExportRequest own = carried.ExportRequestFor(keys.secret());
  own.bundle = carried.parent.path() / "own.tar";
  own.filter.origin = "here";
  EXPECT_EQ(ExportBundle(own)->from_others, 0u);
}

TEST(CacheRevoking, ASignedExportLeavesOutWhatARevokedKeySigned) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const Carried carried;
  ASSERT_TRUE(ClearStore(carried.source.path(), {.signed_by = kRevokedKey}).ok());
  PutSignedPair(carried.source, kRevokedKey);  // by a session that trusts it again
  const auto exported = carried.Export(keys.secret());
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_EQ(exported->entries, 3u);
  EXPECT_EQ(exported->revoked_entries, 2u);
  ExportRequest unsigned_one = carried.ExportRequestFor(std::nullopt);
  unsigned_one.bundle = carried.parent.path() / "unsigned.tar";
  EXPECT_EQ(ExportBundle(unsigned_one)->entries, 5u);
}

TEST(CacheRevoking, AnExportOfAFolderWithoutACacheIsAMistakeAndLeavesNothing) {
  const CacheFolder parent;
  const auto bundle = parent.path() / "bundle.tar";
  const Status refused = ExportBundle({parent.path() / "typo", bundle, {}, {}, "1"}).status();
  EXPECT_EQ(refused.code(), StatusCode::kNotFound);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("typo"), HasSubstr("--cache")));
  EXPECT_FALSE(std::filesystem::exists(bundle));
}

}  // namespace
}  // namespace hearth
