// Whether this code was compiled for AddressSanitizer or ThreadSanitizer. Both end the process where an ordinary one
// goes on: with RTLD_DEEPBIND, and when memory runs out.
#ifndef HEARTH_CORE_BASE_SANITIZER_H_
#define HEARTH_CORE_BASE_SANITIZER_H_

namespace hearth {

#if defined(__SANITIZE_THREAD__)  // GCC
inline constexpr bool kHasThreadSanitizer = true, kHasSanitizer = true;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasThreadSanitizer = false, kHasSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
inline constexpr bool kHasSanitizer = kHasThreadSanitizer || __has_feature(address_sanitizer);
#else
inline constexpr bool kHasThreadSanitizer = false, kHasSanitizer = false;
#endif

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_SANITIZER_H_
