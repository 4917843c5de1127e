#include "cache/trust/envelope.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HRE1";

void Append(std::vector<std::byte>& bytes, std::span<const std::byte> part) {
  const size_t at = bytes.size();
  bytes.resize(at + part.size());
  std::ranges::copy(part, bytes.begin() + static_cast<ptrdiff_t>(at));
}

}  // namespace

std::vector<std::byte> MakeEnvelope(const NewEntry& entry) {
  std::vector<std::byte> envelope;
  Append(envelope, BytesOf(kMagic));
  AppendNumber(envelope, static_cast<uint8_t>(entry.key->kind()));
  AppendNumber(envelope, static_cast<uint64_t>(entry.key->material().size()));
  Append(envelope, BytesOf(entry.key->material()));
  AppendNumber(envelope, std::bit_cast<uint64_t>(entry.cost_ms));
  Append(envelope, std::as_bytes(std::span(entry.checksum.bytes)));
  Append(envelope, entry.bytes);
  return envelope;
}

std::optional<uint64_t> EnvelopeHeadBytes(std::span<const std::byte> start) {
  ByteReader reader(start);
  const bool is_ours = TextFrom(reader.Bytes(kMagic.size())) == kMagic;
  const auto kind = reader.Number<uint8_t>();
  const auto material_bytes = reader.Number<uint64_t>();
  if (reader.failed() || !is_ours || kind >= kBlobKindCount || material_bytes > kMaxMaterialBytes) return std::nullopt;
  return kEnvelopeStartBytes + material_bytes + sizeof(uint64_t) + sizeof(Fingerprint::bytes);
}

std::optional<EnvelopeHead> EnvelopeHeadFrom(std::span<const std::byte> head) {
  if (EnvelopeHeadBytes(head) != head.size()) return std::nullopt;
  ByteReader reader(head.subspan(kMagic.size()));
  const auto kind = static_cast<BlobKind>(reader.Number<uint8_t>());
  const std::span<const std::byte> material = reader.Bytes(reader.Number<uint64_t>());
  std::optional<CacheKey> key = KeyFromMaterial(kind, TextFrom(material));
  if (!key) return std::nullopt;
  EnvelopeHead opened{*std::move(key), BoundedCostMs(reader.Double()), {}};
  std::ranges::copy(reader.rest(), std::as_writable_bytes(std::span(opened.checksum.bytes)).begin());
  return opened;
}

std::optional<OpenedEnvelope> OpenEnvelope(const CacheKey& key, std::span<const std::byte> envelope) {
  const std::optional<uint64_t> head_bytes =
      EnvelopeHeadBytes(envelope.first(std::min<size_t>(envelope.size(), kEnvelopeStartBytes)));
  if (!head_bytes || *head_bytes > envelope.size()) return std::nullopt;
  const std::optional<EnvelopeHead> head = EnvelopeHeadFrom(envelope.first(*head_bytes));
  if (!head || head->key.kind() != key.kind() || head->key.material() != key.material()) return std::nullopt;
  const std::span<const std::byte> blob = envelope.subspan(*head_bytes);
  if (FingerprintOf(blob) != head->checksum) return std::nullopt;
  return OpenedEnvelope{blob, head->cost_ms, head->checksum};
}

Result<std::vector<std::byte>> Seal(const SigningKey& key, std::span<const std::byte> envelope) {
  HEARTH_ASSIGN(const Signature signature, Sign(key, envelope));
  std::vector<std::byte> sealed;
  Append(sealed, std::as_bytes(std::span(signature)));
  Append(sealed, envelope);
  return sealed;
}

std::optional<UnsealedEnvelope> Unseal(std::span<const std::byte> sealed, std::span<const PublicKey> trusted) {
  Signature signature;
  if (sealed.size() <= signature.size()) return std::nullopt;
  std::ranges::copy(sealed.first(signature.size()), std::as_writable_bytes(std::span(signature)).begin());
  const std::span<const std::byte> envelope = sealed.subspan(signature.size());
  const auto signer = SignerOf(envelope, signature, trusted);
  if (!signer.ok() || !*signer) return std::nullopt;
  return UnsealedEnvelope{envelope, **signer};
}

std::string NameInKeyValueStore(const CacheKey& key) {
  return fmt::format("{}/{}", BlobKindName(key.kind()), key.digest().ToHex());
}

}  // namespace hearth
