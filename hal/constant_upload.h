// A plan's constants on their way into device memory: packed from the model, or read from the cache
// where that is faster.
#ifndef HEARTH_HAL_CONSTANT_UPLOAD_H_
#define HEARTH_HAL_CONSTANT_UPLOAD_H_

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/base/blob_store.h"
#include "core/plan/plan.h"
#include "hal/device.h"
#include "hal/held_constants.h"

namespace hearth {

// Of the content (BlobStore::NameOfContent), its quantization, the layout and the packer: models and backends that
// share a layer in one layout share the entry.
CacheKey PackedWeightsKey(const PlanConstant& constant, std::string_view content);

// The bytes of a model's files, by FileRange::file.
using ModelFileBytes = std::vector<std::span<const std::byte>>;

// Called with bytes of the model that a start has read for the last time: whoever mapped them may give their pages
// back, so that weights are not held twice. They may be read again later.
using ModelBytesRead = std::function<void(std::span<const std::byte>)>;

// Fills what PlaceConstants made. `store` may be null. Returns, per constant, the milliseconds that packing took; 0
// where it was held or the cache had it. `done` may be empty. kUnavailable once `stop` was requested.
Result<std::vector<double>> UploadConstants(Device& device, const PlacedConstants& placed, const Plan& plan,
                                            const ModelFileBytes& model_files, BlobStore* store,
                                            const ModelBytesRead& done = {}, const std::stop_token& stop = {});

// Stores the constants that this start packed and whose packing takes clearly longer than reading them would, and marks
// them is_kept. Which ones follows from their recipes and sizes. They are packed once more for it, so that nothing is
// held twice: call after the first result.
void StoreCostlyConstants(Plan& plan, std::span<const double> pack_ms, const ModelFileBytes& model_files,
                          BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_HAL_CONSTANT_UPLOAD_H_
