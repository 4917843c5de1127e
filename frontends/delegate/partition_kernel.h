// Runs a partition of the interpreter's network as one operator, by a session.
#ifndef HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_
#define HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_

#include "frontends/delegate/tflite_c.h"

namespace hearth {

// The functions that the interpreter calls for each partition. Initialization reads the nodes and makes the session; a
// failure becomes the result of the delegate's Prepare, after which the interpreter removes the delegate. Preparation
// makes another session if shapes have changed, and sets the shapes of the outputs.
tflite_c::TfLiteRegistration PartitionKernelRegistration();

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_
