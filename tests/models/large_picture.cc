// A network whose memory is larger than one binding of Vulkan and OpenGL ES can see (128 MiB on Mesa's software
// drivers): parts of it are bound, and nothing goes to the CPU for that. Label `slow`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "hearth/session.h"
#include "runtime/devices/device_choice.h"
#include "tests/models/golden.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

constexpr int32_t kHeight = 540, kWidth = 960, kChannels = 3, kScale = 2;
constexpr uint64_t kMesasBindingBytes = uint64_t{1} << 27;
// 13 convolutions of 3x3 at most lie one behind the other: the picture further away than this changes no pixel.
constexpr int32_t kReach = 16;
constexpr int32_t kPatch = 32;  // side of what is compared, in pixels of the input

// A window of the input: its place, and its size without what lies around it.
struct Patch {
  const char* name;
  int32_t y, x;
};
// Corners, where the network's own padding counts, and places in the middle and at the end of each tensor.
constexpr Patch kPatches[] = {{"first", 0, 0},
                              {"last of the first line", 0, kWidth - kPatch},
                              {"middle", kHeight / 2, kWidth / 2},
                              {"last", kHeight - kPatch, kWidth - kPatch}};

std::vector<float> Picture() {
  std::vector<float> picture(size_t{kHeight} * kWidth * kChannels);
  size_t k = 0;
  for (int32_t y = 0; y < kHeight; ++y) {
    for (int32_t x = 0; x < kWidth; ++x) {
      for (int32_t c = 0; c < kChannels; ++c)
        picture[k++] = static_cast<float>((x * 7 + y * 13 + x * y / 97 + c * 50) % 256);
    }
  }
  return picture;
}

// Pixels of a picture of any size.
struct View {
  std::span<const float> pixels;
  int32_t width;
  std::vector<float> Cut(int32_t y, int32_t x, int32_t height, int32_t across) const {
    std::vector<float> cut;
    for (int32_t line = y; line < y + height; ++line) {
      const auto first = pixels.begin() + (ptrdiff_t{line} * width + x) * kChannels;
      cut.insert(cut.end(), first, first + ptrdiff_t{across} * kChannels);
    }
    return cut;
  }
};

Result<Session> RunModel(const std::string& device, int32_t height, int32_t width, const std::vector<float>& picture) {
  SessionOptions options{.device = device, .use_cache = false};
  options.model.input_shapes = {{"input_1", {1, height, width, kChannels}}};
  HEARTH_ASSIGN(Session session, Session::Open(SharedFolder() / "models" / "edsr_f32b5_f32_in90x160.tflite", options));
  HEARTH_TRY(session.SetInput<float>(0, picture));
  HEARTH_TRY(session.Run());
  return session;
}

// What the CPU makes of the patch: from a piece of the picture that reaches as far around it as the network sees.
Result<std::vector<float>> PatchByCpu(const std::vector<float>& picture, const Patch& patch) {
  const int32_t top = std::max(0, patch.y - kReach), left = std::max(0, patch.x - kReach);
  const int32_t height = std::min(kHeight, patch.y + kPatch + kReach) - top;
  const int32_t width = std::min(kWidth, patch.x + kPatch + kReach) - left;
  const std::vector<float> piece = View{picture, kWidth}.Cut(top, left, height, width);
  HEARTH_ASSIGN(const Session session, RunModel("cpu", height, width, piece));
  HEARTH_ASSIGN(const std::span<const float> made, session.output<float>(0));
  return View{made, width * kScale}.Cut((patch.y - top) * kScale, (patch.x - left) * kScale, kPatch * kScale,
                                        kPatch * kScale);
}

class LargePicture : public ::testing::TestWithParam<std::string> {};

TEST_P(LargePicture, RunsOnTheDeviceAloneAndGivesTheCpusAnswer) {
  HEARTH_SKIP_WITHOUT(SharedFolder() / "models" / "edsr_f32b5_f32_in90x160.tflite");
  if (const Status usable = ChooseDevices(GetParam()).status(); !usable.ok()) GTEST_SKIP() << usable.message();
  const std::vector<float> picture = Picture();
  const Result<Session> session = RunModel(GetParam(), kHeight, kWidth, picture);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const Report& report = session->report();
  EXPECT_GT(report.memory.arena_bytes, kMesasBindingBytes);  // else the test would test nothing
  EXPECT_EQ(report.ops.on_cpu, 0);
  for (const OperatorFallback& fallback : report.ops.fallbacks) ADD_FAILURE() << fallback.op << ": " << fallback.reason;
  const Result<std::span<const float>> made = session->output<float>(0);
  ASSERT_TRUE(made.ok()) << made.status().message();
  for (const Patch& patch : kPatches) {
    const Result<std::vector<float>> expected = PatchByCpu(picture, patch);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    EXPECT_GT(*std::ranges::max_element(*expected) - *std::ranges::min_element(*expected), 10) << "a blank patch";
    const std::vector<float> actual =
        View{*made, kWidth * kScale}.Cut(patch.y * kScale, patch.x * kScale, kPatch * kScale, kPatch * kScale);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(*expected));
    const testing::GoldenTensor golden{patch.name, {bytes.begin(), bytes.end()}, "float32"};
    EXPECT_EQ(testing::Disagreement(golden, std::as_bytes(std::span(actual)), 1e-4), "") << "patch: " << patch.name;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LargePicture);  // in a build without GPU backends
INSTANTIATE_TEST_SUITE_P(Devices, LargePicture, ::testing::ValuesIn(BackendNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
