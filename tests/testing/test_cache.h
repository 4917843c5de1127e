// A cache whose entries tests read and write by key.
#ifndef HEARTH_TESTS_TESTING_TEST_CACHE_H_
#define HEARTH_TESTS_TESTING_TEST_CACHE_H_

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/store/result_cache.h"

namespace hearth::testing {

struct PutRequest {
  const CacheKey* key = nullptr;
  std::span<const std::byte> bytes;
  double cost_ms = 0;
  std::string_view origin = {};
};

class TestCache : public ResultCache {
 public:
  using ResultCache::BeginUse;
  using ResultCache::EndUse;
  using ResultCache::pending_puts;
  using ResultCache::Put;
  using ResultCache::Reject;
  using ResultCache::ResultCache;
  using ResultCache::TakeTurn;

  bool Get(const CacheKey& key, const EntrySource::Destination& destination) {
    FoundEntry found;
    return Read(WithToken(key), destination, found);
  }
  std::optional<std::vector<std::byte>> Get(const CacheKey& key) {
    std::vector<std::byte> bytes;
    const bool is_hit = Get(key, [&bytes](uint64_t size_bytes) {
      bytes.resize(size_bytes);
      return std::span<std::byte>(bytes);
    });
    return is_hit ? std::optional(std::move(bytes)) : std::nullopt;
  }
  // Stored at the end of the call, or of a PutBatch around it.
  void Put(std::span<const PutRequest> requests) {
    const PutBatch batch(this);
    for (const PutRequest& put : requests) PutByKey(put.key, put);
  }
  void Reject(const CacheKey& key, std::string_view reason) { ResultCache::Reject({&key, 1}, reason); }
  template <typename Visit>
  void ForEach(const CacheKey& common, const Visit& visit) {
    VisitByKey(common, [&](const StoredEntry& entry) {
      visit(entry.key, entry.bytes);
      return Status::Ok();
    });
  }

 private:
  void PutByKey(const CacheKey* key, const PutRequest& put) {
    ResultCache::PutByKey(WithToken(*key), put.bytes, put.cost_ms, put.origin);
  }
};

inline void PutOne(TestCache& cache, const CacheKey& key, const std::vector<std::byte>& bytes, double cost_ms = 0) {
  const PutRequest request = {&key, bytes, cost_ms};
  cache.Put({&request, 1});
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_TEST_CACHE_H_
