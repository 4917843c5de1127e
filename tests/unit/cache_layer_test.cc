// Layers under the rule of imports: nothing of a folder is used that nobody stands behind.
#include "cache/bundle.h"
#include "cache/database.h"
#include "cache/layer.h"
#include "cache/layered_store.h"
#include "cache/reports.h"
#include "cache/trusted_path.h"
#include "core/base/sha256.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

SigningKey KeyOf(uint8_t number) {
  SigningKey key;
  key.seed.fill(number);
  return key;
}

// A bundle with a program and a plan, signed with a key or not at all.
struct Layer {
  explicit Layer(const std::optional<SigningKey>& key) {
    const auto store = source.Open();
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
    PutOne(*store, NumberedKey(2, BlobKind::kPlan), NumberedBlob(2, 2000));
    store->Flush();
    const auto exported = ExportBundle({source.path(), folder, {}, key, "1"});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
  }
  // A byte of the first blob is another one, and the store's own checksum agrees with it.
  void ForgeFirstBlob() const {
    std::vector<std::byte> forged = NumberedBlob(1, 1000);
    forged[500] ^= std::byte{1};
    Database database = std::move(Database::Open(folder / "hearth.db", Database::Access::kReadWrite)).value();
    Statement blob = std::move(database.Prepare("UPDATE blobs SET bytes=? WHERE length(bytes)=1000")).value();
    ASSERT_TRUE(blob.Bind(0, forged).Run().ok());
    Statement checksum = std::move(database.Prepare("UPDATE entries SET checksum=? WHERE size_bytes=1000")).value();
    ASSERT_TRUE(checksum.Bind(0, FingerprintOf(forged).bytes).Run().ok());
  }

  CacheFolder source, parent;
  fs::path folder = parent.path() / "layer";
};

class CacheLayer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
    trusted_ = {*PublicKeyOf(KeyOf(1))};
  }
  std::vector<PublicKey> trusted_;
};

TEST_F(CacheLayer, ThatATrustedKeySignedIsUsed) {
  const Layer layer(KeyOf(1));
  const auto store = OpenLayer({layer.folder, trusted_});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ((*store)->Get(NumberedKey(1)), NumberedBlob(1, 1000));
  EXPECT_EQ((*store)->Get(NumberedKey(2, BlobKind::kPlan)), NumberedBlob(2, 2000));
  EXPECT_FALSE((*store)->Get(NumberedKey(3)).has_value());
  EXPECT_EQ((*store)->counters().hits, 2u);
}

TEST_F(CacheLayer, ThatNobodySignedIsRefusedWithAWayOut) {
  const Layer layer(std::nullopt);
  const auto store = OpenLayer({layer.folder, trusted_});
  ASSERT_EQ(store.status().code(), StatusCode::kIoError);
  EXPECT_NE(store.status().message().find("--trust-cache-layers"), std::string::npos);
  EXPECT_EQ(OpenLayer({layer.folder, {}}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, ThatAStrangerSignedIsRefused) {
  const Layer layer(KeyOf(2));
  EXPECT_EQ(OpenLayer({layer.folder, trusted_}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, WithAManifestThatIsNoneIsRefused) {
  const Layer layer(KeyOf(1));
  std::string text = testing::ReadFile(layer.folder / "manifest.txt");
  text[text.size() - 10] ^= 1;
  testing::WriteFile(layer.folder / "manifest.txt", text);
  EXPECT_EQ(OpenLayer({layer.folder, trusted_}).status().code(), StatusCode::kIoError);
  testing::WriteFile(layer.folder / "manifest.txt", "x");
  EXPECT_EQ(OpenLayer({layer.folder, trusted_}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, ThatIsACacheWithoutAManifestNeedsTrust) {
  const CacheFolder cache;
  PutOne(*cache.Open(), NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_EQ(OpenLayer({cache.path(), trusted_}).status().code(), StatusCode::kIoError);
  const auto store = OpenLayer({cache.path(), {}, true});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_EQ((*store)->Get(NumberedKey(1)), NumberedBlob(1, 100));
}

TEST_F(CacheLayer, GivesNoBlobThatIsNotTheSignedOne) {
  const Layer layer(KeyOf(1));
  layer.ForgeFirstBlob();
  const auto store = OpenLayer({layer.folder, trusted_});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_FALSE((*store)->Get(NumberedKey(1)).has_value());
  EXPECT_TRUE((*store)->Get(NumberedKey(2, BlobKind::kPlan)).has_value());
  EXPECT_EQ((*store)->counters().rejected, 1u);
  EXPECT_EQ((*store)->counters().hits, 1u);
  EXPECT_EQ((*store)->TakeWarnings().size(), 1u);
}

TEST_F(CacheLayer, GivesNoEntryThatTheManifestDoesNotName) {
  const Layer layer(KeyOf(1));
  StoreOptions options{.folder = layer.folder};
  PutOne(*CacheFolder::Open(options), NumberedKey(7), NumberedBlob(7, 100));
  const auto store = OpenLayer({layer.folder, trusted_});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_FALSE((*store)->Get(NumberedKey(7)).has_value());
}

// Trust decides whether a signature is needed, not whether it is remembered.
TEST_F(CacheLayer, ThatIsTrustedAndSignedKeepsItsSigner) {
  const Layer layer(KeyOf(1));
  const CacheFolder folder;
  std::vector<std::unique_ptr<BlobStore>> layers;
  layers.push_back(std::move(OpenLayer({layer.folder, trusted_, true})).value());
  LayeredStore store(std::move(layers), folder.Open());
  PutOne(store, NumberedKey(1), *store.Get(NumberedKey(1)));
  EXPECT_EQ(ListEntries(folder.path())->at(0).origin, "bundle " + HexOf(trusted_.front()));
  EXPECT_EQ(ClearStore(folder.path(), {.signed_by = HexOf(trusted_.front())})->entries, 1u);
}

TEST_F(CacheLayer, ThatIsTrustedAndSignedGivesNoBlobThatIsNotTheSignedOne) {
  const Layer layer(KeyOf(1));
  layer.ForgeFirstBlob();
  const auto store = OpenLayer({layer.folder, trusted_, true});
  ASSERT_TRUE(store.ok()) << store.status().message();
  EXPECT_FALSE((*store)->Get(NumberedKey(1)).has_value());
}

TEST_F(CacheLayer, ThatIsTrustedIsUsedWhateverItsManifestIs) {
  const Layer layer(KeyOf(2));
  for (const char* manifest : {"", "x"}) {
    if (*manifest != '\0') testing::WriteFile(layer.folder / "manifest.txt", manifest);
    const auto store = OpenLayer({layer.folder, trusted_, true});
    ASSERT_TRUE(store.ok()) << store.status().message();
    EXPECT_EQ((*store)->Get(NumberedKey(1)), NumberedBlob(1, 1000));
  }
}

// A session puts again what it loaded, without saying where from.
TEST_F(CacheLayer, ThatWasRevokedLeavesNothingInTheStoreAboveIt) {
  const Layer layer(KeyOf(1));
  const CacheFolder folder;
  std::vector<std::unique_ptr<BlobStore>> layers;
  layers.push_back(std::move(OpenLayer({layer.folder, trusted_})).value());
  LayeredStore store(std::move(layers), folder.Open());
  PutOne(store, NumberedKey(1), *store.Get(NumberedKey(1)));
  EXPECT_EQ(ListEntries(folder.path())->at(0).origin, "bundle " + HexOf(trusted_.front()));
  EXPECT_EQ(ClearStore(folder.path(), {.signed_by = HexOf(trusted_.front())})->entries, 1u);
  PutOne(store, NumberedKey(1), *store.Get(NumberedKey(1)));
  EXPECT_TRUE(ListEntries(folder.path())->empty());
}

TEST(OnlyRootMayWrite, IsSoOfTheSystemsFoldersAndNotOfTemporaryOnes) {
  EXPECT_TRUE(OnlyRootMayWrite("/etc/skel") || !fs::exists("/etc/skel"));
  const CacheFolder folder;  // below a folder in which anybody may put something
  EXPECT_FALSE(OnlyRootMayWrite(folder.path()));
  EXPECT_FALSE(OnlyRootMayWrite("/etc/skel/no-such-folder"));
}

}  // namespace
}  // namespace hearth
