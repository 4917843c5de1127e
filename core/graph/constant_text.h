// The contents of constants in graph texts: whole when they are short, a rule otherwise.
//
//   {0.5, -1, 2}     every element's stored number
//   fill(0.25)       all elements are equal
//   fill(pattern)    other contents; reading gives numbers that depend on name and type only
#ifndef HEARTH_CORE_GRAPH_CONSTANT_TEXT_H_
#define HEARTH_CORE_GRAPH_CONSTANT_TEXT_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/text_scanner.h"
#include "core/graph/types.h"

namespace hearth {

// Contents that don't fit their description are written as fill(pattern).
std::string ConstantToText(const TensorDesc& desc, std::span<const std::byte> bytes);

// The bytes that a text of that form stands for. Errors: kMalformedInput for a text that is none, or that gives another
// number of elements; kResourceExhausted for a tensor of more than 2^28 elements.
Result<std::vector<std::byte>> ConstantFromText(TextScanner& scanner, const TensorDesc& desc, std::string_view name);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CONSTANT_TEXT_H_
