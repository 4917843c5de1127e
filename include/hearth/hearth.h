// All of Hearth's C++ interface. The program and the library need the same C++ standard library in the same mode: if
// the linker misses functions of hearth's, one uses libstdc++ and the other libc++, or one was built with
// _GLIBCXX_DEBUG or _GLIBCXX_USE_CXX11_ABI=0. The C interface (hearth/hearth_c.h) has no such restriction.
#ifndef HEARTH_HEARTH_H_
#define HEARTH_HEARTH_H_

#include "hearth/array.h"           // IWYU pragma: export
#include "hearth/cache.h"           // IWYU pragma: export
#include "hearth/custom_op.h"       // IWYU pragma: export
#include "hearth/device.h"          // IWYU pragma: export
#include "hearth/frame.h"           // IWYU pragma: export
#include "hearth/graph_builder.h"   // IWYU pragma: export
#include "hearth/interop.h"         // IWYU pragma: export
#include "hearth/log.h"             // IWYU pragma: export
#include "hearth/model.h"           // IWYU pragma: export
#include "hearth/report.h"          // IWYU pragma: export
#include "hearth/results.h"         // IWYU pragma: export
#include "hearth/run_queue.h"       // IWYU pragma: export
#include "hearth/session.h"         // IWYU pragma: export
#include "hearth/session_option.h"  // IWYU pragma: export
#include "hearth/status.h"          // IWYU pragma: export
#include "hearth/version.h"         // IWYU pragma: export

#endif  // HEARTH_HEARTH_H_
