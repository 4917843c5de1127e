// Bundles: what is carried comes back equal, and nothing that does not match gets in.
#include <algorithm>
#include <functional>
#include <map>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/store/entry_row.h"
#include "cache/trust/envelope.h"
#include "cache/trust/manifest.h"
#include "core/base/sha256.h"
#include "core/plan/key_fields.h"
#include "core/store/entry_links.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::KeyFiles;
using testing::NativeKey;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

TEST(CacheBundle, EverythingComesBackEqual) {
  const Carried carried;
  const auto exported = carried.Export();
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_EQ(exported->entries, 3u);
  EXPECT_EQ(exported->native_entries, 2u);
  EXPECT_EQ(exported->devices.size(), 2u);
  const auto imported = carried.ImportTrusting();
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->entries, 3u);
  const auto store = carried.target.Open();
  EXPECT_EQ(store->Get(NumberedKey(1, BlobKind::kPlan)), NumberedBlob(1, 1000));
  EXPECT_EQ(store->Get(NativeKey("conv", "1.0")), NumberedBlob(2, 2000));
  EXPECT_EQ(store->Get(NativeKey("conv", "2.0")), NumberedBlob(3, 0));
  EXPECT_EQ(store->counters().milliseconds_saved, 18);
  EXPECT_TRUE(VerifyStore(carried.target.path(), false)->clean());
}

// Puts a program and the portable part that it needs.
void PutSplit(testing::TestCache& store, const std::string& kernel, const std::string& token) {
  CacheKey source(BlobKind::kSource), program = NativeKey(kernel, "1.0");
  source.Add("kernel", kernel);
  if (!token.empty()) source.Add(kModelTokenField.name, token);
  if (!token.empty()) program.Add(kModelTokenField.name, token);
  const std::vector<std::byte> rest = NumberedBlob(4, 10), bytes = ToBytes(LinkedEntry{{source}, rest});
  PutOne(store, source, NumberedBlob(5, 100));
  PutOne(store, program, bytes);
}

TEST(CacheBundle, ProgramsTakeTheirPortablePartsAlongWhateverElseIsLeftOut) {
  const Carried carried;
  {
    const auto store = carried.source.Open();
    PutSplit(*store, "conv", "");
    PutSplit(*store, "pool", "mine");
    CacheKey unused(BlobKind::kSource);
    PutOne(*store, unused.Add("kernel", "unused"), NumberedBlob(6, 100));
  }
  const auto exported_kinds = [&](const CacheFilter& filter) {
    ExportRequest request = carried.ExportRequestFor(std::nullopt);
    request.filter = filter;
    std::error_code ignored;
    fs::remove_all(carried.bundle, ignored);
    EXPECT_TRUE(ExportBundle(request).ok());
    std::map<BlobKind, int> kinds;
    for (const ManifestEntry& entry : testing::ManifestOf(carried.bundle).entries) ++kinds[entry.kind];
    return kinds;
  };
  using Kinds = std::map<BlobKind, int>;
  EXPECT_EQ(exported_kinds({.kind = "program"}), (Kinds{{BlobKind::kSource, 2}, {BlobKind::kProgram, 3}}));
  EXPECT_EQ(exported_kinds({.field_contains = {{"kernel", "pool"}}}),
            (Kinds{{BlobKind::kSource, 1}, {BlobKind::kProgram, 1}}));
  EXPECT_EQ(exported_kinds({.device = "GPU"}), (Kinds{{BlobKind::kSource, 2}, {BlobKind::kProgram, 3}}));
  EXPECT_EQ(exported_kinds({.kind = "plan"}), (Kinds{{BlobKind::kPlan, 1}}));
}

TEST(CacheBundle, AProgramWhosePortablePartIsGoneStaysBehind) {
  const Carried carried;
  {
    const auto store = carried.source.Open();
    PutSplit(*store, "conv", "");
    CacheKey source(BlobKind::kSource);
    store->Reject(source.Add("kernel", "conv"), "evicted");
  }
  for (const CacheFilter& filter : {CacheFilter{}, CacheFilter{.kind = "program"}}) {
    ExportRequest request = carried.ExportRequestFor(std::nullopt);
    request.filter = filter;
    std::error_code ignored;
    fs::remove_all(carried.bundle, ignored);
    const auto report = ExportBundle(request);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const Manifest manifest = testing::ManifestOf(carried.bundle);
    EXPECT_EQ(report->entries, manifest.entries.size());
    EXPECT_EQ(std::ranges::count(manifest.entries, BlobKind::kProgram, &ManifestEntry::kind), 1);
    EXPECT_EQ(report->programs_without_source, 1u);
    ASSERT_EQ(manifest.devices.size(), 1u) << "the program that stayed behind has another";
    EXPECT_EQ(manifest.devices[0].driver, "2.0");
    EXPECT_EQ(report->devices, manifest.devices);
  }
}

TEST(CacheBundle, UnsignedEntriesOfEveryKindAreRefused) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const auto refused = ImportBundle(carried.Request());
  ASSERT_EQ(refused.status().code(), StatusCode::kIoError);
  EXPECT_NE(refused.status().message().find("--trust"), std::string::npos);
  EXPECT_TRUE(ListEntries(carried.target.path())->empty());

  for (int kind = 0; kind < kBlobKindCount; ++kind) {
    SCOPED_TRACE(BlobKindName(static_cast<BlobKind>(kind)));
    const CacheFolder source, target, parent;
    PutOne(*source.Open(), NumberedKey(kind, static_cast<BlobKind>(kind)), NumberedBlob(kind, 10));
    ImportRequest request{parent.path() / "bundle.tar", target.path()};
    ASSERT_TRUE(ExportBundle({source.path(), request.bundle, {}, {}, ""}).ok());
    EXPECT_EQ(ImportBundle(request).status().code(), StatusCode::kIoError);
    EXPECT_TRUE(ListEntries(target.path())->empty());
    request.is_trusted = true;
    EXPECT_TRUE(ImportBundle(request).ok());
  }
}

TEST(CacheBundle, ABundleOfNothingNeedsNoTrust) {
  const CacheFolder source, target, parent;
  const ImportRequest request{parent.path() / "bundle.tar", target.path()};
  ASSERT_TRUE(source.Open() != nullptr);
  ASSERT_TRUE(ExportBundle({source.path(), request.bundle, {}, {}, ""}).ok());
  EXPECT_EQ(ImportBundle(request)->entries, 0u);
}

TEST(CacheBundle, NativeCodeForOtherDevicesIsLeftOut) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  ImportRequest request = carried.Request();
  request.is_trusted = true;
  request.is_wanted = [](const CacheDevice& device) { return device.driver == "2.0"; };
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->entries, 2u);
  EXPECT_EQ(imported->other_devices, 1u);
  EXPECT_FALSE(carried.target.Open()->Get(NativeKey("conv", "1.0")).has_value());
}

// Puts other entries into the bundle's file and expects the import to refuse everything.
void ExpectRefused(const std::function<void(testing::Unpacked&)>& forge, const std::string& why) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  testing::Unpacked unpacked = testing::Unpack(carried.bundle);
  forge(unpacked);
  testing::Pack(unpacked, carried.bundle);
  const auto imported = carried.ImportTrusting();
  ASSERT_EQ(imported.status().code(), StatusCode::kIoError) << why;
  EXPECT_NE(imported.status().message().find(why), std::string::npos) << imported.status().message();
  EXPECT_TRUE(ListEntries(carried.target.path())->empty()) << why;
}

TEST(CacheBundle, WhatDoesNotMatchTheManifestIsRefusedAsAWhole) {
  const CacheKey conv = NativeKey("conv", "1.0");
  const auto conv_of = [&](testing::Unpacked& unpacked) -> std::vector<std::byte>& {
    return std::ranges::find(unpacked.envelopes, conv.digest(), &decltype(unpacked.envelopes)::value_type::first)
        ->second;
  };
  ExpectRefused([](testing::Unpacked& unpacked) { unpacked.envelopes.pop_back(); }, "not a complete bundle");
  ExpectRefused([&](testing::Unpacked& unpacked) { conv_of(unpacked)[500] ^= std::byte{1}; },
                "does not match its manifest");
  // Other bytes with their own right checksum: only the manifest knows better.
  ExpectRefused(
      [&](testing::Unpacked& unpacked) {
        const std::vector<std::byte> other = NumberedBlob(7, 2000);
        conv_of(unpacked) = MakeEnvelope({&conv, other, 6, {}, conv.digest(), FingerprintOf(other)});
      },
      "does not match its manifest");
}

TEST(CacheBundle, ADamagedManifestIsRefusedWithoutACrashAtEveryByte) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const testing::Unpacked unpacked = testing::Unpack(carried.bundle);
  const std::string& sound = unpacked.texts.manifest;
  for (size_t k = 0; k < sound.size(); ++k) {
    testing::Unpacked damaged = unpacked;
    damaged.texts.manifest[k] = static_cast<char>(sound[k] ^ 0x15);
    testing::Pack(damaged, carried.bundle);
    const auto imported = carried.ImportTrusting();
    // The version that made it is the one thing that nothing hangs on.
    const bool is_harmless = k > sound.find("made-by ") && k < sound.find("\ndevice");
    EXPECT_TRUE(!imported.ok() || is_harmless) << "byte " << k << " '" << sound[k] << "'";
    EXPECT_TRUE(is_harmless || ListEntries(carried.target.path())->empty()) << k;
    ASSERT_TRUE(ClearStore(carried.target.path()).ok());
  }
}

TEST(CacheBundle, AManifestSurvivesItsText) {
  Manifest manifest;
  manifest.made_by = "1.0 rc";
  manifest.made_ms = 4;
  manifest.expires_ms = 5;
  manifest.least_version = "0.2.0";
  manifest.devices = {{"opencl", "A B%\n", "", "\xff"}, {"", "", "", ""}};
  manifest.entries = {{BlobKind::kProgram, NumberedKey(1).digest(), 7, {2}, 1},
                      {BlobKind::kWeights, NumberedKey(2).digest(), kMaxEntryBytes, {4}, std::nullopt}};
  const auto again = Manifest::FromText(manifest.ToText());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->ToText(), manifest.ToText());
  EXPECT_EQ(again->devices, manifest.devices);
  EXPECT_EQ(again->entries[1].size_bytes, kMaxEntryBytes);
  EXPECT_EQ(again->entries[0].device, 1u);
}

// From FIPS 180-4's examples, and 1,000,000 times 'a'.
TEST(Sha256, GivesThePublishedDigests) {
  const auto digest = [](const std::string& text) { return HexOf(Sha256Of(std::as_bytes(std::span(text)))); };
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(CacheBundle, CodeThatATrustedKeySignedIsTaken) {
  SKIP_WITHOUT_SIGNATURES();
  const Carried carried;
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const auto exported = carried.Export(keys.secret());
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  ImportRequest request = carried.Request();
  request.trusted_keys = keys.trusted();
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->signed_by, exported->signed_by);
  EXPECT_EQ(imported->signed_by.size(), 64u);
}

TEST(CacheBundle, ASignedBundleIsRefusedAfterItsTimeAndInAnOlderHearth) {
  Manifest manifest;
  EXPECT_TRUE(manifest.CheckUsable(INT64_MAX, "0.0.1").ok());
  manifest.expires_ms = 1000;
  manifest.least_version = "0.10.0";
  EXPECT_TRUE(manifest.CheckUsable(999, "0.10.0").ok());
  EXPECT_NE(manifest.CheckUsable(1000, "0.10.0").message().find("expired on 1970-01-01"), std::string::npos);
  EXPECT_NE(manifest.CheckUsable(999, "0.9.9").message().find("0.10.0 or newer"), std::string::npos);
  EXPECT_TRUE(manifest.CheckUsable(999, "1.0.0").ok());

  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  for (const bool is_old : {true, false}) {
    const Carried carried;
    ExportRequest bundle = carried.ExportRequestFor(keys.secret());
    bundle.expires_ms = NowMs() + (is_old ? -1 : 1'000'000);
    bundle.least_version = "0.0.1";
    ASSERT_TRUE(ExportBundle(bundle).ok());
    ImportRequest request = carried.Request();
    request.trusted_keys = keys.trusted();
    const auto imported = ImportBundle(request);
    EXPECT_EQ(imported.ok(), !is_old) << imported.status().message();
  }
}

TEST(CacheBundle, AStrangersSignatureOrOneOfAnotherManifestIsNone) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys, stranger;
  ASSERT_TRUE(keys.made && stranger.made);
  {
    const Carried carried;
    ASSERT_TRUE(carried.Export(stranger.secret()).ok());
    ImportRequest request = carried.Request();
    request.trusted_keys = keys.trusted();
    EXPECT_EQ(ImportBundle(request).status().code(), StatusCode::kIoError);
  }
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  testing::Unpacked unpacked = testing::Unpack(carried.bundle);
  unpacked.texts.manifest.replace(unpacked.texts.manifest.find("1.2.3"), 5, "1.2.4");
  testing::Pack(unpacked, carried.bundle);
  ImportRequest request = carried.Request();
  request.trusted_keys = keys.trusted();
  EXPECT_EQ(ImportBundle(request).status().code(), StatusCode::kIoError);
}

TEST(SigningKey, ASecretThatOthersMayReadIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_EQ(::chmod((keys.folder.path() / "key").c_str(), 0640), 0);
  const auto key = ReadSigningKey(keys.folder.path() / "key");
  EXPECT_EQ(key.status().code(), StatusCode::kIoError);
}

TEST(SigningKey, NoPipeAndNoFolderIsReadAsKeys) {
  const CacheFolder folder;
  const std::filesystem::path pipe = folder.path() / "keys";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& file : {pipe, folder.path()}) {
    const Status refused = ReadPublicKeys(file).status();
    EXPECT_NE(refused.message().find("not a regular file"), std::string::npos) << file << ": " << refused.message();
  }
}

TEST(SigningKey, AKeyThatIsThereIsNotWrittenOver) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  EXPECT_FALSE(MakeSigningKey(keys.folder.path() / "key").ok());
}

// RFC 8032, section 7.1, test 2.
TEST(SigningKey, SignsAsTheStandardSays) {
  SKIP_WITHOUT_SIGNATURES();
  SigningKey key;
  ASSERT_TRUE(BytesFromHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", key.seed));
  const std::byte message[] = {std::byte{0x72}};
  EXPECT_EQ(HexOf(*PublicKeyOf(key)), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  EXPECT_EQ(HexOf(*Sign(key, message)),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

}  // namespace
}  // namespace hearth
