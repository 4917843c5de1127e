// Who is making an entry that is missing: among processes that start at once, one compiles a program while the others
// wait a bounded time for it.
//
// A claim is a locked side file `making-<digest>` (flock, so that it ends with its process) with the maker's process
// id. It orders work and guards nothing: whoever can't have one makes the entry without.
#ifndef HEARTH_CACHE_MAKING_CLAIM_H_
#define HEARTH_CACHE_MAKING_CLAIM_H_

#include <atomic>
#include <filesystem>
#include <memory>

#include "cache/descriptor.h"
#include "core/base/blob_store.h"

namespace hearth {

// Thread-safe.
class MakingClaims {
 public:
  // `wait_ms` is for all waits of this object together: a start is not held up longer, however many entries it needs.
  MakingClaims(std::filesystem::path folder, int wait_ms) : folder_(std::move(folder)), wait_left_ms_(wait_ms) {}

  // Waits while another process that lives and has not held its claim for long makes the entry. A claim of this very
  // process is not waited for: its holder may be the one who waits.
  MakingTurn Take(const Fingerprint& digest);

 private:
  std::filesystem::path folder_;
  std::atomic<int> wait_left_ms_;
};

// Removes side files whose processes are dead. Cost where there is none: one readdir.
void RemoveDeadClaims(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_MAKING_CLAIM_H_
