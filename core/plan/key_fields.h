// The fields of cache keys: one row for each, with its name in the key and its word in `hearth cache explain`. A struct
// that keys depend on has a row for each member: a member without one does not compile.
#ifndef HEARTH_CORE_PLAN_KEY_FIELDS_H_
#define HEARTH_CORE_PLAN_KEY_FIELDS_H_

#include <span>
#include <string>
#include <string_view>

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/plan/pack.h"
#include "core/store/key_request.h"

namespace hearth {

// A request's device. kIdentity: the key has the device and its driver, for binaries and measurements. kCapability: its
// limits and features, for plans.
enum class DevicePart : uint8_t { kIdentity, kCapability };
template <DevicePart kPart>
class KeyedDevice {
 public:
  KeyedDevice(const DeviceInfo* info) : info_(info) {}  // NOLINT(google-explicit-constructor): it is that device
  const DeviceInfo& operator*() const { return *info_; }
  const DeviceInfo* operator->() const { return info_; }

 private:
  const DeviceInfo* info_;
};
using DeviceIdentity = KeyedDevice<DevicePart::kIdentity>;
using DeviceCapability = KeyedDevice<DevicePart::kCapability>;
void AddToKey(CacheKey& key, const DeviceIdentity& device);
void AddToKey(CacheKey& key, const DeviceCapability& device);

void AddToKey(CacheKey& key, const LowerOptions& options);
void AddToKey(CacheKey& key, const PackRecipe& recipe);

// Fields of keys that are no members of those structs.
inline constexpr std::string_view kHearthVersion = "Hearth version";
inline constexpr KeyField kPlanSourcesField = {"plan sources", kHearthVersion};
inline constexpr KeyField kWeightSourcesField = {"weight sources", kHearthVersion};
inline constexpr KeyField kTuningSourcesField = {"tuning sources", kHearthVersion};
inline constexpr KeyField kProbeSourcesField = {"probe sources", kHearthVersion};
inline constexpr KeyField kSelfTestSourcesField = {"self-test sources", kHearthVersion};
inline constexpr KeyField kCompilerField = {"compiler", kHearthVersion};
inline constexpr KeyField kModelField = {"model", "model content"};
inline constexpr KeyField kSignatureField = {"signature", "signature"};
inline constexpr KeyField kInputShapesField = {"input shapes", "input shape"};
inline constexpr KeyField kTopKField = {"top k", "option"};
inline constexpr KeyField kClassMapsField = {"class maps", "option"};
inline constexpr KeyField kConstantsField = {"constants", "fixed input"};
inline constexpr KeyField kCustomOpsField = {"custom operators", "custom operator"};
inline constexpr KeyField kLayerField = {"layer", "layer"};
inline constexpr KeyField kContentField = {"content", "weights"};
inline constexpr KeyField kCpusField = {"cpus", "device capability"};
inline constexpr KeyField kKernelField = {"kernel", "kernel"};
inline constexpr KeyField kTextField = {"text", "kernel"};
inline constexpr KeyField kGridsField = {"grids", "input shape"};

// The user's word for a field of a key; for one that this version of Hearth does not know, its name.
std::string WordOfKeyField(std::string_view name);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_KEY_FIELDS_H_
