# What can be left out of a build. Everything is in by default.
option(HEARTH_WITH_OPENCL "OpenCL backend (driver opened at run time)" ON)
option(HEARTH_WITH_VULKAN "Vulkan backend (driver opened at run time)" ON)
option(HEARTH_WITH_GLES "OpenGL ES 3.1 backend (driver opened at run time)" ON)
option(HEARTH_WITH_XNNPACK "XNNPACK kernels on the CPU; without it the reference runs" ON)
option(HEARTH_BUILD_TESTS "Build the tests" ON)
option(HEARTH_BUILD_BENCHMARKS "Build the benchmarks" ON)
option(HEARTH_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(HEARTH_SANITIZE "" CACHE STRING "Sanitizers for all of Hearth: 'address,undefined' or 'thread'")
