// Whole models on every device against recorded answers, cold, warm and with a damaged cache.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "hearth/hearth.h"
#include "runtime/devices/device_choice.h"
#include "tests/models/golden_session.h"
#include "tests/testing/device_names.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using testing::ExpectGolden;
using testing::Golden;
using testing::kGoldenModels;
using testing::OpenAndRun;
using testing::ReadGolden;

// Empty when `device` can be used.
std::string WhyNotUsable(const std::string& device) {
  return ChooseDevices(device).status().message();
}

std::vector<std::vector<std::byte>> OutputsOf(const Session& session) {
  std::vector<std::vector<std::byte>> outputs;
  for (size_t k = 0; k < session.outputs().size(); ++k)
    outputs.emplace_back(session.output(k).begin(), session.output(k).end());
  return outputs;
}

// On a software driver: every operator runs on the device, but for the one that the CPU runs sooner, which is told
// once.
void ExpectNothingButDetectionsOnTheCpu(const Report& report) {
  std::vector<std::string> warnings;
  for (const OperatorFallback& fallback : report.ops.fallbacks) {
    EXPECT_EQ(fallback.op, "TFLite_Detection_PostProcess");
    warnings.push_back(fmt::format(
        "op {} TFLite_Detection_PostProcess: on this driver the CPU picks detections sooner; runs on the CPU",
        fallback.index));
  }
  EXPECT_EQ(report.warnings, warnings);
  const size_t on_cpu = report.device.id == "cpu" ? report.ops.total : report.ops.fallbacks.size();
  EXPECT_EQ(static_cast<size_t>(report.ops.on_cpu), on_cpu);
}

class GoldenModel : public ::testing::TestWithParam<std::tuple<const char*, std::string>> {
 protected:
  void SetUp() override {
    const auto& [model, device] = GetParam();
    const auto manifest = SharedFolder() / "goldens" / model / "manifest.json";
    HEARTH_SKIP_WITHOUT(manifest);
    if (const std::string why = WhyNotUsable(device); !why.empty()) GTEST_SKIP() << why;
    golden_ = ReadGolden(SharedFolder(), manifest);
    options_.device = device;
    options_.cache_folder = folder_.path() / "cache";
  }

  // Vulkan, whose driver compiles quickest, takes all; OpenCL and OpenGL ES share the models between them.
  bool IsIn16BitSample() const {
    const auto& [model, device] = GetParam();
    const auto index =
        static_cast<size_t>(std::ranges::find(kGoldenModels, std::string_view(model)) - std::begin(kGoldenModels));
    return device == "vulkan" || testing::IsInSample(index + (device == "gles"), 2);
  }

  TemporaryFolder folder_;
  Golden golden_;
  SessionOptions options_;
};

TEST_P(GoldenModel, GivesTheGoldenColdAndTheSameBitsWarmWithoutCompiling) {
  std::vector<std::vector<std::byte>> cold_outputs;
  std::vector<std::string> warnings;
  {
    Result<Session> cold = OpenAndRun(golden_, options_);
    ASSERT_TRUE(cold.ok()) << cold.status().message();
    ExpectGolden(golden_, *cold);
    cold_outputs = OutputsOf(*cold);
    warnings = cold->report().warnings;
    cold->SaveToCache();
    EXPECT_EQ(cold->report().warnings, warnings);
    ExpectNothingButDetectionsOnTheCpu(cold->report());
  }
  Result<Session> warm = OpenAndRun(golden_, options_);
  ASSERT_TRUE(warm.ok()) << warm.status().message();
  EXPECT_EQ(OutputsOf(*warm), cold_outputs);
  EXPECT_EQ(warm->report().programs.compiled, 0);
  EXPECT_EQ(warm->report().programs.spirv_compiled, 0);
  EXPECT_EQ(warm->report().warnings, warnings);
}

// The networks whose inputs and outputs are floats; a device without 16-bit storage would run fp32.
TEST_P(GoldenModel, GivesTheGoldenWith16BitStorage) {
  if (options_.device == std::string("cpu")) GTEST_SKIP() << "the CPU computes in float32";
  if (golden_.outputs[0].dtype != "float32") GTEST_SKIP() << "a quantized model";
  if (!IsIn16BitSample()) GTEST_SKIP() << "not in the sample; Models.EveryGoldenIn16Bits runs all";
  options_.precision = "fp16";
  options_.use_cache = false;
  const Result<Session> session = OpenAndRun(golden_, options_);
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->report().precision, "fp16");
  ExpectGolden(golden_, *session);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModel,
                         ::testing::Combine(::testing::ValuesIn(kGoldenModels),
                                            ::testing::ValuesIn(testing::DeviceNames())),
                         [](const auto& info) {
                           std::string name = std::string(std::get<0>(info.param)) + "_on_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

class DetectorOnAGpu : public ::testing::TestWithParam<std::string> {};

// Of 1917 boxes with 91 scores each nothing but 10 detections leaves the device: 736,128 bytes did, and the detections
// were picked on the CPU.
TEST_P(DetectorOnAGpu, GivesTheGoldenAndNothingButDetectionsCrosses) {
  const auto manifest = SharedFolder() / "goldens" / "ssd_mobilenet_v1_1.0_f32_dequant" / "manifest.json";
  HEARTH_SKIP_WITHOUT(manifest);
  if (const std::string why = WhyNotUsable(GetParam()); !why.empty()) GTEST_SKIP() << why;
  const Golden golden = ReadGolden(SharedFolder(), manifest);
  SessionOptions options{.device = GetParam(), .simulate = "navi21", .use_cache = false};
  const Result<Session> session = OpenAndRun(golden, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ExpectGolden(golden, *session);
  const Report& report = session->report();
  EXPECT_EQ(report.ops.on_cpu, 0);
  EXPECT_TRUE(report.ops.fallbacks.empty()) << report.ops.fallbacks[0].reason;
  EXPECT_LE(report.transfers.to_host_bytes, 300u);  // 61 numbers, in texels of 4
}

// A build without GPU backends has nothing to instantiate this with.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DetectorOnAGpu);
INSTANTIATE_TEST_SUITE_P(Devices, DetectorOnAGpu, ::testing::ValuesIn(BackendNames()),
                         [](const auto& info) { return info.param; });

TEST(Session, CountsTheFilesOperatorsIncludingThoseThatMadeNoNode) {
  const auto path =
      SharedFolder() / "models" / "hand_landmark_lite.tflite";  // 102 of its 167 operators dequantize constants
  HEARTH_SKIP_WITHOUT(path);
  SessionOptions options{.device = "cpu", .use_cache = false};
  const Result<Session> session = Session::Open(path, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ(session->report().ops.total, 167);
}

class DemoModel : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNotUsable(GetParam()); !why.empty()) GTEST_SKIP() << why;
    const auto folder = SourceFolder() / "tools" / "demo";
    golden_ = ReadGolden(folder, folder / "golden.json");
    options_.device = GetParam();
    options_.use_cache = false;
  }

  Golden golden_;
  SessionOptions options_;
};

TEST_P(DemoModel, GivesItsGolden) {
  Result<Session> session = OpenAndRun(golden_, options_);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ExpectGolden(golden_, *session);
}

TEST_P(DemoModel, GivesItsGoldenWhenSomeOperationsAreKeptOnTheCpu) {
  options_.cpu_ops = {"add", "concat", "op:1"};
  Result<Session> session = OpenAndRun(golden_, options_);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ExpectGolden(golden_, *session);
  ASSERT_TRUE(session->Run().ok());
  ExpectGolden(golden_, *session);
  if (options_.device != std::string("cpu")) {
    EXPECT_GT(session->report().ops.on_cpu, 1);
    EXPECT_FALSE(session->report().warnings.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, DemoModel, ::testing::ValuesIn(testing::DeviceNames()));

TEST(Session, RunsWithTheRightResultWhenTheCacheFileIsNotADatabase) {
  const auto folder = SourceFolder() / "tools" / "demo";
  const Golden golden = ReadGolden(folder, folder / "golden.json");
  const TemporaryFolder cache;
  std::ofstream(cache.path() / "hearth.db") << "this is not a database";
  SessionOptions options{.device = "cpu", .cache_folder = cache.path()};
  Result<Session> session = OpenAndRun(golden, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ExpectGolden(golden, *session);
}

TEST(Session, SaysWhichInputWasNotGiven) {
  SessionOptions options{.device = "cpu", .use_cache = false};
  Result<Session> session = Session::Open(SourceFolder() / "tools" / "demo" / "shapes_f32.tflite", options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const Status status = session->Run();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(session->inputs()[0].name), std::string::npos);
}

TEST(Session, NamesTheDevicesReasonWhenItIsNotUsable) {
  SessionOptions options{.device = "no such device"};
  const Result<Session> session = Session::Open(SourceFolder() / "tools" / "demo" / "shapes_f32.tflite", options);
  EXPECT_EQ(session.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(session.status().message().find("no such device"), std::string::npos);
}

}  // namespace
}  // namespace hearth
