// Macros and functions of the kernel dialect that a driver's language lacks. A text contains only those that it uses.
#ifndef HEARTH_CORE_EMIT_HELPERS_H_
#define HEARTH_CORE_EMIT_HELPERS_H_

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_info.h"

namespace hearth {

// A letter, a digit or an underscore.
constexpr bool IsOfIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Helper {
  std::array<std::string_view, 4> names;  // the identifiers that it defines; the rest empty
  std::string_view text;                  // the definitions, whole lines
};

// Functions that are too long for a macro (kernel_functions.cc), each after those that it calls.
std::vector<Helper> KernelFunctions(Dialect dialect);

// In the order of definition. Valid forever.
std::span<const Helper> HelpersOf(Dialect dialect);

// Finds the helpers that texts use, and those that these use in turn. A start emits each kernel's text, so this must be
// fast.
class UsedHelpers {
 public:
  UsedHelpers() { first_.fill(-1); }

  // `helpers` must outlive this object. Of two with the same name the later one is used.
  void Know(std::span<const Helper> helpers);
  // Every identifier counts, in comments and in branches of #if that are not taken too.
  void Read(std::string_view text);

  bool Has(const Helper& helper) const;
  // The definitions of the helpers that are used.
  std::string TextOf(std::span<const Helper> helpers) const;

 private:
  struct Known {
    std::string_view name;
    const Helper* helper;
    int next;  // in the same bucket; -1: none
  };

  void Use(std::string_view name);

  std::vector<Known> known_;
  std::array<int, 256> first_;  // of each bucket, into known_
  std::vector<const Helper*> used_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_HELPERS_H_
