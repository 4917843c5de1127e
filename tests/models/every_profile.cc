// Every shared model under every profile, on each API that the profile lists: label `slow`.
#include "core/device/device_profiles.h"
#include "tests/models/profiled_model.h"

namespace hearth {
namespace {

using testing::ProfiledCase;

std::vector<ProfiledCase> AllCases() {
  std::vector<ProfiledCase> cases;
  for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kVulkan, Dialect::kGles}) {
    const std::string device(DialectName(dialect));
    if (FindGpuBackend(device) == nullptr) continue;
    for (const DeviceProfile& profile : DeviceProfiles()) {
      if (!profile.Offers(dialect)) continue;
      for (const char* model : testing::kGoldenModels) cases.emplace_back(model, device, profile.name);
    }
  }
  return cases;
}

class EveryProfile : public testing::ProfiledModel {};

TEST_P(EveryProfile, GivesTheGolden) {
  ExpectTheGolden();
}

INSTANTIATE_TEST_SUITE_P(All, EveryProfile, ::testing::ValuesIn(AllCases()), testing::NameOfCase);

}  // namespace
}  // namespace hearth
