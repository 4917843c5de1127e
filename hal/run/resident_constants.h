// Constants of one model that are in a device's memory already. Plans that pack them alike share them, whether the
// plans are of several shapes or of several sessions.
#ifndef HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_
#define HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/fingerprint.h"
#include "core/plan/plan.h"
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

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_RESIDENT_CONSTANTS_H_
