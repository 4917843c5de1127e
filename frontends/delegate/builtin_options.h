// From the interpreter's structures of operator attributes to the options tables of the file format.
#ifndef HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_
#define HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_

#include <cstdint>

#include "frontends/tflite/model_writer.h"

namespace hearth {

// The file format's number of an element type of the interpreter's; -1 for one that is not known.
int8_t FileTypeOf(int32_t interpreter_type);

// Sets options_type and options of `op` from `builtin_data` (a struct of builtin_params.h, which `op.code` chooses).
// Operators without options that Hearth reads, and those without builtin_data, get none.
void SetOptions(const void* builtin_data, OperatorToWrite& op);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_BUILTIN_OPTIONS_H_
