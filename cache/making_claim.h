// Claims on missing entries. Among processes that start at once, one compiles a program while the others wait a bounded
// time for it.
//
// A claim is a side file `making-<digest>` with the maker's process id, locked by flock, so that the claim ends with
// its process. It orders work and guards nothing: a process without a claim makes the entry anyway.
#ifndef HEARTH_CACHE_MAKING_CLAIM_H_
#define HEARTH_CACHE_MAKING_CLAIM_H_

#include <filesystem>
#include <functional>
#include <memory>

#include "cache/wait_budget.h"
#include "core/base/blob_store.h"
#include "core/base/descriptor.h"

namespace hearth {

// Thread-safe.
class MakingClaims {
 public:
  // `waits` is the budget for all waits together, so a start waits no longer however many entries it needs.
  MakingClaims(std::filesystem::path folder, WaitBudget& waits) : folder_(std::move(folder)), waits_(waits) {}

  // Waits while another process makes the entry: one that lives, is not stopped and has not held its claim for long.
  // Waits at most `known_cost_ms()`, after which making it is cheaper; that is called at most once. Does not wait for a
  // claim of this process, since its holder may be waiting here.
  MakingTurn Take(const Fingerprint& digest, const std::function<double()>& known_cost_ms);

 private:
  std::filesystem::path folder_;
  WaitBudget& waits_;
};

// Removes side files of dead processes. Costs one readdir if there are none.
void RemoveDeadClaims(const std::filesystem::path& folder);

}  // namespace hearth

#endif  // HEARTH_CACHE_MAKING_CLAIM_H_
