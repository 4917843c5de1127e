#include "backends/vulkan/program_container.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/fingerprint.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kMagic = 0x504b5648;  // "HVKP"
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumOffset = 2 * sizeof(uint32_t);
constexpr size_t kPayloadOffset = kChecksumOffset + sizeof(Fingerprint::bytes);

void AppendWord(std::vector<std::byte>& out, uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(word >> shift & 0xff));
}

// Takes words and bytes off the front; `failed` once there is too little left.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  uint32_t Word() {
    const std::span<const std::byte> four = Bytes(sizeof(uint32_t));
    if (failed_) return 0;
    uint32_t word = 0;
    for (size_t k = 0; k < four.size(); ++k) word |= std::to_integer<uint32_t>(four[k]) << (8 * k);
    return word;
  }
  std::span<const std::byte> Bytes(uint64_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  bool failed() const { return failed_; }
  size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

Status Malformed(std::string_view what) {
  return Error(StatusCode::kMalformedInput, "program container: {}; compile again", what);
}

Result<SpirvWords> ReadModule(Reader& reader, uint32_t word_count) {
  SpirvWords words;
  if (uint64_t{word_count} * sizeof(uint32_t) > reader.left()) return Malformed("a module is cut off");
  words.reserve(word_count);
  for (uint32_t k = 0; k < word_count; ++k) words.push_back(reader.Word());
  HEARTH_TRY(CheckSpirv(words).Within("program container"));
  return words;
}

}  // namespace

std::vector<std::byte> Serialize(const ProgramContainer& container) {
  std::vector<std::byte> out;
  AppendWord(out, kMagic);
  AppendWord(out, kVersion);
  out.resize(kPayloadOffset);
  AppendWord(out, static_cast<uint32_t>(container.modules.size()));
  for (const SpirvWords& module : container.modules) AppendWord(out, static_cast<uint32_t>(module.size()));
  AppendWord(out, static_cast<uint32_t>(container.pipeline_cache.size()));
  for (const SpirvWords& module : container.modules) {
    for (uint32_t word : module) AppendWord(out, word);
  }
  out.insert(out.end(), container.pipeline_cache.begin(), container.pipeline_cache.end());
  const Fingerprint checksum = FingerprintOf(std::span(out).subspan(kPayloadOffset));
  std::memcpy(out.data() + kChecksumOffset, checksum.bytes.data(), checksum.bytes.size());
  return out;
}

Result<ProgramContainer> ParseContainer(std::span<const std::byte> bytes, size_t module_count) {
  Reader reader(bytes);
  if (reader.Word() != kMagic || reader.Word() != kVersion) return Malformed("not one, or of another version");
  const std::span<const std::byte> stored = reader.Bytes(sizeof(Fingerprint::bytes));
  if (reader.failed()) return Malformed("cut off in its header");
  const Fingerprint checksum = FingerprintOf(bytes.subspan(kPayloadOffset));
  if (std::memcmp(stored.data(), checksum.bytes.data(), stored.size()) != 0) return Malformed("its checksum is wrong");
  if (reader.Word() != module_count || reader.failed()) return Malformed("made for another number of kernels");
  if (uint64_t{module_count} * sizeof(uint32_t) > reader.left()) return Malformed("its table is cut off");
  std::vector<uint32_t> word_counts(module_count);
  for (uint32_t& count : word_counts) count = reader.Word();
  const uint32_t cache_bytes = reader.Word();
  ProgramContainer container;
  for (uint32_t count : word_counts) {
    HEARTH_ASSIGN(auto words, ReadModule(reader, count));
    container.modules.push_back(std::move(words));
  }
  const std::span<const std::byte> cache = reader.Bytes(cache_bytes);
  if (reader.failed() || reader.left() != 0) return Malformed("its end is wrong");
  container.pipeline_cache.assign(cache.begin(), cache.end());
  return container;
}

bool PipelineCacheFits(std::span<const std::byte> data, const PhysicalDevice& device) {
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == device.vendor_id &&
         header.deviceID == device.device_id &&
         std::equal(device.pipeline_cache_uuid.begin(), device.pipeline_cache_uuid.end(), header.pipelineCacheUUID);
}

}  // namespace hearth::vulkan
