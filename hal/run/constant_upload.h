// Brings a plan's constants into device memory: packed from the model, or read from the cache if that is faster.
#ifndef HEARTH_HAL_RUN_CONSTANT_UPLOAD_H_
#define HEARTH_HAL_RUN_CONSTANT_UPLOAD_H_

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/plan/key_fields.h"
#include "core/plan/plan.h"
#include "core/plan/source_fingerprints.h"
#include "core/store/result_cache.h"
#include "hal/device/device.h"
#include "hal/run/resident_constants.h"

namespace hearth {

// A packed constant: PackConstant(recipe, source). Models and backends that share a layer in one layout share the
// entry.
struct WeightsRequest {
  static constexpr BlobKind kKind = BlobKind::kWeights;
  Content<kContentField> source;
  PackRecipe recipe;
  Field<kWeightSourcesField> sources = std::string(kWeightSources);
};

// The bytes of a model's files, by FileRange::file.
using ModelFileBytes = std::vector<std::span<const std::byte>>;

// Called with bytes of the model that a start has read for the last time. Whoever mapped them may then release their
// pages, so that weights are not in memory twice. They may be read again later.
using ModelBytesRead = std::function<void(std::span<const std::byte>)>;

// Fills the memory that PlaceConstants made. `cache` may be null, `done` may be empty. Returns the packing time of each
// constant in milliseconds; 0 if it was held or came from the cache. kUnavailable once `stop` was requested.
Result<std::vector<double>> UploadConstants(Device& device, const PlacedConstants& placed, const Plan& plan,
                                            const ModelFileBytes& model_files, ResultCache* cache,
                                            const ModelBytesRead& done = {}, const std::stop_token& stop = {});

// Stores the constants that this start packed and that clearly take longer to pack than to read, and marks them
// is_kept. The choice follows from their recipes and sizes. They are packed again for it, so that they are not in
// memory twice: call it after the first result.
void StoreCostlyConstants(Plan& plan, std::span<const double> pack_ms, const ModelFileBytes& model_files,
                          ResultCache& cache);

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_CONSTANT_UPLOAD_H_
