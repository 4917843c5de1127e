// A test's own cache folder, and short ways to fill its store.
#ifndef HEARTH_TESTS_TESTING_CACHE_FOLDER_H_
#define HEARTH_TESTS_TESTING_CACHE_FOLDER_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cache/store/sqlite_store.h"
#include "tests/testing/child_process.h"
#include "tests/testing/temporary_folder.h"
#include "tests/testing/test_cache.h"

namespace hearth::testing {

struct OpenOptions : StoreOptions {
  ModelName model = {};  // the session's
};

inline CacheParts PartsOf(std::unique_ptr<SqliteStore> own) {
  CacheParts parts;
  parts.marks = &own->marks();
  parts.claims = &own->claims();
  parts.names = &own->names();
  parts.log = &own->records();
  parts.own = std::move(own);
  return parts;
}

// A session's cache over one store.
class StoreCache : public TestCache {
 public:
  static Result<std::unique_ptr<StoreCache>> Open(const OpenOptions& options) {
    HEARTH_ASSIGN(std::unique_ptr<SqliteStore> store, SqliteStore::Open(options));
    store->records().SetModel(options.model);
    SqliteStore& own = *store;
    return std::unique_ptr<StoreCache>(new StoreCache(own, PartsOf(std::move(store))));
  }
  static Result<std::unique_ptr<StoreCache>> Open(const StoreOptions& options) { return Open(OpenOptions{options}); }

  SqliteStore& store() { return store_; }
  std::filesystem::path file() const { return store_.file(); }

 private:
  StoreCache(SqliteStore& store, CacheParts parts) : TestCache(std::move(parts)), store_(store) {}
  SqliteStore& store_;
};

// A cache with a read-only source before its store, or without a store.
inline std::unique_ptr<TestCache> WithLayer(std::unique_ptr<EntrySource> layer,
                                            std::unique_ptr<SqliteStore> own = nullptr) {
  CacheParts parts = own != nullptr ? PartsOf(std::move(own)) : CacheParts{};
  parts.layers.push_back(std::move(layer));
  return std::make_unique<TestCache>(std::move(parts));
}

// By an access list, with the bits of a group that has only its owner. False where the file system has none.
inline bool LetAnotherUserWrite(const std::filesystem::path& path) {
  struct Entry {
    uint16_t tag, rights;
    uint32_t id;
  };
  constexpr uint32_t kNobody = UINT32_MAX, kAnother = 12345;
  struct {
    uint32_t version = 2;
    Entry entries[5] = {{1, 7, kNobody}, {2, 7, kAnother}, {4, 7, kNobody}, {16, 7, kNobody}, {32, 0, kNobody}};
  } const list;
  return ::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof(list), 0) == 0;
}

class CacheFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path file() const { return path() / "hearth.db"; }

  // Stores wait for each other as long as a busy machine needs, not for a session's 250 ms.
  OpenOptions options() const {
    OpenOptions options;
    options.folder = path();
    options.waits = &waits_;
    return options;
  }
  std::unique_ptr<SqliteStore> OpenStore() const { return std::move(SqliteStore::Open(options())).value(); }
  // Null, with a test failure, if the store does not open.
  std::unique_ptr<StoreCache> Open() const { return Open(options()); }
  static std::unique_ptr<StoreCache> Open(const OpenOptions& options) {
    Result<std::unique_ptr<StoreCache>> store = StoreCache::Open(options);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : nullptr;
  }
  static std::unique_ptr<StoreCache> Open(const StoreOptions& options) { return Open(OpenOptions{options}); }

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
