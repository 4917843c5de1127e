// Devices whose drivers tell odd limits: a network runs on them, with the CPU for what does not fit, or is refused with
// a reason.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/device/device_profiles.h"
#include "core/device/usable_limits.h"
#include "core/emit/kernel_limits.h"
#include "hal/io/binding_layout.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"

namespace hearth {
namespace {

TEST(UsableLimits, AnAlignmentIsAMultipleOfEachThatIsAskedForAndOfATexel) {
  EXPECT_EQ(UsableAlignment({}), 16u);
  EXPECT_EQ(UsableAlignment({0, 1}), 16u);
  EXPECT_EQ(UsableAlignment({4, 256}), 256u);
  EXPECT_EQ(UsableAlignment({48, 64}), 192u);
  EXPECT_EQ(UsableAlignment({uint64_t{1} << 32}), 1u << 30) << "32 bits would hold 0 of it";
  EXPECT_EQ(UsableAlignment({UINT64_MAX, 3}), 1u << 30);
}

TEST(UsableLimits, CountsOfZeroAreUsableAndLimitsOfZeroStay) {
  DeviceInfo info;
  info.compute_units = info.native_vector_floats = info.subgroup_size = info.buffer_offset_alignment = 0;
  info.max_buffer_bytes = 0;
  info = WithUsableLimits(info);
  EXPECT_EQ(info.compute_units, kUnitsOfUnknownGpu);
  EXPECT_EQ(info.native_vector_floats, 1u);
  EXPECT_EQ(info.subgroup_size, 1u);
  EXPECT_EQ(info.buffer_offset_alignment, 16u);
  EXPECT_EQ(info.max_buffer_bytes, 0u);
}

TEST(UsableLimits, ASubgroupOfASizeThatIsNoPowerOfTwoIsNotUsed) {
  DeviceInfo info;
  info.subgroup_size = 96;
  EXPECT_EQ(WithUsableLimits(info).subgroup_size, 1u);
  info.subgroup_size = 128;
  EXPECT_EQ(WithUsableLimits(info).subgroup_size, 128u);
}

TEST(UsableLimits, AreWhatASimulatedDeviceHasWhateverItsProfileSays) {
  const DeviceInfo info = Simulated(DeviceInfo{}, DeviceProfile{.name = "nothing"});
  EXPECT_EQ(info.compute_units, 1u);
  EXPECT_EQ(info.subgroup_size, 1u);
  EXPECT_EQ(info.buffer_offset_alignment, 256u);
}

struct OddDevice {
  const char* name;
  void (*change)(DeviceInfo& info);
};

constexpr OddDevice kOddDevices[] = {
    {"NoInvocations", [](DeviceInfo& info) { info.max_local_invocations = 0; }},
    {"NoWorkGroup",
     [](DeviceInfo& info) {
       info.max_local_size = {0, 0, 0};
     }},
    {"OneItem",
     [](DeviceInfo& info) {
       info.max_local_size = {1, 1, 1}, info.max_local_invocations = 1;
     }},
    {"FlatGroups",
     [](DeviceInfo& info) {
       info.max_local_size = {1024, 1, 1};
     }},
    {"NoGroups",
     [](DeviceInfo& info) {
       info.max_group_count = {0, 0, 0};
     }},
    {"OneGroup",
     [](DeviceInfo& info) {
       info.max_group_count = {1, 1, 1};
     }},
    {"NoBuffers", [](DeviceInfo& info) { info.max_storage_buffers = 0; }},
    {"BuffersOfNoBytes", [](DeviceInfo& info) { info.max_buffer_bytes = 0; }},
    {"BuffersOf4KiB", [](DeviceInfo& info) { info.max_buffer_bytes = info.max_binding_bytes = 4096; }},
    {"BindingsOfNoBytes", [](DeviceInfo& info) { info.max_binding_bytes = 0; }},
    {"HeapsOf16MiB", [](DeviceInfo& info) { info.max_buffer_bytes = info.max_binding_bytes = 16 << 20; }},
    {"NoScalars", [](DeviceInfo& info) { info.max_scalar_bytes = 0; }},
    {"NoArguments", [](DeviceInfo& info) { info.max_argument_bytes = 0; }},
    {"NoTexelBuffers", [](DeviceInfo& info) { info.max_texel_buffers = 0, info.max_texel_elements = 1 << 20; }},
    {"OneTexel", [](DeviceInfo& info) { info.max_texel_elements = 1; }},
    {"NoLocalMemory", [](DeviceInfo& info) { info.local_memory_bytes = 0; }},
    {"NoComputeUnits", [](DeviceInfo& info) { info.compute_units = 0; }},
    {"ManyComputeUnits", [](DeviceInfo& info) { info.compute_units = UINT32_MAX; }},
    {"SubgroupsOf0", [](DeviceInfo& info) { info.subgroup_size = 0; }},
    {"SubgroupsOf128", [](DeviceInfo& info) { info.subgroup_size = 128; }},
    {"SubgroupsOf4096", [](DeviceInfo& info) { info.subgroup_size = 4096; }},
    {"AlignmentOf0", [](DeviceInfo& info) { info.buffer_offset_alignment = 0; }},
    {"AlignmentOf48", [](DeviceInfo& info) { info.buffer_offset_alignment = 48; }},
    {"AlignmentOf64KiB", [](DeviceInfo& info) { info.buffer_offset_alignment = 65536; }},
    {"AlignmentOf4GiB", [](DeviceInfo& info) { info.buffer_offset_alignment = UINT32_MAX; }},
    {"NothingAtAll",
     [](DeviceInfo& info) {
       info.max_local_size = info.max_group_count = {0, 0, 0};
       info.max_local_invocations = info.local_memory_bytes = info.max_storage_buffers = info.max_texel_buffers = 0;
       info.max_scalar_bytes = info.max_argument_bytes = info.compute_units = info.native_vector_floats = 0;
       info.subgroup_size = info.buffer_offset_alignment = 0;
       info.max_buffer_bytes = info.max_binding_bytes = info.max_texel_elements = 0;
     }},
};

// What moves inputs and outputs is made before it is compared with the limits.
TEST(OddDevice, ThatReportsNothingRefusesTheKernelsOfTransfersWithAReason) {
  DeviceInfo nothing;
  nothing.max_local_size = {0, 0, 0};
  nothing.max_local_invocations = 0;
  nothing.max_storage_buffers = 8;
  const HostTransfer transfer = {
      .desc = {DType::kUInt8, {1, 7, 5, 3}, {}}, .storage = StorageType::kFloat32, .range = {0, 0, 7 * 5 * 16}};
  for (const Result<BindingKernel>& kernel :
       {CopyKernel(transfer, nothing), DenseKernel(Side::kInput, transfer, nothing),
        DenseKernel(Side::kOutput, transfer, nothing)}) {
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const Status fits = CheckKernelLimits(kernel->source, nothing);
    EXPECT_EQ(fits.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(fits.message().find("work group"), std::string::npos) << fits.message();
  }
}

constexpr int kInputHeight = 12, kInputWidth = 9, kInputChannels = 8;

// Products, windows, sums over channels, and movement.
Model SomeOfEach() {
  GraphBuilder builder("some of each");
  const auto x = builder.Input("x", {1, kInputHeight, kInputWidth, kInputChannels});
  std::vector<float> weights(size_t{12} * 3 * 3 * kInputChannels);
  for (size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<float>(k * 29 % 17) / 64 - 0.125f;
  const auto filter = builder.Constant("w", {12, 3, 3, kInputChannels}, weights);
  const auto pointwise = builder.Constant("v", {8, 1, 1, 12}, std::span(weights).first(96));
  const auto of_each = builder.Constant("u", {1, 3, 3, 8}, std::span(weights).first(72));
  const auto wide = builder.Conv2D(builder.Conv2D(x, filter, {}, {.stride_h = 2}), pointwise, {}, {});
  const auto pooled = builder.MaxPool2D(builder.DepthwiseConv2D(wide, of_each, {}, {}), 2, 2, {});
  const auto rows = builder.Reshape(builder.ResizeBilinear(pooled, 5, 4, false, false), {1, 20, 8});
  builder.Output(builder.Softmax(rows), "y");
  return testing::ModelOf(std::move(builder));
}

class OddDevices : public testing::FakeGpuTest, public ::testing::WithParamInterface<OddDevice> {
 protected:
  Status BeforeOpening(DeviceInfo& info) override {
    if (is_odd_) GetParam().change(info);
    info = WithUsableLimits(info);
    return Status::Ok();
  }

  Result<std::vector<float>> Answer(const std::string& device, bool tests_devices) {
    const Model model = SomeOfEach();
    SessionRequest request;
    request.options.device = device;
    request.options.start = "ready";
    request.options.use_cache = false;
    request.trusts_devices = !tests_devices;
    request.backends = testing::FakeBackendRows();
    HEARTH_ASSIGN(Session session, CreateSession(model, std::move(request)));
    std::vector<float> picture(kInputHeight * kInputWidth * kInputChannels);
    for (size_t k = 0; k < picture.size(); ++k) picture[k] = static_cast<float>(k * 37 % 19) / 8;
    HEARTH_TRY(session.SetInput(0, std::as_bytes(std::span(picture))));
    HEARTH_TRY(session.Run());
    HEARTH_TRY(session.RunProfiled().status());
    for (const OperatorFallback& fallback : session.report().ops.fallbacks) EXPECT_FALSE(fallback.reason.empty());
    std::vector<float> answer(session.output(0).size() / sizeof(float));
    std::memcpy(answer.data(), session.output(0).data(), session.output(0).size());
    return answer;
  }

  bool is_odd_ = true;
};

TEST_P(OddDevices, GiveTheCpusAnswer) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Result<std::vector<float>> expected = Answer("cpu", false), got = Answer("first", false);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(got.ok()) << got.status().message();
  ASSERT_EQ(got->size(), expected->size());
  for (size_t k = 0; k < got->size(); ++k) ASSERT_NEAR((*got)[k], (*expected)[k], 1e-5) << k;
}

TEST_P(OddDevices, PassTheSelfTestOrAreLeftWithAReason) {
  const Result<std::vector<float>> named = Answer("first", true);
  EXPECT_TRUE(named.ok() || !named.status().message().empty());
  const Result<std::vector<float>> automatic = Answer("auto", true);
  EXPECT_TRUE(automatic.ok()) << automatic.status().message();
}

INSTANTIATE_TEST_SUITE_P(All, OddDevices, ::testing::ValuesIn(kOddDevices),
                         [](const auto& device) { return std::string(device.param.name); });

}  // namespace
}  // namespace hearth
