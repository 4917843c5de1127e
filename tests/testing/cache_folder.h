// A test's own cache folder, and short ways to fill its store.
#ifndef HEARTH_TESTS_TESTING_CACHE_FOLDER_H_
#define HEARTH_TESTS_TESTING_CACHE_FOLDER_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cache/sqlite_store.h"
#include "tests/testing/child_process.h"
#include "tests/testing/temporary_folder.h"

namespace hearth::testing {

class CacheFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path file() const { return path() / "hearth.db"; }

  // Stores wait for each other as long as a busy machine needs, not for a session's 250 ms.
  StoreOptions options() const {
    StoreOptions options{.folder = path(), .waits = &waits_};
    return options;
  }
  // Null, with a test failure, if the store does not open.
  std::unique_ptr<SqliteStore> Open() const { return Open(options()); }
  static std::unique_ptr<SqliteStore> Open(const StoreOptions& options) {
    Result<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : nullptr;
  }

 private:
  TemporaryFolder folder_{TemporaryFolder::Place::kMemory};
  mutable SessionWaits waits_{60'000};
};

inline CacheKey NumberedKey(int number, BlobKind kind = BlobKind::kProgram) {
  CacheKey key(kind);
  key.Add("kernel", "conv_" + std::to_string(number)).Add("driver", "driver 1.0").Add("number", number);
  return key;
}

// Different bytes for each number, without a pattern that a page repeats.
inline std::vector<std::byte> NumberedBlob(int number, size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  uint32_t state = 2654435761u * static_cast<uint32_t>(number + 1);
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

inline void PutOne(BlobStore& store, const CacheKey& key, const std::vector<std::byte>& bytes, double cost_ms = 0) {
  const PutRequest request = {&key, bytes, cost_ms};
  store.Put({&request, 1});
}

inline std::string ReadFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteFile(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ::chmod(file.c_str(), 0600);
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_CACHE_FOLDER_H_
