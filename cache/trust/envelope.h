// The form of an entry outside of a store: in bundles, on a server, in a caller's own store. It says what it is and is
// checked as a whole, so whoever mixes up, truncates or damages entries only causes misses.
//
//   "HRE1"  u8 kind  u64 material bytes  material  f64 cost_ms  16 bytes XXH3-128 of the blob  blob
//
// Numbers are little-endian. A sealed envelope is 64 bytes Ed25519 signature of the envelope, and the envelope.
#ifndef HEARTH_CACHE_TRUST_ENVELOPE_H_
#define HEARTH_CACHE_TRUST_ENVELOPE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/trust/signature.h"
#include "core/store/entry_source.h"

namespace hearth {

std::vector<std::byte> MakeEnvelope(const NewEntry& entry);

// The part before the blob, for those that read an envelope piece by piece. Its length follows from the first bytes.
inline constexpr uint64_t kEnvelopeStartBytes = 13;
std::optional<uint64_t> EnvelopeHeadBytes(std::span<const std::byte> start);
struct EnvelopeHead {
  CacheKey key;
  double cost_ms = 0;    // bounded, whoever wrote it
  Fingerprint checksum;  // of the blob
};
std::optional<EnvelopeHead> EnvelopeHeadFrom(std::span<const std::byte> head);

// What an envelope holds: parts of its bytes. nullopt unless it is intact and belongs to `key`.
struct OpenedEnvelope {
  std::span<const std::byte> blob;
  double cost_ms = 0;
  Fingerprint checksum;
};
std::optional<OpenedEnvelope> OpenEnvelope(const CacheKey& key, std::span<const std::byte> envelope);

// kUnavailable: signatures can't be made here.
Result<std::vector<std::byte>> Seal(const SigningKey& key, std::span<const std::byte> envelope);
// The envelope and the trusted key that signed it; nullopt if none did.
struct UnsealedEnvelope {
  std::span<const std::byte> envelope;
  PublicKey signer;
};
std::optional<UnsealedEnvelope> Unseal(std::span<const std::byte> sealed, std::span<const PublicKey> trusted);

// The name of an entry where values have names: "<kind>/<digest in hex>".
std::string NameInKeyValueStore(const CacheKey& key);

}  // namespace hearth

#endif  // HEARTH_CACHE_TRUST_ENVELOPE_H_
