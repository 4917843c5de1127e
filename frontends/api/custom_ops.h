// Operators that a program registers: in C++, as C tables, or in a shared library.
#ifndef HEARTH_FRONTENDS_API_CUSTOM_OPS_H_
#define HEARTH_FRONTENDS_API_CUSTOM_OPS_H_

#include <memory>
#include <vector>

#include "hearth/custom_op.h"
#include "hearth/model.h"

namespace hearth {

// The operators of the options and their libraries. kInvalidArgument for one that can't be used, kNotFound for a file
// that is not there.
Result<std::vector<CustomOp>> AllCustomOps(const ModelOptions& options);

// An operator in C. `library` lives as long as it. On success `op.destroy` is called at its end.
Result<CustomOp> CustomOpOf(const hearth_op& op, std::shared_ptr<const void> library);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_CUSTOM_OPS_H_
