// Puts the entries of bundles into a store in batches.
#ifndef HEARTH_CACHE_BATCHED_PUTS_H_
#define HEARTH_CACHE_BATCHED_PUTS_H_

#include <string>
#include <utility>
#include <vector>

#include "cache/bundle_reader.h"
#include "cache/sqlite_store.h"
#include "core/base/error.h"

namespace hearth {

class BatchedPuts {
 public:
  explicit BatchedPuts(SqliteStore& store, std::string origin = {}) : store_(store), origin_(std::move(origin)) {}

  void Add(BundleEntry entry) {
    held_bytes_ += entry.bytes.size();
    held_.push_back(std::move(entry));
    if (held_bytes_ >= kBatchBytes) PutHeld();
  }

  // kIoError if some were not stored, kUnavailable if another process kept the store locked.
  Status Finish() {
    PutHeld();
    if (store_.pending_puts() > 0) store_.Flush();  // the last attempt
    if (const size_t pending = store_.pending_puts(); pending > 0) {
      return Error(StatusCode::kUnavailable, "another process keeps the store locked: {} entries could not be stored",
                   pending);
    }
    if (store_.counters().put_errors == 0) return Status::Ok();
    const std::vector<std::string> warnings = store_.TakeWarnings();
    return Error(StatusCode::kIoError, "{} entries could not be stored: {}", store_.counters().put_errors,
                 warnings.empty() ? "the store can't be written" : warnings.front());
  }

 private:
  static constexpr uint64_t kBatchBytes = uint64_t{32} << 20;

  void PutHeld() {
    std::vector<PutRequest> requests;
    for (const BundleEntry& entry : held_) requests.push_back({&entry.key, entry.bytes, entry.cost_ms, origin_});
    store_.Put(requests);
    held_.clear();
    held_bytes_ = 0;
  }

  SqliteStore& store_;
  std::string origin_;
  std::vector<BundleEntry> held_;
  uint64_t held_bytes_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BATCHED_PUTS_H_
