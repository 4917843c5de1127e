// Small shared models on a discrete GPU and on the least that each API guarantees. every_profile.cc has the rest.
#include "tests/models/profiled_model.h"

namespace hearth {
namespace {

using testing::ProfiledCase;

std::vector<ProfiledCase> Sample() {
  std::vector<ProfiledCase> cases;
  for (const char* model : {"face_detection_front", "mnist_lstm_f32", "mobilenet_v1_0.25_128_quant"}) {
    for (const std::string& device : BackendNames()) {
      cases.emplace_back(model, device, "navi21");
      const char* least = device == "vulkan" ? "vulkan-1.1-minimum" : "gles-3.1-minimum";
      cases.emplace_back(model, device, device == "opencl" ? "opencl-1.2-embedded-minimum" : least);
    }
  }
  return cases;
}

class ProfileSample : public testing::ProfiledModel {};

TEST_P(ProfileSample, GivesTheGolden) {
  ExpectTheGolden();
}

class HalfProfileSample : public testing::ProfiledModel {};

// Products, then sums too, of numbers of 16 bits.
TEST_P(HalfProfileSample, GivesTheGoldenCalculatedIn16Bits) {
  ExpectTheGolden("fp32_16");
  ExpectTheGolden("fp16");
}

INSTANTIATE_TEST_SUITE_P(All, HalfProfileSample,
                         ::testing::Values(ProfiledCase("face_detection_front", "vulkan", "navi21"),
                                           ProfiledCase("mobilenet_v1_0.25_224_f32", "vulkan", "mali-g78")),
                         testing::NameOfCase);

INSTANTIATE_TEST_SUITE_P(All, ProfileSample, ::testing::ValuesIn(Sample()), testing::NameOfCase);

}  // namespace
}  // namespace hearth
