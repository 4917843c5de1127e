// The fields of cache keys: one row for each, with its name in the key and its word in `hearth cache explain`. A struct
// that keys depend on has a row for each member: a member without one does not compile.
#ifndef HEARTH_CORE_PLAN_KEY_FIELDS_H_
#define HEARTH_CORE_PLAN_KEY_FIELDS_H_

#include <span>
#include <string>
#include <string_view>

#include "core/base/fingerprint.h"
#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/plan/pack.h"

namespace hearth {

// kIdentity: the device and its driver, for binaries and measurements. kCapability: its limits and features, for plans.
enum class DevicePart : uint8_t { kIdentity, kCapability };
void AddDevice(CacheKey& key, const DeviceInfo& device, DevicePart part);

// Contains the read path of the rule if `options` does not set one.
void AddOptions(CacheKey& key, const LowerOptions& options, const DeviceInfo& device);

void AddRecipe(CacheKey& key, const PackRecipe& recipe);

// A key field that is not a member of those structs.
struct KeyField {
  std::string_view name, word;
};
inline constexpr std::string_view kHearthVersion = "Hearth version";
inline constexpr KeyField kPlanSourcesField = {"plan sources", kHearthVersion};
inline constexpr KeyField kWeightSourcesField = {"weight sources", kHearthVersion};
inline constexpr KeyField kTuningSourcesField = {"tuning sources", kHearthVersion};
inline constexpr KeyField kProbeSourcesField = {"probe sources", kHearthVersion};
inline constexpr KeyField kSelfTestSourcesField = {"self-test sources", kHearthVersion};
inline constexpr KeyField kCompilerField = {"compiler", kHearthVersion};
inline constexpr KeyField kModelField = {"model", "model content"};
inline constexpr KeyField kModelTokenField = {"model token", "option"};
inline constexpr KeyField kSignatureField = {"signature", "signature"};
inline constexpr KeyField kInputShapesField = {"input shapes", "input shape"};
inline constexpr KeyField kTopKField = {"top k", "option"};
inline constexpr KeyField kClassMapsField = {"class maps", "option"};
inline constexpr KeyField kConstantsField = {"constants", "fixed input"};
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
