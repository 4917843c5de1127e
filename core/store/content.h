// Long content that is named in keys, read in pieces: one reading serves all digests of it.
#ifndef HEARTH_CORE_STORE_CONTENT_H_
#define HEARTH_CORE_STORE_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/fingerprint.h"
#include "hearth/status.h"

namespace hearth {

struct ContentReading {
  using Take = std::function<void(std::span<const std::byte> piece)>;

  uint64_t size_bytes = 0;
  // Gives all of it, from the beginning on. An error: it can't be read any more.
  std::function<Status(const Take& take)> read;
};

// Calls `use` with each piece of so many bytes in turn, until one fails. A piece stays in the processor's cache from
// digest to digest.
inline constexpr size_t kContentPieceBytes = 256 << 10;
Status ForEachPiece(uint64_t size_bytes, const std::function<Status(uint64_t offset_bytes, size_t piece_bytes)>& use);

// Of bytes in memory, which outlive it.
ContentReading ContentOf(std::span<const std::byte> bytes);

struct ContentDigests {
  Fingerprint fingerprint;         // as FingerprintOf
  Fingerprint secret_fingerprint;  // as SecretFingerprintOf, if there is a secret
  std::string name;                // as NameByHash, if it was asked for
};

enum class WithName : uint8_t { kNo, kYes };  // SHA-256 takes several times as long as the rest

// Reads the content once. `secret`: of kFingerprintSecretBytes, or empty.
Result<ContentDigests> DigestsOf(const ContentReading& content, std::span<const std::byte> secret, WithName with_name);

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_CONTENT_H_
