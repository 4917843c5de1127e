// The functions of libsodium that Hearth calls, found at run time. Without the library only signatures are missing.
#ifndef HEARTH_CACHE_SODIUM_API_H_
#define HEARTH_CACHE_SODIUM_API_H_

#include <sodium.h>

#include "hearth/status.h"

namespace hearth {

#define HEARTH_SODIUM_FUNCTIONS(X) \
  X(sodium_init)                   \
  X(randombytes_buf)               \
  X(crypto_sign_seed_keypair)      \
  X(crypto_sign_detached)          \
  X(crypto_sign_verify_detached)

struct SodiumApi {
#define HEARTH_DECLARE(name) decltype(&::name) name = nullptr;
  HEARTH_SODIUM_FUNCTIONS(HEARTH_DECLARE)
#undef HEARTH_DECLARE
};

// The process's only table, opened and initialised by the first call and kept. kUnavailable, each time with the same
// message, if libsodium is not installed. Threads: any.
Result<const SodiumApi*> LoadSodium();

}  // namespace hearth

#endif  // HEARTH_CACHE_SODIUM_API_H_
