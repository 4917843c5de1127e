#include "core/store/content.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/store/cache_key.h"

namespace hearth {

ContentReading ContentOf(std::span<const std::byte> bytes) {
  return {bytes.size(), [bytes](const ContentReading::Take& take) {
            constexpr size_t kPieceBytes = 256 << 10;  // stays in the processor's cache from digest to digest
            for (size_t at = 0; at < bytes.size(); at += kPieceBytes)
              take(bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at)));
            return Status::Ok();
          }};
}

Result<ContentDigests> DigestsOf(const ContentReading& content, std::span<const std::byte> secret, WithName with_name) {
  FingerprintStream plain;
  std::optional<FingerprintStream> secretly;
  if (!secret.empty()) secretly.emplace(secret);
  std::optional<Sha256> sha256;
  if (with_name == WithName::kYes) sha256.emplace();
  HEARTH_TRY(content.read([&](std::span<const std::byte> piece) {
    plain.Add(piece);
    if (secretly) secretly->Add(piece);
    if (sha256) sha256->Add(piece);
  }));
  ContentDigests digests{plain.Finish(), secretly ? secretly->Finish() : Fingerprint(), {}};
  if (sha256) digests.name = NameByDigest(HexOf(sha256->Finish()), content.size_bytes);
  return digests;
}

}  // namespace hearth
