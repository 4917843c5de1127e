// A shared model on a software driver that stands in for another device: the golden, operations that do not fit on the
// CPU with their reasons, and never an error of the whole model.
#ifndef HEARTH_TESTS_MODELS_PROFILED_MODEL_H_
#define HEARTH_TESTS_MODELS_PROFILED_MODEL_H_

#include <algorithm>
#include <string>
#include <tuple>

#include "runtime/devices/device_choice.h"
#include "tests/models/golden_session.h"
#include "tests/testing/shared_data.h"

namespace hearth::testing {

// Model, device, profile.
using ProfiledCase = std::tuple<std::string, std::string, std::string>;

class ProfiledModel : public ::testing::TestWithParam<ProfiledCase> {
 protected:
  void ExpectTheGolden(const std::string& precision = "fp32") {
    const auto& [model, device, profile] = GetParam();
    const auto manifest = SharedFolder() / "goldens" / model / "manifest.json";
    HEARTH_SKIP_WITHOUT(manifest);
    if (const Status usable = ChooseDevices(device).status(); !usable.ok()) GTEST_SKIP() << usable.message();
    SessionOptions options{.device = device, .simulate = profile, .precision = precision};
    options.use_cache = false;
    Golden golden = ReadGolden(SharedFolder(), manifest);
    if (precision != "fp32" && golden.outputs[0].dtype != "float32") GTEST_SKIP() << "a quantized model";
    const Result<Session> session = OpenAndRun(golden, options);
    ASSERT_TRUE(session.ok()) << session.status().message();
    if (golden.outputs.size() > 1) TakeOverLastClasses(golden, session->output(1));
    ExpectGolden(golden, *session);
    for (const OperatorFallback& fallback : session->report().ops.fallbacks) EXPECT_FALSE(fallback.reason.empty());
    RecordProperty("on_cpu", session->report().ops.on_cpu);
  }
};

inline std::string NameOfCase(const ::testing::TestParamInfo<ProfiledCase>& info) {
  const auto& [model, device, profile] = info.param;
  std::string name = model + "_on_" + device + "_as_" + profile;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_MODELS_PROFILED_MODEL_H_
