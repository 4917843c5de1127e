// Names from .kernel files: a name that no file has does not compile.
#ifndef HEARTH_CORE_EMIT_KERNEL_NAMES_H_
#define HEARTH_CORE_EMIT_KERNEL_NAMES_H_

#include <string_view>

#include "core/base/contains.h"
#include "core/emit/kernel_constants.h"

namespace hearth {

// Never defined: a constant expression that calls it does not compile.
void NoKernelFileHasThisName();

// One of `kKnown`, a list of kernel_constants.h.
template <const auto& kKnown>
class NameIn {
 public:
  constexpr NameIn() = default;
  // Implicit, so that lists of arguments read {{"M", rows}, {"BETA", beta}}.
  consteval NameIn(const char* text) : text_(text) {  // NOLINT(google-explicit-constructor)
    if (!Contains(kKnown, text_)) NoKernelFileHasThisName();
  }
  // Converts from a list whose names this one contains.
  template <const auto& kSome>
  explicit constexpr NameIn(NameIn<kSome> name) : text_(name.text()) {}
  constexpr std::string_view text() const { return text_; }
  friend constexpr bool operator==(const NameIn&, const NameIn&) = default;

 private:
  std::string_view text_;
};

using KernelName = NameIn<kernels::kNames>;
using TensorName = NameIn<kernels::kTensors>;
using ScalarName = NameIn<kernels::kScalars>;
using DefineName = NameIn<kernels::kDefines>;

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_NAMES_H_
