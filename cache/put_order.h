// The order in which a store with little room takes new entries.
#ifndef HEARTH_CACHE_PUT_ORDER_H_
#define HEARTH_CACHE_PUT_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/fingerprint.h"

namespace hearth {

struct PutSize {
  Fingerprint digest;
  std::optional<Fingerprint> source;  // without which the entry is of no use
  double cost_ms = 0;
  uint64_t bytes = 0;
};

// The indices of the entries, those first whose bytes save most time. A source and what needs it count as one, because
// either alone saves nothing, and the source comes first.
std::vector<size_t> MostWorthFirst(std::span<const PutSize> entries);

}  // namespace hearth

#endif  // HEARTH_CACHE_PUT_ORDER_H_
