// Compiles one loop for each set of vector instructions and chooses at run time.
#ifndef HEARTH_BACKENDS_CPU_HOST_VECTORIZED_H_
#define HEARTH_BACKENDS_CPU_HOST_VECTORIZED_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

// Marks a lambda or function that is inlined into its caller, with the caller's instruction set.
#define HEARTH_INTO_CALLER __attribute__((always_inline))

// Unrolls a loop with a constant number of turns completely, so that its arrays are registers. Not under clang's
// sanitizers, whose checks of each turn take as long to compile as all the rest.
#if defined(__clang__)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEARTH_UNROLLED
#else
#define HEARTH_UNROLLED _Pragma("unroll")
#endif
#else
#define HEARTH_UNROLLED _Pragma("GCC unroll 16")
#endif

// Before a loop whose turns read no memory that another turn writes: no code for the case that they do. Clang makes a
// promise to vectorize of it, which it breaks without optimisations.
#if defined(__clang__)
#define HEARTH_INDEPENDENT
#else
#define HEARTH_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace hearth {

enum class VectorSet : uint8_t { kBase, kAvx2, kAvx512 };

#if defined(__x86_64__)
inline VectorSet BestVectorSet() {
  static const VectorSet best = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return VectorSet::kBase;
    const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return has_512 ? VectorSet::kAvx512 : VectorSet::kAvx2;
  }();
  return best;
}

template <typename Body>
__attribute__((target("avx2,fma"), noinline)) void RunAvx2(const Body& body) {
  body();
}
#if defined(__clang__)  // clang 14 does not know the preference
#define HEARTH_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
#else
#define HEARTH_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif
template <typename Body>
__attribute__((target(HEARTH_AVX512), noinline)) void RunAvx512(const Body& body) {
  body();
}
#undef HEARTH_AVX512

// Runs `body` with the instructions of `set`, which this machine must have. Of more than kMost there is no code.
template <VectorSet kMost = VectorSet::kAvx512, typename Body>
void RunIn(VectorSet set, const Body& body) {
  if constexpr (kMost == VectorSet::kAvx512) {
    if (set == VectorSet::kAvx512) return RunAvx512(body);
  }
  if constexpr (kMost != VectorSet::kBase) {
    if (set != VectorSet::kBase) return RunAvx2(body);
  }
  (void)set;
  body();
}
#else
inline VectorSet BestVectorSet() {
  return VectorSet::kBase;
}
template <VectorSet kMost = VectorSet::kAvx512, typename Body>
void RunIn(VectorSet, const Body& body) {
  body();
}
#endif

// Runs body(bytes), a lambda marked HEARTH_INTO_CALLER, with a vector's size in bytes as an integral_constant, for
// loops with explicit vectors. Of more than kMostBytes there is no code.
template <int kMostBytes = 64, typename Body>
void RunWithVectorBytes(VectorSet set, const Body& body) {
#if defined(__x86_64__)
  if constexpr (kMostBytes >= 64) {
    if (set == VectorSet::kAvx512) {
      return RunAvx512([&]() HEARTH_INTO_CALLER { body(std::integral_constant<int, 64>()); });
    }
  }
  if (set != VectorSet::kBase) {
    return RunAvx2([&]() HEARTH_INTO_CALLER { body(std::integral_constant<int, 32>()); });
  }
#endif
  (void)set;
  body(std::integral_constant<int, 16>());
}

// GCC 12 forgets the size of a vector that it deduces as an array's element.
template <int kBytes>
struct VectorOf {
  typedef float Floats __attribute__((vector_size(kBytes)));
  typedef double Doubles __attribute__((vector_size(kBytes)));
};

// A vector of Number from floats, and its numbers stored as floats.
template <typename Number, typename Numbers>
HEARTH_INTO_CALLER inline void LoadFloats(const float* from, Numbers& numbers) {
  typedef float Floats __attribute__((vector_size(sizeof(Numbers) / sizeof(Number) * sizeof(float))));
  Floats floats;
  std::memcpy(&floats, from, sizeof(Floats));
  numbers = __builtin_convertvector(floats, Numbers);
}
template <typename Number, typename Numbers>
HEARTH_INTO_CALLER inline void StoreFloats(const Numbers& numbers, float* to) {
  typedef float Floats __attribute__((vector_size(sizeof(Numbers) / sizeof(Number) * sizeof(float))));
  const Floats floats = __builtin_convertvector(numbers, Floats);
  std::memcpy(to, &floats, sizeof(Floats));
}

// Runs `body`, a lambda marked HEARTH_INTO_CALLER with loops that the compiler vectorizes.
template <VectorSet kMost = VectorSet::kAvx512, typename Body>
void Vectorized(const Body& body) {
  RunIn<kMost>(BestVectorSet(), body);
}
// Of the few layers that decide indices, which are calculated in double, AVX-512 would be 34 KB of code.
template <typename Number>
inline constexpr int kMostBytesFor = std::is_same_v<Number, double> ? 32 : 64;

// The most that loops over elements of a type gain by: of integers, which few networks have many of, wider vectors
// would add 0.15 MB of code.
template <typename T>
inline constexpr VectorSet kMostFor = std::is_floating_point_v<T> ? VectorSet::kAvx512 : VectorSet::kBase;

// The same of loops that calculate little for each element, so that memory is their bound.
template <typename T>
inline constexpr VectorSet kMostForElements = std::is_same_v<T, float> ? VectorSet::kAvx2 : VectorSet::kBase;

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_VECTORIZED_H_
