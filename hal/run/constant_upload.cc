#include "hal/run/constant_upload.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/large_pages.h"
#include "hal/device/stopping.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

constexpr double kMiB = 1 << 20;

// The cost of a constant from the cache, measured with the file in the page cache: 0.2 ms per MiB to read it and its
// checksum, 0.15 to hash its source for the key, and 0.05 per entry.
constexpr double kReadMsPerMiB = 0.35;
constexpr double kReadMsPerEntry = 0.05;
constexpr double kMargin = 2.0;

// Packing times (AVX2, 1 MiB of matrices, by type of source): floats 0.2 to 0.8, halves 1.4 to 6, Winograd's filters
// 2.9, as halves 11. The least of each is used, so that the plan decides what is kept, not how busy the machine was.
double PackMsPerMiB(const PackRecipe& recipe) {
  if (recipe.layout == PackLayout::kWinograd) return 2.9;
  return recipe.storage == StorageType::kFloat16 ? 1.4 : 0.2;
}

bool IsCostly(const PlanConstant& constant) {
  const double size_mib = static_cast<double>(constant.range.size_bytes) / kMiB;
  return PackMsPerMiB(constant.recipe) * size_mib > kMargin * (kReadMsPerEntry + kReadMsPerMiB * size_mib);
}

Result<std::span<const std::byte>> SourceBytes(const PlanConstant& constant, const ModelFileBytes& model_files) {
  if (!constant.inline_bytes.empty()) return std::span<const std::byte>(constant.inline_bytes);
  const auto& [file, offset, size] = constant.source;
  if (file >= model_files.size()) {
    return Error(StatusCode::kMalformedInput, "the plan refers to file {} of a model with {} files", file,
                 model_files.size());
  }
  const std::span<const std::byte> bytes = model_files[file];
  if (size > bytes.size() || offset > bytes.size() - size) {
    return Error(StatusCode::kMalformedInput, "the plan refers to bytes {}+{} of a model file of {} bytes", offset,
                 size, bytes.size());
  }
  return bytes.subspan(offset, size);
}

}  // namespace

Result<std::vector<double>> UploadConstants(Device& device, const PlacedConstants& placed, const Plan& plan,
                                            const ModelFileBytes& model_files, ResultCache* cache,
                                            const ModelBytesRead& done, const std::stop_token& stop) {
  std::vector<double> pack_ms(plan.constants.size());
  const auto make = [&](size_t index, std::span<std::byte> packed) -> Status {
    const PlanConstant& constant = plan.constants[index];
    HEARTH_ASSIGN(const std::span<const std::byte> source, SourceBytes(constant, model_files));
    if (cache != nullptr && constant.is_kept && cache->FindInto(WeightsRequest{{source}, constant.recipe}, packed))
      return Status::Ok();
    const Stopwatch watch;
    HEARTH_TRY(PackConstant(constant.recipe, source, packed));
    pack_ms[index] = watch.milliseconds();
    if (done != nullptr && constant.inline_bytes.empty()) done(source);
    return Status::Ok();
  };
  // Packing and checking read what they wrote.
  std::vector<std::byte> beside;
  const auto place = [&](size_t index, std::span<std::byte> memory) -> Status {
    if (device.info().is_read_fast_by_host()) return make(index, memory);
    beside.resize(std::max(beside.size(), memory.size()));
    const std::span<std::byte> packed = std::span(beside).first(memory.size());
    HEARTH_TRY(make(index, packed));
    std::ranges::copy(packed, memory.begin());
    return Status::Ok();
  };
  for (const std::shared_ptr<Buffer>& buffer : placed.made) {
    HEARTH_TRY(device.Write(*buffer, 0, buffer->size_bytes(), [&](std::span<std::byte> memory) -> Status {
      AskForLargePages(memory);
      for (size_t k = 0; k < plan.constants.size(); ++k) {
        if (stop.stop_requested()) return Stopped();
        if (placed.is_held[k] || placed.places[k].buffer != buffer) continue;
        HEARTH_TRY(place(k, memory.subspan(placed.places[k].offset_bytes, plan.constants[k].range.size_bytes)));
      }
      return Status::Ok();
    }));
  }
  return pack_ms;
}

void StoreCostlyConstants(Plan& plan, std::span<const double> pack_ms, const ModelFileBytes& model_files,
                          ResultCache& cache) {
  for (size_t k = 0; k < pack_ms.size(); ++k) {
    PlanConstant& constant = plan.constants[k];
    if (pack_ms[k] == 0 || !IsCostly(constant)) continue;
    const Result<std::span<const std::byte>> source = SourceBytes(constant, model_files);
    std::vector<std::byte> packed(constant.range.size_bytes);
    if (!source.ok() || !PackConstant(constant.recipe, *source, packed).ok()) continue;
    cache.Put(WeightsRequest{{*source}, constant.recipe}, packed, pack_ms[k]);
    constant.is_kept = true;
  }
}

}  // namespace hearth
