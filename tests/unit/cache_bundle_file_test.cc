// Bundles as one file: equal bytes for equal entries, and nothing but what export writes is taken.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cache/desk/reports.h"
#include "cache/sources/bundle_file.h"
#include "cache/sources/bundle_reader.h"
#include "cache/sources/layer.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"
#include "tests/testing/child_process.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::KeyFiles;
using testing::ManifestOf;
using testing::NativeKey;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::ReadFile;
using testing::WithLayer;
using testing::WriteFile;

// The member's header at `at`, with other bytes and the right sum.
void Forge(std::string& file, size_t at, size_t field, std::string_view bytes) {
  constexpr size_t kSum = 148;
  file.replace(at + field, bytes.size(), bytes);
  file.replace(at + kSum, 8, "        ");
  unsigned sum = 0;
  for (size_t k = 0; k < kTarBlockBytes; ++k) sum += static_cast<uint8_t>(file[at + k]);
  char text[8];
  std::snprintf(text, sizeof(text), "%06o", sum);
  file.replace(at + kSum, 8, std::string(text, 7) + " ");
}

// Where the header of `name` lies.
size_t HeaderOf(const std::string& file, const std::string& name) {
  for (size_t at = 0; at + kTarBlockBytes <= file.size(); at += kTarBlockBytes) {
    if (std::strncmp(file.c_str() + at, name.c_str(), name.size() + 1) == 0) return at;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(CacheBundleFile, EqualEntriesMakeEqualBytesWhateverTheirStoreIsLike) {
  const CacheFolder first, second, parent;
  for (int number = 0; number < 30; ++number) {
    PutOne(*first.Open(), NumberedKey(number), NumberedBlob(number, 100), 1.5);
  }
  {
    const auto store = second.Open();
    PutOne(*store, NumberedKey(99), NumberedBlob(99, 5000));
    for (int number = 29; number >= 0; --number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 100), 1.5);
  }
  ASSERT_TRUE(ClearStore(second.path(), {.field_contains = {{"kernel", "conv_99"}}}).ok());
  SigningKey key;
  key.seed.fill(3);
  for (const bool is_signed : {false, true}) {
    if (is_signed && !HasSignatures()) continue;
    const fs::path a = parent.path() / (is_signed ? "a.tar" : "c.tar"),
                   b = parent.path() / (is_signed ? "b.tar" : "d.tar");
    const auto sign_with = is_signed ? std::optional(key) : std::nullopt;
    ASSERT_TRUE(ExportBundle({first.path(), a, {}, sign_with, "1"}).ok());
    ASSERT_TRUE(ExportBundle({second.path(), b, {}, sign_with, "1"}).ok());
    EXPECT_GT(ReadFile(a).size(), 30u * 2 * kTarBlockBytes);
    EXPECT_TRUE(ReadFile(a) == ReadFile(b));
  }
}

TEST(CacheBundleFile, WhatIsThereIsNotWrittenOver) {
  const Carried carried;
  WriteFile(carried.bundle, "mine");
  EXPECT_EQ(carried.Export().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(carried.bundle), "mine");
}

TEST(CacheBundleFile, AFolderIsNoBundleAndTheMessageSaysWhatIs) {
  const Carried carried;
  const auto expect = [](const Status& status, StatusCode code, const std::string& text) {
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  };
  ExportRequest request = carried.ExportRequestFor(std::nullopt);
  request.bundle = carried.parent.path() / "bundle";
  expect(ExportBundle(request).status(), StatusCode::kInvalidArgument, "bundle.tar");
  ImportRequest import = carried.Request();
  import.bundle = carried.source.path();
  expect(ImportBundle(import).status(), StatusCode::kNotFound, "is a cache, not a bundle");
  import.bundle = carried.parent.path();
  expect(ImportBundle(import).status(), StatusCode::kNotFound, "name the .tar");
  WriteFile(carried.parent.path() / "manifest.txt", "hearth-bundle 1\n");
  EXPECT_FALSE(ImportBundle(import).ok());
}

// Whoever could replace it, or lead it elsewhere, would make what others import.
TEST(CacheBundleFile, NoBundleIsMadeWhereOthersMayWrite) {
  const Carried carried;
  const fs::path open = carried.parent.path() / "open", real = carried.parent.path() / "real";
  for (const fs::path& made : {open, real}) fs::create_directory(made);
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  fs::create_directory_symlink(real, open / "link");
  ExportRequest request = carried.ExportRequestFor(std::nullopt);
  for (const fs::path& bundle : {open / "bundle.tar", open / "link" / "bundle.tar"}) {
    request.bundle = bundle;
    const Status refused = ExportBundle(request).status();
    EXPECT_EQ(refused.code(), StatusCode::kIoError) << bundle;
    EXPECT_NE(refused.message().find("open, above "), std::string::npos) << refused.message();
  }
  EXPECT_TRUE(fs::is_empty(real) && !fs::exists(open / "bundle.tar"));
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  request.bundle = open / "bundle.tar";
  EXPECT_TRUE(ExportBundle(request).ok()) << "with the sticky bit nobody else can replace it";
}

TEST(CacheBundleFile, NoBundleIsMadeInAnotherUsersFolderNorWhereHisLinkLeads) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Carried carried;
  const fs::path his = carried.parent.path() / "his", link = carried.parent.path() / "link",
                 real = carried.parent.path() / "real";
  for (const fs::path& made : {his, real}) fs::create_directory(made);
  fs::create_directory_symlink(real, link);
  for (const fs::path& path : {his, link}) ASSERT_EQ(::lchown(path.c_str(), 12345, 12345), 0);
  ExportRequest request = carried.ExportRequestFor(std::nullopt);
  for (const auto& [folder, what] :
       {std::pair(his, "belongs to user 12345"), std::pair(link, "a symbolic link of user 12345")}) {
    request.bundle = folder / "bundle.tar";
    const Status refused = ExportBundle(request).status();
    EXPECT_NE(refused.message().find(what), std::string::npos) << refused.message();
  }
  EXPECT_TRUE(fs::is_empty(his) && fs::is_empty(real));
}

TEST(CacheBundleFile, AFailedExportLeavesNothing) {
  const Carried carried;
  const pid_t child = testing::StartProcess([&] {
    const rlimit few{2000, 2000};
    if (::setrlimit(RLIMIT_FSIZE, &few) != 0) return 2;
    return carried.Export().ok() ? 1 : 0;
  });
  EXPECT_EQ(testing::WaitFor(child), 0);
  EXPECT_TRUE(fs::is_empty(carried.parent.path()));
}

// Every byte of the file is somebody's: of a header, a manifest, a key or a blob; but padding is nobody's.
TEST(CacheBundleFile, ADamagedByteIsRefusedWhereverItIs) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const std::string sound = ReadFile(carried.bundle);
  const std::string made_by = "made-by 1.2.3";
  for (size_t k = 0; k < sound.size(); k += 3) {
    const size_t word = sound.find(made_by);
    const bool is_harmless = sound[k] == '\0' || (k > word + 7 && k < word + made_by.size());
    std::string damaged = sound;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x15);
    WriteFile(carried.bundle, damaged);
    if (is_harmless) continue;
    const auto imported = carried.ImportTrusting();
    ASSERT_EQ(imported.status().code(), StatusCode::kIoError) << "byte " << k << " '" << sound[k] << "'";
  }
  EXPECT_TRUE(ListEntries(carried.target.path())->empty());
}

TEST(CacheBundleFile, AFileThatIsCutOffOrLongerIsRefused) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const std::string sound = ReadFile(carried.bundle);
  for (size_t bytes = 0; bytes < sound.size(); bytes += 97) {
    WriteFile(carried.bundle, sound.substr(0, bytes));
    ASSERT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError) << bytes;
  }
  for (const size_t more : {1, 512, 10240}) {
    WriteFile(carried.bundle, sound + std::string(more, '\0'));
    EXPECT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError);
  }
  EXPECT_TRUE(ListEntries(carried.target.path())->empty());
}

// A tar program would believe such headers: their sums are right.
TEST(CacheBundleFile, HeadersThatExportDoesNotWriteAreRefused) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const std::string sound = ReadFile(carried.bundle);
  const std::string blob = NativeKey("conv", "1.0").digest().ToHex() + ".entry";
  constexpr size_t kFieldName = 0, kMode = 100, kSize = 124, kType = 156, kLink = 157;
  const struct {
    std::string member;
    size_t field;
    std::string bytes;
  } cases[] = {
      {blob, kFieldName, std::string("../../evil\0", 11)},
      {blob, kFieldName, std::string("/tmp/evil\0", 10)},
      {blob, kType, "2"},  // symbolic link
      {blob, kType, "1"},  // hard link
      {blob, kType, "5"},  // folder
      {blob, kType, "L"},  // GNU's long name
      {blob, kType, "x"},  // pax
      {blob, kLink, "/etc/passwd"},
      {blob, kMode, "0004777"},
      {blob, kSize, "00000007777"},
      {blob, kSize, "77777777777"},
      {blob, kSize, "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},  // GNU's binary size
      {"manifest.txt", kSize, "77777777777"},
      {"manifest.txt", kSize, "00000000000"},
      {"manifest.txt", kFieldName, "other.txt"},
  };
  for (const auto& forged : cases) {
    std::string file = sound;
    Forge(file, HeaderOf(file, forged.member), forged.field, forged.bytes);
    WriteFile(carried.bundle, file);
    EXPECT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError)
        << forged.member << " " << forged.field << " " << forged.bytes;
  }
  // Two members change places, or one is there twice.
  std::string twice = sound;
  const std::string other = NativeKey("conv", "2.0").digest().ToHex() + ".entry";
  twice.replace(HeaderOf(twice, other), kTarBlockBytes, sound.substr(HeaderOf(sound, blob), kTarBlockBytes));
  WriteFile(carried.bundle, twice);
  EXPECT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError);
  EXPECT_TRUE(ListEntries(carried.target.path())->empty());
}

TEST(CacheBundleFile, OfAFileThatIsCutOffNoEntryIsLoaded) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const std::string sound = ReadFile(carried.bundle);
  const std::string last = ManifestOf(carried.bundle).entries.back().digest.ToHex();
  for (const size_t length : {HeaderOf(sound, last + ".entry"), sound.size() - 1}) {
    WriteFile(carried.bundle, sound.substr(0, length));
    auto reader = BundleReader::Open(carried.bundle, {});
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    for (int time = 0; time < 2; ++time) {
      for (size_t k = 0; k < 3; ++k) EXPECT_EQ(reader->Load(k).status().code(), StatusCode::kIoError) << k;
    }
  }
}

// Whole files of members that fit their manifests, which lie.
TEST(CacheBundleFile, AManifestThatLiesIsRefused) {
  const auto expect_refused = [&](const auto& change, const std::string& what) {
    const Carried carried;
    ASSERT_TRUE(carried.Export().ok());
    testing::Unpacked unpacked = testing::Unpack(carried.bundle);
    Manifest manifest = ManifestOf(carried.bundle);
    change(manifest);
    unpacked.texts.manifest = manifest.ToText();
    const std::vector<std::byte> envelope = unpacked.envelopes.front().second;
    unpacked.envelopes.clear();
    for (const ManifestEntry& entry : manifest.entries) unpacked.envelopes.emplace_back(entry.digest, envelope);
    testing::Pack(unpacked, carried.bundle);
    EXPECT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError) << what;
    EXPECT_TRUE(ListEntries(carried.target.path())->empty()) << what;
  };
  const auto each = [](auto set) {
    return [set](Manifest& manifest) {
      for (ManifestEntry& entry : manifest.entries) set(entry);
    };
  };
  expect_refused([](Manifest& manifest) { manifest.entries.push_back(manifest.entries.back()); }, "twice");
  expect_refused([](Manifest& manifest) { std::ranges::reverse(manifest.entries); }, "out of order");
  expect_refused(each([](ManifestEntry& entry) { entry.size_bytes = UINT64_MAX; }), "huge");
  expect_refused(each([](ManifestEntry& entry) { entry.size_bytes = UINT64_MAX - 511; }), "sums overflow");
  expect_refused(each([](ManifestEntry& entry) { entry.size_bytes = 0; }), "no envelopes");
  expect_refused(each([](ManifestEntry& entry) { entry.kind = BlobKind::kWeights; }), "another kind");
}

TEST(CacheBundleFile, NoLinkNoPipeAndNothingThatOthersMayWriteIsOpened) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const fs::path link = carried.parent.path() / "link.tar", pipe = carried.parent.path() / "pipe.tar";
  fs::create_symlink(carried.bundle, link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& file : {link, pipe, fs::path("/dev/zero"), carried.parent.path() / "missing.tar"}) {
    EXPECT_FALSE(BundleReader::Open(file, {}).ok()) << file;
    EXPECT_FALSE(BundleFile::Open(file).ok()) << file;
    EXPECT_FALSE(OpenLayer({file, {}, true}).ok()) << file;
  }
  ASSERT_EQ(::chmod(carried.bundle.c_str(), 0606), 0);
  EXPECT_EQ(carried.ImportTrusting().status().code(), StatusCode::kIoError);
}

TEST(CacheBundleFile, OnlyATrustedSignatureCounts) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys, stranger;
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  ImportRequest request = carried.Request();
  request.trusted_keys = stranger.trusted();
  EXPECT_EQ(ImportBundle(request).status().code(), StatusCode::kIoError);
  EXPECT_FALSE(OpenLayer({carried.bundle, stranger.trusted()}).ok());
  request.trusted_keys = keys.trusted();
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->signed_by, HexOf(*PublicKeyOf(keys.secret())));
}

TEST(CacheBundleFile, IsALayerWhoseEntriesAreCheckedAsTheyAreRead) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  const Carried carried;
  CacheKey tuning(BlobKind::kTuning);
  tuning.Add("device", "GPU").Add("layer", "conv 1");
  PutOne(*carried.source.Open(), tuning, NumberedBlob(9, 90));
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  {
    auto source = OpenLayer({carried.bundle, keys.trusted()});
    ASSERT_TRUE(source.ok()) << source.status().message();
    const auto layer = WithLayer(std::move(*source));
    EXPECT_EQ(layer->Get(NativeKey("conv", "1.0")), NumberedBlob(2, 2000));
    EXPECT_EQ(layer->Get(NumberedKey(1, BlobKind::kPlan)), NumberedBlob(1, 1000));
    EXPECT_FALSE(layer->Get(NumberedKey(1)).has_value());
    EXPECT_EQ(layer->counters().hits, 2u);
    EXPECT_EQ(layer->counters().milliseconds_saved, 11);
    int visited = 0;
    CacheKey common(BlobKind::kTuning);
    common.Add("device", "GPU");
    layer->ForEach(common, [&](const CacheKey& key, std::span<const std::byte> bytes) {
      ++visited;
      EXPECT_EQ(key.material(), tuning.material());
      EXPECT_TRUE(std::ranges::equal(bytes, NumberedBlob(9, 90)));
    });
    EXPECT_EQ(visited, 1);
    layer->Reject(NativeKey("conv", "1.0"), "the driver refused it");
    EXPECT_FALSE(layer->Get(NativeKey("conv", "1.0")).has_value());
  }
  std::string file = ReadFile(carried.bundle);
  file[HeaderOf(file, NativeKey("conv", "1.0").digest().ToHex() + ".entry") + kTarBlockBytes + 100] ^= 1;
  WriteFile(carried.bundle, file);
  auto source = OpenLayer({carried.bundle, keys.trusted()});
  ASSERT_TRUE(source.ok());
  const auto layer = WithLayer(std::move(*source));
  EXPECT_FALSE(layer->Get(NativeKey("conv", "1.0")).has_value());
  EXPECT_EQ(layer->Get(NumberedKey(1, BlobKind::kPlan)), NumberedBlob(1, 1000));
  EXPECT_EQ(layer->counters().hits, 1u);
  EXPECT_EQ(layer->counters().rejected, 1u);
  EXPECT_EQ(layer->TakeWarnings().size(), 1u);
}

// Somebody cuts it short, or writes over it, behind an open layer.
TEST(CacheBundleFile, ALayerThatIsCutShortWhileItIsUsedIsAMiss) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  auto source = OpenLayer({carried.bundle, {}, true});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto layer = WithLayer(std::move(*source));
  fs::resize_file(carried.bundle, 2000);
  for (const char* driver : {"1.0", "2.0"}) EXPECT_FALSE(layer->Get(NativeKey("conv", driver)).has_value());
  EXPECT_EQ(layer->TakeWarnings().size(), 1u);
}

}  // namespace
}  // namespace hearth
