#include "cache/trust/manifest.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <span>
#include <system_error>

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kFirstLine = "hearth-bundle 2";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::string TimeText(int64_t time_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(time_ms / 1000)));
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped += IsPlain(c) ? std::string(1, c) : fmt::format("%{:02x}", static_cast<uint8_t>(c));
  return escaped.empty() ? "%" : escaped;  // an empty value between two blanks would not be seen
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string plain;
  if (text == "%") return plain;
  for (size_t k = 0; k < text.size(); ++k) {
    uint8_t byte = static_cast<uint8_t>(text[k]);
    if (text[k] == '%') {
      if (!BytesFromHex(text.substr(k + 1, 2), std::span(&byte, 1))) return std::nullopt;
      k += 2;
    }
    plain += static_cast<char>(byte);
  }
  return plain;
}

// At most kMostParts parts, one more than any line has; the last one has the rest. A stranger's text must not take more
// memory than its own size.
std::vector<std::string_view> FieldsOf(std::string_view text, char separator) {
  constexpr size_t kMostParts = 7;
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = parts.size() + 1 < kMostParts ? text.find(separator) : std::string_view::npos;
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A line with one value about the whole bundle.
bool SetOfWhole(std::string_view name, std::string_view value, Manifest& manifest) {
  if (name == "expires") return NumberFrom(value, manifest.expires_ms) && manifest.expires_ms > 0;
  if (name == "made") return NumberFrom(value, manifest.made_ms) && manifest.made_ms > 0;
  std::optional<std::string> text = Unescaped(value);
  if (!text || (name == "least-version" && !VersionNumbers(*text))) return false;
  (name == "made-by" ? manifest.made_by : manifest.least_version) = *std::move(text);
  return true;
}

bool AddDevice(const std::vector<std::string_view>& words, Manifest& manifest) {
  if (words.size() != 5) return false;
  CacheDevice device;
  std::string* const values[] = {&device.backend, &device.name, &device.driver, &device.uuid};
  for (size_t k = 0; k < 4; ++k) {
    std::optional<std::string> value = Unescaped(words[k + 1]);
    if (!value) return false;
    *values[k] = *std::move(value);
  }
  manifest.devices.push_back(std::move(device));
  return true;
}

bool AddEntry(const std::vector<std::string_view>& words, Manifest& manifest) {
  if (words.size() != 6) return false;
  ManifestEntry entry;
  const std::optional<BlobKind> kind = BlobKindFromName(words[1]);
  if (!kind || !BytesFromHex(words[2], entry.digest.bytes) || !NumberFrom(words[3], entry.size_bytes) ||
      !BytesFromHex(words[4], entry.sha256) || entry.size_bytes > kMaxEntryBytes) {
    return false;
  }
  entry.kind = *kind;
  size_t device = 0;
  if (words[5] != "-") {
    if (!NumberFrom(words[5], device) || device >= manifest.devices.size()) return false;
    entry.device = device;
  }
  manifest.entries.push_back(entry);
  return true;
}

bool AddLine(std::string_view line, Manifest& manifest) {
  const std::vector<std::string_view> words = FieldsOf(line, ' ');
  if (words[0] == "made-by" || words[0] == "made" || words[0] == "expires" || words[0] == "least-version") {
    return words.size() == 2 && SetOfWhole(words[0], words[1], manifest);
  }
  if (words[0] == "device") return AddDevice(words, manifest);
  return words[0] == "entry" && AddEntry(words, manifest);
}

Status CheckNamedOnce(const Manifest& manifest) {
  std::vector<Fingerprint> digests;
  for (const ManifestEntry& entry : manifest.entries) digests.push_back(entry.digest);
  std::ranges::sort(digests);
  const auto twice = std::ranges::adjacent_find(digests);
  if (twice == digests.end()) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "it names entry {} twice", twice->ToHex());
}

namespace fs = std::filesystem;

// The key among `keys` that signed the texts, in hex. A signature that is wrong for each of them can't be told from one
// by an unknown key.
Result<std::string> SignerAmong(std::span<const PublicKey> keys, const BundleTexts& texts, const std::string& bundle) {
  if (keys.empty() || texts.signature.empty()) return std::string();
  const std::string_view hex = std::string_view(texts.signature).substr(0, texts.signature.find_first_of(" \n"));
  Signature signature;
  if (!BytesFromHex(hex, signature)) {
    return Error(StatusCode::kIoError, "the signature of {} is not 128 hex digits", bundle);
  }
  HEARTH_ASSIGN(const std::optional<PublicKey> signer, SignerOf(BytesOf(texts.manifest), signature, keys));
  return signer ? HexOf(*signer) : std::string();
}

// The key beside the signature, in hex, if it is the one that signed.
std::string NamedSigner(const BundleTexts& texts, const std::string& bundle) {
  const size_t blank = texts.signature.find(' ');
  if (blank == std::string::npos) return "";
  PublicKey key;
  if (!BytesFromHex(std::string_view(texts.signature).substr(blank + 1, kKeyDigits), key)) return "";
  const Result<std::string> signer = SignerAmong({&key, 1}, texts, bundle);
  return signer.ok() ? *signer : "";
}

}  // namespace

std::string Manifest::ToText() const {
  std::string text = fmt::format("{}\nmade-by {}\n", kFirstLine, Escaped(made_by));
  if (made_ms != 0) text += fmt::format("made {}\n", made_ms);
  if (expires_ms != 0) text += fmt::format("expires {}\n", expires_ms);
  if (!least_version.empty()) text += fmt::format("least-version {}\n", Escaped(least_version));
  for (const CacheDevice& device : devices) {
    text += fmt::format("device {} {} {} {}\n", Escaped(device.backend), Escaped(device.name), Escaped(device.driver),
                        Escaped(device.uuid));
  }
  for (const ManifestEntry& entry : entries) {
    text += fmt::format("entry {} {} {} {} {}\n", BlobKindName(entry.kind), entry.digest.ToHex(), entry.size_bytes,
                        HexOf(entry.sha256), entry.device ? std::to_string(*entry.device) : "-");
  }
  return text;
}

Result<Manifest> Manifest::FromText(std::string_view text) {
  Manifest manifest;
  for (size_t number = 1; number == 1 || !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (number == 1 && line == "hearth-bundle 1") {
      return Error(StatusCode::kMalformedInput, "an older Hearth made it: export it again with this one");
    }
    if (number == 1 && line != kFirstLine) {
      return Error(StatusCode::kMalformedInput, "it does not begin with '{}'", kFirstLine);
    }
    if (end == std::string_view::npos) return Error(StatusCode::kMalformedInput, "its last line is cut off");
    text.remove_prefix(end + 1);
    if (number > 1 && (!AddLine(line, manifest) || manifest.devices.size() > kMaxDevices)) {
      return Error(StatusCode::kMalformedInput, "its line {} is invalid", number);
    }
  }
  HEARTH_TRY(CheckNamedOnce(manifest));
  return manifest;
}

Status Manifest::CheckUsable(int64_t now_ms, std::string_view version, int64_t latest_ms) const {
  if (expires_ms != 0 && std::max(now_ms, latest_ms) >= expires_ms) {
    const std::string why = now_ms >= expires_ms
                                ? ""
                                : fmt::format(
                                      " (by this machine's clock it has not, but the cache has seen {}: set the "
                                      "clock; if it is right, `hearth cache clear` forgets that time)",
                                      TimeText(latest_ms));
    return Error(StatusCode::kIoError, "the bundle expired on {}: ask for a newer one{}", TimeText(expires_ms), why);
  }
  const auto least = VersionNumbers(least_version), own = VersionNumbers(version);
  if (least && own && *own < *least) {
    return Error(StatusCode::kIoError, "the bundle is for Hearth {} or newer, and this is {}", least_version, version);
  }
  return Status::Ok();
}

std::optional<std::array<uint32_t, 3>> VersionNumbers(std::string_view text) {
  const std::vector<std::string_view> parts = FieldsOf(text, '.');
  std::array<uint32_t, 3> numbers{};
  if (parts.size() != numbers.size()) return std::nullopt;
  for (size_t k = 0; k < numbers.size(); ++k) {
    if (!NumberFrom(parts[k], numbers[k])) return std::nullopt;
  }
  return numbers;
}

std::optional<CacheDevice> DeviceOf(const CacheKeyFields& fields) {
  const auto value = [&fields](std::string_view name) { return std::string(ValueOf(fields, name)); };
  CacheDevice device{value("backend"), value("device"), value("driver"), value("uuid")};
  if (device.name.empty()) return std::nullopt;
  return device;
}

Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys) {
  HEARTH_ASSIGN(std::string signed_by, SignerAmong(trusted_keys, texts, bundle));
  std::string key_id = signed_by.empty() ? NamedSigner(texts, bundle) : signed_by;
  Result<Manifest> manifest = Manifest::FromText(texts.manifest);
  if (manifest.ok()) {
    return SignedManifest{std::move(manifest).value(), std::move(signed_by), std::move(key_id),
                          Sha256Of(BytesOf(texts.manifest))};
  }
  return Error(StatusCode::kIoError, "the manifest of {} is damaged: {}", bundle, manifest.status().message());
}

Status CheckHasNoManifest(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kManifestName, error)) return Status::Ok();
  return Error(StatusCode::kIoError,
               "{} is a bundle in a folder, which is not read: name the .tar file itself, or export it again to one",
               folder.string());
}

Status IsNoBundle(const fs::path& folder) {
  HEARTH_TRY(CheckHasNoManifest(folder));
  std::error_code error;
  if (!fs::exists(folder / kStoreFileName, error)) {
    return Error(StatusCode::kNotFound, "{} is not a bundle: name the .tar that `hearth cache export` made",
                 folder.string());
  }
  return Error(StatusCode::kNotFound,
               "{0} is a cache, not a bundle: `hearth cache export BUNDLE.tar --cache {0}` makes a bundle of it",
               folder.string());
}

std::string WhyNoSignatures() {
  return HasSignatures() ? "" : "; signatures can't be checked here: libsodium is not installed";
}

}  // namespace hearth
