// A partition of the interpreter's network as one operator of it, run by a session of Hearth's.
#ifndef HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_
#define HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_

#include "frontends/delegate/tflite_c.h"

namespace hearth {

// The functions that the interpreter calls for each partition. Initialization reads the nodes and makes the session;
// its failure is the answer of the delegate's Prepare, which makes the interpreter take the delegate back. Preparation
// makes another session where shapes have changed, and gives the interpreter the shapes of the outputs.
tflite_c::TfLiteRegistration PartitionKernelRegistration();

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_PARTITION_KERNEL_H_
