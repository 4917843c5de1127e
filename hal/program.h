#ifndef HEARTH_HAL_PROGRAM_H_
#define HEARTH_HAL_PROGRAM_H_

#include <utility>

#include "core/emit/kernel_source.h"

namespace hearth {

// One kernel, ready to be dispatched.
class Program {
 public:
  explicit Program(KernelSource source) : source_(std::move(source)) {}
  virtual ~Program() = default;
  const KernelSource& source() const { return source_; }

 private:
  KernelSource source_;
};

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAM_H_
