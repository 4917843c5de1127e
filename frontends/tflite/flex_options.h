// FlexBuffers, the form of most custom operators' options: the library's header, for the readers and their tests.
#ifndef HEARTH_FRONTENDS_TFLITE_FLEX_OPTIONS_H_
#define HEARTH_FRONTENDS_TFLITE_FLEX_OPTIONS_H_

#include <flatbuffers/flexbuffers.h>

#endif  // HEARTH_FRONTENDS_TFLITE_FLEX_OPTIONS_H_
