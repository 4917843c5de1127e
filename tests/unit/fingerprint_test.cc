#include "core/base/fingerprint.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/sha256.h"

namespace hearth {
namespace {

std::span<const std::byte> BytesOfText(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Fingerprint, IsTheCanonicalXxh3Of128Bits) {
  // From the XXH3 specification: the 128-bit hash of no bytes with seed 0.
  EXPECT_EQ(FingerprintOf({}).ToHex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Fingerprint, ToHexIs32LowerCaseDigits) {
  Fingerprint fingerprint;
  fingerprint.bytes[0] = 0x0a;
  fingerprint.bytes[15] = 0xff;
  EXPECT_EQ(fingerprint.ToHex(), "0a0000000000000000000000000000ff");
}

TEST(Fingerprint, EveryByteCounts) {
  std::vector<std::byte> bytes(300);
  std::set<Fingerprint> seen = {FingerprintOf(bytes)};
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    EXPECT_TRUE(seen.insert(FingerprintOf(bytes)).second);
  }
}

TEST(CacheKey, EqualFieldsGiveEqualKeys) {
  const auto key = [] { return CacheKey(BlobKind::kPlan).Add("model", "abc").Add("version", 7); };
  EXPECT_EQ(key().digest(), key().digest());
  EXPECT_EQ(key().material(), key().material());
}

TEST(CacheKey, KindNameValueOrderAndSplitAllCount) {
  const Fingerprint digests[] = {
      CacheKey(BlobKind::kPlan).Add("a", "bc").Add("d", "e").digest(),
      CacheKey(BlobKind::kWeights).Add("a", "bc").Add("d", "e").digest(),
      CacheKey(BlobKind::kPlan).Add("d", "e").Add("a", "bc").digest(),
      CacheKey(BlobKind::kPlan).Add("ab", "c").Add("d", "e").digest(),
      CacheKey(BlobKind::kPlan).Add("a", "bcd").Add("", "e").digest(),
      CacheKey(BlobKind::kPlan).Add("a", "bc").digest(),
      CacheKey(BlobKind::kPlan).digest(),
  };
  EXPECT_EQ(std::set<Fingerprint>(std::begin(digests), std::end(digests)).size(), std::size(digests));
}

TEST(CacheKey, ContentIsStoredAsItsSha256AndLength) {
  CacheKey key(BlobKind::kWeights);
  key.AddContent("weights", BytesOfText("hello"));
  const auto fields = DecodeKeyMaterial(key.material());
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->at(0).second, HexOf(Sha256Of(BytesOfText("hello"))) + "/5");
}

TEST(CacheKey, MaterialDecodesToItsFields) {
  CacheKey key(BlobKind::kPlan);
  const std::string binary("\0\xff\n", 3);
  key.Add("text", binary).Add("number", -12).Add("", "").Add("digest", Fingerprint());
  const auto fields = DecodeKeyMaterial(key.material());
  ASSERT_TRUE(fields.ok());
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"text", binary}, {"number", "-12"}, {"", ""}, {"digest", std::string(32, '0')}};
  EXPECT_EQ(*fields, expected);
}

TEST(CacheKey, MaterialCutShortIsRefused) {
  CacheKey key(BlobKind::kPlan);
  key.Add("name", "value");
  for (size_t length = 1; length < key.material().size(); ++length) {
    EXPECT_FALSE(DecodeKeyMaterial(std::string_view(key.material()).substr(0, length)).ok()) << length;
  }
}

TEST(CacheKey, DecodingDamagedMaterialNeverCrashes) {
  CacheKey key(BlobKind::kPlan);
  key.Add("name", "value").Add("other", 5);
  std::mt19937 random(3);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = key.material();
    damaged[random() % damaged.size()] = static_cast<char>(byte(random));
    const auto fields = DecodeKeyMaterial(damaged);
    if (!fields.ok()) continue;
    CacheKey again(BlobKind::kPlan);
    for (const auto& [name, value] : *fields) again.Add(name, value);
    EXPECT_EQ(again.material(), damaged) << "round " << round;
  }
}

TEST(CacheKey, EveryKindHasItsOwnName) {
  std::set<std::string_view> names;
  for (int kind = 0; kind < kBlobKindCount; ++kind) names.insert(BlobKindName(static_cast<BlobKind>(kind)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kBlobKindCount));
  EXPECT_EQ(BlobKindName(BlobKind::kDriverBlob), "driver-blob");
}

}  // namespace
}  // namespace hearth
