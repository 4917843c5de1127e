// Layers under the rule of imports: nothing of a source is used that no trusted key has signed.
#include <algorithm>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/trusted_path.h"
#include "cache/sources/layer.h"
#include "cache/trust/envelope.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::WithLayer;

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
    const auto exported = ExportBundle({source.path(), bundle, {}, key, "1"});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
  }
  // A byte of the first blob is another one, and the envelope's own checksum agrees with it.
  void ForgeFirstBlob() const {
    testing::Unpacked unpacked = testing::Unpack(bundle);
    for (auto& [digest, envelope] : unpacked.envelopes) {
      if (digest != NumberedKey(1).digest()) continue;
      std::vector<std::byte> forged = NumberedBlob(1, 1000);
      forged[500] ^= std::byte{1};
      const CacheKey key = NumberedKey(1);
      envelope = MakeEnvelope({&key, forged, 0, {}, digest, FingerprintOf(forged)});
    }
    testing::Pack(unpacked, bundle);
  }

  CacheFolder source, parent;
  fs::path bundle = parent.path() / "layer.tar";
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
  auto source = OpenLayer({layer.bundle, trusted_});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto cache = WithLayer(std::move(*source));
  EXPECT_EQ(cache->Get(NumberedKey(1)), NumberedBlob(1, 1000));
  EXPECT_EQ(cache->Get(NumberedKey(2, BlobKind::kPlan)), NumberedBlob(2, 2000));
  EXPECT_FALSE(cache->Get(NumberedKey(3)).has_value());
  EXPECT_EQ(cache->counters().hits, 2u);
}

TEST_F(CacheLayer, ThatNobodySignedIsRefusedWithAWayOut) {
  const Layer layer(std::nullopt);
  const auto refused = OpenLayer({layer.bundle, trusted_});
  ASSERT_EQ(refused.status().code(), StatusCode::kIoError);
  EXPECT_NE(refused.status().message().find("--trust-cache-layers"), std::string::npos);
  EXPECT_EQ(OpenLayer({layer.bundle, {}}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, ThatAStrangerSignedIsRefused) {
  const Layer layer(KeyOf(2));
  EXPECT_EQ(OpenLayer({layer.bundle, trusted_}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, WithAManifestThatIsNoneIsRefused) {
  const Layer layer(KeyOf(1));
  testing::Unpacked unpacked = testing::Unpack(layer.bundle);
  unpacked.texts.manifest[unpacked.texts.manifest.size() - 10] ^= 1;
  testing::Pack(unpacked, layer.bundle);
  EXPECT_EQ(OpenLayer({layer.bundle, trusted_}).status().code(), StatusCode::kIoError);
  unpacked.texts.manifest = "x";
  testing::Pack(unpacked, layer.bundle);
  EXPECT_EQ(OpenLayer({layer.bundle, trusted_}).status().code(), StatusCode::kIoError);
}

TEST_F(CacheLayer, ThatIsACachesFolderNeedsTrust) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_EQ(OpenLayer({folder.path(), trusted_}).status().code(), StatusCode::kIoError);
  auto source = OpenLayer({folder.path(), {}, true});
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(WithLayer(std::move(*source))->Get(NumberedKey(1)), NumberedBlob(1, 100));
}

// An unpacked bundle, or one of an older Hearth: its manifest would not be looked at.
TEST_F(CacheLayer, ThatIsABundlesFolderIsRefusedWithAWayOut) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  testing::WriteFile(folder.path() / "manifest.txt", "hearth-bundle 1\n");
  const Status refused = OpenLayer({folder.path(), {}, true}).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.message().find("name the .tar"), std::string::npos) << refused.message();
}

TEST_F(CacheLayer, GivesNoBlobThatIsNotTheSignedOne) {
  for (const bool is_trusted : {false, true}) {
    const Layer layer(KeyOf(1));
    layer.ForgeFirstBlob();
    auto source = OpenLayer({layer.bundle, trusted_, is_trusted});
    ASSERT_TRUE(source.ok()) << source.status().message();
    const auto cache = WithLayer(std::move(*source));
    EXPECT_FALSE(cache->Get(NumberedKey(1)).has_value());
    EXPECT_TRUE(cache->Get(NumberedKey(2, BlobKind::kPlan)).has_value());
    EXPECT_EQ(cache->counters().rejected, 1u);
    EXPECT_EQ(cache->counters().hits, 1u);
    EXPECT_EQ(cache->TakeWarnings().size(), 1u);
  }
}

TEST_F(CacheLayer, WithAnEntryThatTheManifestDoesNotNameIsRefused) {
  const Layer layer(KeyOf(1));
  testing::Unpacked unpacked = testing::Unpack(layer.bundle);
  unpacked.envelopes.emplace_back(NumberedKey(7).digest(), NumberedBlob(7, 100));
  testing::Pack(unpacked, layer.bundle);
  EXPECT_EQ(OpenLayer({layer.bundle, trusted_}).status().code(), StatusCode::kIoError);
}

// Trust decides whether a signature is needed, not whether it is remembered. A session puts again what it loaded,
// without saying where from.
TEST_F(CacheLayer, ThatWasRevokedLeavesNothingInTheStoreAboveIt) {
  for (const bool is_trusted : {false, true}) {
    const Layer layer(KeyOf(1));
    const CacheFolder folder;
    const auto cache =
        WithLayer(std::move(OpenLayer({layer.bundle, trusted_, is_trusted})).value(), folder.OpenStore());
    PutOne(*cache, NumberedKey(1), *cache->Get(NumberedKey(1)));
    EXPECT_EQ(ListEntries(folder.path())->at(0).origin, "bundle " + HexOf(trusted_.front()));
    EXPECT_EQ(ClearStore(folder.path(), {.signed_by = HexOf(trusted_.front())})->entries, 1u);
    PutOne(*cache, NumberedKey(1), *cache->Get(NumberedKey(1)));
    EXPECT_TRUE(ListEntries(folder.path())->empty());
  }
}

TEST_F(CacheLayer, ThatIsTrustedIsUsedWhoeverSignedIt) {
  const Layer layer(KeyOf(2));
  auto source = OpenLayer({layer.bundle, trusted_, true});
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(WithLayer(std::move(*source))->Get(NumberedKey(1)), NumberedBlob(1, 1000));
}

TEST(OnlyRootMayWrite, IsSoOfTheSystemsFoldersAndNotOfTemporaryOnes) {
  EXPECT_TRUE(OnlyRootMayWrite("/etc/skel") || !fs::exists("/etc/skel"));
  const CacheFolder folder;  // below a folder in which anybody may put something
  EXPECT_FALSE(OnlyRootMayWrite(folder.path()));
  EXPECT_FALSE(OnlyRootMayWrite("/etc/skel/no-such-folder"));
}

}  // namespace
}  // namespace hearth
