// Operations from names and attributes as text, as core/graph/op_text.h writes them.
#ifndef HEARTH_TESTS_TESTING_OP_FROM_TEXT_H_
#define HEARTH_TESTS_TESTING_OP_FROM_TEXT_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/op.h"
#include "hearth/status.h"

namespace hearth {

// One "name=value" of AttributesToText; the value of a quoted text is unquoted.
using AttributeText = std::pair<std::string, std::string>;

// The operation with this name (as OpName gives it; "unknown" for UnknownOp) and these attributes. kMalformedInput for
// an unknown operation or attribute, or a value that can't be read.
Result<Op> OpFromText(std::string_view name, std::span<const AttributeText> attributes);

// One operation with default attributes for each name that OpFromText knows.
std::vector<Op> NamedOps();

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_OP_FROM_TEXT_H_
