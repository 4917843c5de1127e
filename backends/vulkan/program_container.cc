#include "backends/vulkan/program_container.h"

#include <algorithm>
#include <cstring>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kMagic = 0x504b5648;  // "HVKP"
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumOffset = 2 * sizeof(uint32_t);
constexpr size_t kPayloadOffset = kChecksumOffset + sizeof(Fingerprint::bytes);

Status Malformed(std::string_view what) {
  return Error(StatusCode::kMalformedInput, "program container: {}; compile again", what);
}

Result<SpirvWords> ReadModule(ByteReader& reader, uint32_t word_count) {
  SpirvWords words;
  if (uint64_t{word_count} * sizeof(uint32_t) > reader.rest().size()) return Malformed("a module is cut off");
  words.reserve(word_count);
  for (uint32_t k = 0; k < word_count; ++k) words.push_back(reader.Number<uint32_t>());
  HEARTH_TRY(CheckSpirv(words).Within("program container"));
  return words;
}

}  // namespace

std::vector<std::byte> Serialize(const ProgramContainer& container) {
  std::vector<std::byte> out;
  AppendNumber(out, kMagic);
  AppendNumber(out, kVersion);
  out.resize(kPayloadOffset);
  AppendNumber(out, static_cast<uint32_t>(container.modules.size()));
  for (const SpirvWords& module : container.modules) AppendNumber(out, static_cast<uint32_t>(module.size()));
  AppendNumber(out, static_cast<uint32_t>(container.pipeline_cache.size()));
  for (const SpirvWords& module : container.modules) {
    for (uint32_t word : module) AppendNumber(out, word);
  }
  out.insert(out.end(), container.pipeline_cache.begin(), container.pipeline_cache.end());
  const Fingerprint checksum = FingerprintOf(std::span(out).subspan(kPayloadOffset));
  std::memcpy(out.data() + kChecksumOffset, checksum.bytes.data(), checksum.bytes.size());
  return out;
}

Result<ProgramContainer> ParseContainer(std::span<const std::byte> bytes, size_t module_count) {
  ByteReader reader(bytes);
  if (reader.Number<uint32_t>() != kMagic || reader.Number<uint32_t>() != kVersion)
    return Malformed("it is not a container, or has another version");
  const std::span<const std::byte> stored = reader.Bytes(sizeof(Fingerprint::bytes));
  if (reader.failed()) return Malformed("its header is cut off");
  const Fingerprint checksum = FingerprintOf(bytes.subspan(kPayloadOffset));
  if (std::memcmp(stored.data(), checksum.bytes.data(), stored.size()) != 0) return Malformed("its checksum is wrong");
  if (reader.Number<uint32_t>() != module_count || reader.failed())
    return Malformed("it was made for another number of kernels");
  if (uint64_t{module_count} * sizeof(uint32_t) > reader.rest().size()) return Malformed("its table is cut off");
  std::vector<uint32_t> word_counts(module_count);
  for (uint32_t& count : word_counts) count = reader.Number<uint32_t>();
  const uint32_t cache_bytes = reader.Number<uint32_t>();
  ProgramContainer container;
  for (uint32_t count : word_counts) {
    HEARTH_ASSIGN(auto words, ReadModule(reader, count));
    container.modules.push_back(std::move(words));
  }
  const std::span<const std::byte> cache = reader.Bytes(cache_bytes);
  if (reader.failed() || !reader.rest().empty()) return Malformed("its end is wrong");
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
