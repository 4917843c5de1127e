// What content is called in keys: nobody can make other content that a store takes for it.
#include <algorithm>
#include <random>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using Use = NameUse;

std::string FullName(const std::vector<std::byte>& bytes) {
  return fmt::format("{}/{}", HexOf(Sha256Of(bytes)), bytes.size());
}

CacheKey WeightsOf(testing::TestCache& store, const std::vector<std::byte>& content, Use use) {
  CacheKey key(BlobKind::kWeights);
  key.Add("content", store.NameOf(content, use));
  return key;
}

// Where the store remembers the content's name: the digest alone decides whether other content is taken for it.
std::string PlaceIn(const CacheFolder& folder, const std::vector<std::byte>& content) {
  {
    const auto store = folder.Open();
    PutOne(*store, WeightsOf(*store, content, Use::kPut), NumberedBlob(2, 100));
  }
  Database database = std::move(Database::Open(folder.file(), Database::Access::kReadOnly)).value();
  Statement place = std::move(database.Prepare("SELECT fast FROM content_names WHERE name=?")).value();
  EXPECT_TRUE(*place.Bind(0, FullName(content)).Step());
  return std::string(TextFrom(place.Blob(0)));
}

TEST(ContentNames, AreRememberedUnderADigestThatNoOtherStoreHas) {
  const CacheFolder one, other;
  const std::vector<std::byte> content = NumberedBlob(1, 5000);
  const std::string known_to_all(reinterpret_cast<const char*>(FingerprintOf(content).bytes.data()), 16);
  EXPECT_NE(PlaceIn(one, content), PlaceIn(other, content));
  EXPECT_NE(PlaceIn(one, content).substr(0, 16), known_to_all);
  EXPECT_EQ(PlaceIn(one, content), PlaceIn(one, content)) << "and it stays";
  EXPECT_NE(PlaceIn(one, content), PlaceIn(one, NumberedBlob(2, 5000)));
}

TEST(ContentNames, DependOnTheWholeSecret) {
  std::array<std::byte, kFingerprintSecretBytes> secret;
  std::mt19937 random(7);
  for (std::byte& byte : secret) byte = static_cast<std::byte>(random());
  const std::vector<std::byte> content = NumberedBlob(3, 5000);
  for (size_t k = 0; k < secret.size(); ++k) {
    auto changed = secret;
    changed[k] ^= std::byte{1};
    EXPECT_NE(SecretFingerprintOf(content, changed), SecretFingerprintOf(content, secret)) << k;
  }
}

TEST(ContentNames, InKeysAreSha256AndTheSameInEveryStore) {
  const CacheFolder one, other;
  const std::vector<std::byte> content = NumberedBlob(1, 5000);
  EXPECT_EQ(one.Open()->NameOf(content, Use::kPut), FullName(content));
  EXPECT_EQ(other.Open()->NameOf(content, Use::kPut), FullName(content));
}

TEST(ContentNames, CostNoSha256OfWhatTheStoreHasNeverSeenAndNoneOfWhatItHas) {
  const CacheFolder folder;
  const std::vector<std::byte> content = NumberedBlob(1, 5000);
  {
    const auto store = folder.Open();
    EXPECT_NE(store->NameOf(content, Use::kLookUp), FullName(content));
    EXPECT_FALSE(store->Get(WeightsOf(*store, content, Use::kLookUp)).has_value());
    PutOne(*store, WeightsOf(*store, content, Use::kPut), NumberedBlob(2, 100));
    EXPECT_EQ(store->Get(WeightsOf(*store, content, Use::kLookUp)), NumberedBlob(2, 100));
  }
  const auto store = folder.Open();
  EXPECT_EQ(store->Get(WeightsOf(*store, content, Use::kLookUp)), NumberedBlob(2, 100));
  EXPECT_NE(store->NameOf(NumberedBlob(1, 5001), Use::kLookUp), FullName(NumberedBlob(1, 5001)));
}

TEST(ContentNames, OfWhatABundleBroughtAreFound) {
  const CacheFolder there, here, parent;
  const std::vector<std::byte> content = NumberedBlob(1, 5000);
  {
    const auto store = there.Open();
    PutOne(*store, WeightsOf(*store, content, Use::kPut), NumberedBlob(2, 100));
  }
  ImportRequest request;
  request.bundle = parent.path() / "bundle.tar";
  request.store = here.path();
  request.is_trusted = true;
  ASSERT_TRUE(ExportBundle({there.path(), request.bundle, {}, {}, ""}).ok());
  ASSERT_TRUE(ImportBundle(request).ok());
  const auto store = here.Open();
  EXPECT_EQ(store->Get(WeightsOf(*store, content, Use::kLookUp)), NumberedBlob(2, 100));
}

TEST(ContentNames, SurviveAStoreWhoseSecretIsGone) {
  const CacheFolder folder;
  ASSERT_TRUE(folder.Open() != nullptr);
  {
    Database database = std::move(Database::Open(folder.file(), Database::Access::kReadWrite)).value();
    ASSERT_TRUE(database.Run("DELETE FROM counters WHERE name='secret'").ok());
  }
  const std::vector<std::byte> content = NumberedBlob(1, 5000);
  EXPECT_EQ(folder.Open()->NameOf(content, Use::kLookUp), FullName(content));
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  const std::vector<std::byte> bytes = NumberedBlob(5, 1000);
  for (const size_t piece_bytes : {1, 63, 64, 65, 100, 128, 999, 1000}) {
    Sha256 sha256;
    for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
      sha256.Add(std::span(bytes).subspan(at, std::min(piece_bytes, bytes.size() - at)));
    }
    EXPECT_EQ(sha256.Finish(), Sha256Of(bytes)) << piece_bytes;
  }
}

TEST(Sha256, OfTheProcessorIsThatOfTheTable) {
  for (size_t size_bytes : {0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 100000}) {
    const std::vector<std::byte> bytes = NumberedBlob(5, size_bytes);
    EXPECT_EQ(Sha256Of(bytes), PlainSha256Of(bytes)) << size_bytes;
  }
}

// ---- Where entries came from ----

struct Imported {
  explicit Imported(const std::optional<SigningKey>& key) {
    PutOne(*here.Open(), NumberedKey(1), NumberedBlob(1, 10));
    PutOne(*there.Open(), NumberedKey(2), NumberedBlob(2, 10));
    ImportRequest request;
    request.bundle = parent.path() / "bundle.tar";
    request.store = here.path();
    request.is_trusted = !key;
    if (key) request.trusted_keys = {*PublicKeyOf(*key)};
    const auto exported = ExportBundle({there.path(), request.bundle, {}, key, ""});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    const auto imported = ImportBundle(request);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
  }
  std::vector<std::string> Origins(const CacheFilter& filter = {}) const {
    std::vector<std::string> origins;
    const auto entries = ListEntries(here.path(), filter);
    for (const CacheEntry& entry : *entries) origins.push_back(entry.origin);
    std::ranges::sort(origins);
    return origins;
  }
  CacheFolder here, there, parent;
};

TEST(Origin, IsHereOrTheBundleOfNobody) {
  const Imported imported(std::nullopt);
  EXPECT_EQ(imported.Origins(), (std::vector<std::string>{"bundle", "here"}));
  CacheFilter filter{.origin = "here"};
  EXPECT_EQ(imported.Origins(filter), (std::vector<std::string>{"here"}));
}

TEST(Origin, NamesTheKeyOfABundleAndRevokingItDeletesThatAlone) {
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  SigningKey key;
  key.seed.fill(1);
  const Imported imported(key);
  const std::string hex = HexOf(*PublicKeyOf(key));
  EXPECT_EQ(imported.Origins(), (std::vector<std::string>{"bundle " + hex, "here"}));
  CacheFilter filter{.signed_by = std::string(64, '0')};
  EXPECT_EQ(ClearStore(imported.here.path(), filter)->entries, 0u);
  filter.signed_by = hex;
  EXPECT_EQ(ClearStore(imported.here.path(), filter)->entries, 1u);
  EXPECT_EQ(imported.Origins(), (std::vector<std::string>{"here"}));
  EXPECT_TRUE(imported.here.Open()->Get(NumberedKey(1)).has_value());
}

TEST(Origin, OfWhatIsMadeAgainIsHere) {
  const Imported imported(std::nullopt);
  PutOne(*imported.here.Open(), NumberedKey(2), NumberedBlob(2, 10));
  EXPECT_EQ(imported.Origins(), (std::vector<std::string>{"here", "here"}));
}

TEST(ContentNames, OfLongContentTakeOneReading) {
  const CacheFolder folder;
  const std::vector<std::byte> bytes = NumberedBlob(4, 5000);
  int readings = 0;
  const ContentReading content{bytes.size(), [&](const ContentReading::Take& take) {
                                 ++readings;
                                 for (size_t at = 0; at < bytes.size(); at += 1000)
                                   take(std::span(bytes).subspan(at, 1000));
                                 return Status::Ok();
                               }};
  const auto named = [&](testing::TestCache& store, Use use) {
    readings = 0;
    const Result<KnownFile> known = store.NameOf(content, use);
    EXPECT_EQ(readings, 1);
    EXPECT_EQ(known->fingerprint, FingerprintOf(bytes).ToHex());
    return known->name;
  };
  {
    const auto store = folder.Open();
    EXPECT_EQ(named(*store, Use::kLookUp), store->NameOf(bytes, Use::kLookUp));
    EXPECT_EQ(named(*store, Use::kPutNew), FullName(bytes));
    PutOne(*store, WeightsOf(*store, bytes, Use::kPut), NumberedBlob(2, 100));
  }
  const auto store = folder.Open();
  EXPECT_EQ(named(*store, Use::kLookUp), FullName(bytes));
  EXPECT_EQ(named(*store, Use::kPut), FullName(bytes));
  EXPECT_EQ(store->NameOf(bytes, Use::kLookUp), FullName(bytes)) << "known under the same digest";
}

TEST(ContentNames, ThatCannotBeReadAreAnError) {
  const CacheFolder folder;
  const ContentReading content{5000, [](const auto&) { return Status(StatusCode::kIoError, "shortened"); }};
  for (const Use use : {Use::kLookUp, Use::kPut, Use::kPutNew}) {
    EXPECT_EQ(folder.Open()->NameOf(content, use).status().message(), "shortened");
  }
}

}  // namespace
}  // namespace hearth
