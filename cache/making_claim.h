// Who is making an entry that is missing: among processes that start at once, one compiles a program while the others
// wait a bounded time for it.
//
// A claim is a locked side file `making-<digest>` (flock, so that it ends with its process) with the maker's process
// id. It orders work and guards nothing: whoever can't have one makes the entry without.
#ifndef HEARTH_CACHE_MAKING_CLAIM_H_
#define HEARTH_CACHE_MAKING_CLAIM_H_

#include <filesystem>
#include <functional>
#include <memory>

#include "cache/descriptor.h"
#include "cache/wait_budget.h"
#include "core/base/blob_store.h"

namespace hearth {

// Thread-safe.
class MakingClaims {
 public:
  // `waits` is for all waits together: a start is not held up longer, however many entries it needs.
  MakingClaims(std::filesystem::path folder, WaitBudget& waits) : folder_(std::move(folder)), waits_(waits) {}

  // Waits while another process that lives, is not stopped and has not held its claim for long makes the entry, but
  // not longer than `known_cost_ms()`, which is asked for at most once: then making it is cheaper. A claim of this
  // very process is not waited for: its holder may be the one who waits.
  MakingTurn Take(const Fingerprint& digest, const std::function<double()>& known_cost_ms);

 private:
  std::filesystem::path folder_;
  WaitBudget& waits_;
};

// Removes side files whose processes are dead. Cost where there is none: one readdir.
void RemoveDeadClaims(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_MAKING_CLAIM_H_
