// The reason why a builtin operator has no reader, and what to do instead.
#ifndef HEARTH_FRONTENDS_TFLITE_REFUSED_OPERATORS_H_
#define HEARTH_FRONTENDS_TFLITE_REFUSED_OPERATORS_H_

#include <cstdint>
#include <string_view>

namespace hearth {

// One sentence without capital and full stop; empty for operators that are read, and for unnamed codes.
std::string_view WhyRefused(int32_t code);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_REFUSED_OPERATORS_H_
