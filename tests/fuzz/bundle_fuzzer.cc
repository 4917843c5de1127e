// A bundle as one file: opened, read through, and used as a layer.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cache/sources/bundle_file.h"
#include "cache/sources/bundle_reader.h"
#include "cache/sources/layer.h"
#include "cache/trust/envelope.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

void Write(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  ::chmod(file.c_str(), 0600);
}

// Written again from what was read.
uint64_t BytesWrittenAgain(const std::filesystem::path& file, const std::string& manifest,
                           const std::vector<BundleEntry>& entries, const std::string& signature) {
  std::filesystem::remove(file);
  auto writer = BundleFileWriter::Create(file);
  Expect(writer.ok() && writer->AddTexts({manifest, signature}).ok(), "a file can be written");
  for (const BundleEntry& entry : entries) {
    const std::vector<std::byte> envelope = MakeEnvelope(
        {.key = &entry.key, .bytes = entry.bytes, .cost_ms = entry.cost_ms, .checksum = FingerprintOf(entry.bytes)});
    Expect(writer->AddEntry(entry.key.digest(), envelope).ok(), "an entry can be written");
  }
  Expect(writer->Finish().ok(), "a file can be finished");
  return std::filesystem::file_size(file);
}

}  // namespace

void FuzzOne(std::span<const std::byte> bytes) {
  static const TemporaryFolder folder(TemporaryFolder::Place::kMemory);
  const std::filesystem::path file = folder.path() / "bundle.tar";
  Write(file, bytes);
  if (const auto layer = OpenLayer({file, {}, true}); layer.ok()) {
    const CacheKey all(BlobKind::kTuning);
    (*layer)->ForEach(all, [](const CacheKey&, const FoundEntry&) {});
  }
  auto reader = BundleReader::Open(file, {});
  if (!reader.ok()) return;
  std::vector<BundleEntry> entries;
  for (size_t k = 0; k < reader->manifest().entries.size(); ++k) {
    Result<BundleEntry> entry = reader->Load(k);
    if (!entry.ok()) return;
    entries.push_back(std::move(entry).value());
  }
  if (entries.empty()) return;
  auto texts = BundleFile::Open(file)->ReadTexts();
  Expect(texts.ok(), "texts that were read can be read again");
  Expect(BytesWrittenAgain(folder.path() / "again.tar", texts->manifest, entries, texts->signature) == bytes.size(),
         "a bundle whose entries are as promised has no other bytes than theirs");
}

}  // namespace hearth
