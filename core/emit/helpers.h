// What the kernel dialect has beyond a driver's own language: macros and functions. A text carries those that it uses.
#ifndef HEARTH_CORE_EMIT_HELPERS_H_
#define HEARTH_CORE_EMIT_HELPERS_H_

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/device/device_info.h"
#include "core/emit/kernel_functions.h"

namespace hearth {

// In the order in which they are to be defined. Valid forever.
std::span<const Helper> HelpersOf(Dialect dialect);

// Which helpers texts use, and which helpers those use in turn.
class UsedHelpers {
 public:
  // `helpers` must outlive this object.
  void Know(std::span<const Helper> helpers);
  // Every identifier counts, in comments and in branches of #if that are not taken too.
  void Read(std::string_view text);

  bool Has(const Helper& helper) const { return used_.contains(&helper); }
  // The definitions of those that are used.
  std::string TextOf(std::span<const Helper> helpers) const;

 private:
  void Use(std::string_view name);

  std::unordered_map<std::string_view, const Helper*> unused_;  // by name
  std::unordered_set<const Helper*> used_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_HELPERS_H_
