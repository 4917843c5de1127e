#include "core/store/content.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/store/cache_key.h"

namespace hearth {

Status ForEachPiece(uint64_t size_bytes, const std::function<Status(uint64_t offset_bytes, size_t piece_bytes)>& use) {
  for (uint64_t at = 0; at < size_bytes; at += kContentPieceBytes)
    HEARTH_TRY(use(at, static_cast<size_t>(std::min<uint64_t>(kContentPieceBytes, size_bytes - at))));
  return Status::Ok();
}

ContentReading ContentOf(std::span<const std::byte> bytes) {
  return {bytes.size(), [bytes](const ContentReading::Take& take) {
            return ForEachPiece(bytes.size(), [&](uint64_t at, size_t size) {
              take(bytes.subspan(at, size));
              return Status::Ok();
            });
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
