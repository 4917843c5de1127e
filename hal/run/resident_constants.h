// Constants of one model that are in a device's memory already. Plans that pack them alike share them, whether the
// plans are of several shapes or of several sessions.
#ifndef HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_
#define HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fingerprint.h"
#include "core/plan/host_executor.h"
#include "core/plan/key_fields.h"
#include "core/plan/plan.h"
#include "core/plan/source_fingerprints.h"
#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// The place of a constant. The buffer is alive as long as somebody has this.
struct ResidentRange {
  std::shared_ptr<Buffer> buffer;
  uint64_t offset_bytes = 0;
  double pack_ms = 0;    // the time that packing took; 0 if it came from the cache
  bool is_kept = false;  // PlanConstant::is_kept of the plan that it was made for
};

// The constants of one device and one model's bytes. Keeps nothing alive. Any thread.
class ResidentConstants {
 public:
  std::optional<ResidentRange> Find(const PlanConstant& constant) const;
  // From now on `constant` is found in `range`, which has been written and is visible to later submissions.
  void Add(const PlanConstant& constant, const ResidentRange& range);
  uint64_t LiveBytes() const;  // of the buffers

 private:
  // The source, and the bytes that it takes packed.
  using Key = std::tuple<FileRange, uint64_t, Fingerprint>;
  struct Entry {
    PackRecipe recipe;
    std::weak_ptr<Buffer> buffer;
    ResidentRange range;  // without the buffer
  };
  static Key KeyOf(const PlanConstant& constant);

  mutable std::mutex mutex_;
  std::map<Key, std::vector<Entry>> entries_;
};

// A plan's constants, each with its place: the held one, or in new memory.
struct PlacedConstants {
  std::vector<ResidentRange> places;           // by constant
  std::vector<bool> is_held;                   // by constant: there is nothing to write
  std::vector<std::shared_ptr<Buffer>> whole;  // by buffer of the plan: null where its constants lie apart
  std::vector<std::shared_ptr<Buffer>> made;   // new memory, to be filled
  uint64_t held_bytes = 0, made_bytes = 0;     // of constants
};

// Makes the memory that the plan's constants still need. `held` may be null.
Result<PlacedConstants> PlaceConstants(Device& device, const Plan& plan, const ResidentConstants* held);

// The bytes that PlaceConstants would find.
uint64_t ResidentBytesOf(const Plan& plan, const ResidentConstants& held);

// The place of a range of the plan's constant buffer. Precondition: the range is in one constant, or in a buffer that
// is whole.
BoundRange Locate(const Plan& plan, const PlacedConstants& placed, const BufferRange& range);

// ---- A plan's constants into device memory: packed from the model, or read from the cache if that is faster ----

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

// Copies bytes of the model's files long after they were mapped: another program may have shortened them since.
using ModelBytesCopy = std::function<Result<std::vector<std::byte>>(std::span<const std::byte>)>;

// Fills the memory that PlaceConstants made. `cache` may be null, `done` may be empty. Returns the packing time of each
// constant in milliseconds; 0 if it was held or came from the cache. kUnavailable once `stop` was requested.
Result<std::vector<double>> UploadConstants(Device& device, const PlacedConstants& placed, const Plan& plan,
                                            const ModelFileBytes& model_files, ResultCache* cache,
                                            const ModelBytesRead& done = {}, const std::stop_token& stop = {});

// Stores the constants that this start packed and that clearly take longer to pack than to read, and marks them
// is_kept. The choice follows from their recipes and sizes. They are packed again for it, so that they are not in
// memory twice: call it after the first result. `copy` may be empty.
void StoreCostlyConstants(Plan& plan, std::span<const double> pack_ms, const ModelFileBytes& model_files,
                          ResultCache& cache, const ModelBytesCopy& copy = {});

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_
