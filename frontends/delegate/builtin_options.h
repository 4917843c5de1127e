// Converts the interpreter's structs of operator attributes to the options tables of the file format.
#ifndef HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_

#include <cstdint>

#include "frontends/tflite/model_writer.h"

namespace hearth {

// The file format's number for an element type of the interpreter; -1 if it is unknown.
int8_t FileTypeOf(int32_t interpreter_type);

// Sets options_type and options of `op` from `builtin_data`, the interpreter's struct for `op.code`. Operators
// without builtin_data, or without options that Hearth reads, get none.
void SetOptions(const void* builtin_data, OperatorToWrite& op);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_
