// Sessions on the shared models, and the judgement of what they answer.
#ifndef HEARTH_TESTS_MODELS_GOLDEN_SESSION_H_
#define HEARTH_TESTS_MODELS_GOLDEN_SESSION_H_

#include <gtest/gtest.h>

#include "hearth/hearth.h"
#include "tests/models/golden.h"

namespace hearth::testing {

inline constexpr const char* kGoldenModels[] = {"deeplabv3_257_mv_gpu",
                                                "edsr_f32b5_f32_in90x160",
                                                "face_detection_front",
                                                "face_landmark",
                                                "hair_segmentation",
                                                "hand_landmark_lite",
                                                "kws_ref_model_int8",
                                                "meet_segmentation_144x256_f32",
                                                "mnist_lstm_f32",
                                                "mobilenet_v1_0.25_128_quant",
                                                "mobilenet_v1_0.25_224_f32",
                                                "mobilenet_v1_1.0_224_f32_dequant",
                                                "mobilenet_v2_1.0_224_quant",
                                                "posenet_mobilenet_v1_100_257x257_f32_dequant",
                                                "selfie_segmentation",
                                                "ssd_mobilenet_v1_1.0_f32_dequant",
                                                "ssd_mobilenet_v1_1.0_quant",
                                                "style_transfer_f16_384",
                                                "vww_96_int8"};

inline Result<Session> OpenAndRun(const Golden& golden, const SessionOptions& options) {
  Result<Session> session = Session::Open(golden.model, options);
  if (!session.ok()) return session;
  for (size_t k = 0; k < golden.inputs.size(); ++k) {
    const Status set = session->SetInput(k, golden.inputs[k].bytes);
    if (!set.ok()) return set;
  }
  const Status ran = session->Run();
  if (!ran.ok()) return ran;
  return session;
}

inline void ExpectGolden(const Golden& golden, const Session& session) {
  ASSERT_EQ(session.outputs().size(), golden.outputs.size());
  const double relative = session.report().precision == "fp32" ? 1e-4 : 2e-2;
  for (size_t k = 0; k < golden.outputs.size(); ++k) {
    EXPECT_EQ(Disagreement(golden.outputs[k], session.output(k), relative), "") << "output " << golden.outputs[k].name;
  }
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_MODELS_GOLDEN_SESSION_H_
