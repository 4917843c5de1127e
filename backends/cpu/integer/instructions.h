// Attributes for functions that need instruction sets the machine may lack. Callers check BestIntegerSet() first.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_INSTRUCTIONS_H_
#define HEARTH_BACKENDS_CPU_INTEGER_INSTRUCTIONS_H_

#if defined(__x86_64__)
#define HEARTH_X86_KERNELS
// GCC 12 warns about vectors that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#define HEARTH_AVX2 __attribute__((target("avx2,fma")))
#define HEARTH_VNNI __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

#endif  // HEARTH_BACKENDS_CPU_INTEGER_INSTRUCTIONS_H_
