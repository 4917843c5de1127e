// Inputs and outputs in memory that the program lends: layouts, host memory on every device, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "hal/io/binding_layout.h"
#include "hearth/session.h"
#include "runtime/devices/backends.h"
#include "tests/testing/device_names.h"
#include "tests/testing/external_memory.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using testing::ExternalMemoryModel;
using ::testing::HasSubstr;
using testing::SharedOptions;

const TensorDesc kPair{DType::kFloat32, {1, 2, 1, 3}, {}};  // two rows of one pixel

std::vector<float> ReadFloats(const Binding& binding, const TensorDesc& desc, std::span<const std::byte> memory) {
  const Result<BindingLayout> layout = LayoutOf(binding, desc);
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  std::vector<float> floats(desc.size_bytes() / sizeof(float));
  if (layout.ok()) ReadBinding(*layout, desc, memory, std::as_writable_bytes(std::span(floats)));
  return floats;
}

TEST(BindingLayout, BytesStandForZeroToOne) {
  const uint8_t memory[8] = {0, 51, 255, 7, 255, 0, 102, 9};
  EXPECT_THAT(ReadFloats({.size_bytes = 8, .format = ElementFormat::kRgba8}, kPair, std::as_bytes(std::span(memory))),
              ElementsAre(0.0f, 51 / 255.0f, 1.0f, 1.0f, 0.0f, 102 / 255.0f));
}

TEST(BindingLayout, RowPitchOffsetAndFlipChooseThePixels) {
  const float memory[10] = {-1, 1, 2, 3, -1, -1, 4, 5, 6, -1};
  Binding binding{.size_bytes = sizeof memory, .offset_bytes = 4, .row_pitch_bytes = 20};
  EXPECT_THAT(ReadFloats(binding, kPair, std::as_bytes(std::span(memory))), ElementsAre(1, 2, 3, 4, 5, 6));
  binding.flip_vertically = true;
  EXPECT_THAT(ReadFloats(binding, kPair, std::as_bytes(std::span(memory))), ElementsAre(4, 5, 6, 1, 2, 3));
}

TEST(BindingLayout, EachImageOfABatchIsFlippedByItself) {
  const TensorDesc batch{DType::kFloat32, {2, 2, 1, 1}, {}};
  const float memory[4] = {1, 2, 3, 4};
  const Binding binding{.size_bytes = sizeof memory, .flip_vertically = true};
  EXPECT_THAT(ReadFloats(binding, batch, std::as_bytes(std::span(memory))), ElementsAre(2, 1, 4, 3));
}

TEST(BindingLayout, ScaleAndOffsetGoByChannelUpToFourChannels) {
  const float memory[6] = {1, 2, 3, 4, 5, 6};
  const Binding binding{.size_bytes = sizeof memory, .scale = {1, 10, 100, 0}, .offset = {0.5f, 0, -1, 0}};
  EXPECT_THAT(ReadFloats(binding, kPair, std::as_bytes(std::span(memory))), ElementsAre(1.5f, 20, 299, 4.5f, 50, 599));
  const TensorDesc wide{DType::kFloat32, {1, 1, 1, 6}, {}};
  EXPECT_THAT(ReadFloats(binding, wide, std::as_bytes(std::span(memory))),
              ElementsAre(1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f));
}

TEST(BindingLayout, QuantizedTensorsTakeTheRealNumbersThatTheyStandFor) {
  const TensorDesc desc{DType::kUInt8, {1, 1, 2, 1}, Quantization{{0.5f}, {10}, 0}};
  const float memory[2] = {3.0f, -100.0f};
  const auto layout = LayoutOf({.size_bytes = sizeof memory}, desc);
  ASSERT_TRUE(layout.ok());
  std::vector<std::byte> dense(2);
  ReadBinding(*layout, desc, std::as_bytes(std::span(memory)), dense);
  EXPECT_EQ(dense[0], std::byte{16});
  EXPECT_EQ(dense[1], std::byte{0});
  float back[2] = {};
  WriteBinding(*layout, desc, dense, std::as_writable_bytes(std::span(back)));
  EXPECT_THAT(back, ElementsAre(3.0f, -5.0f));
}

TEST(BindingLayout, BytesAreRoundedAndClampedAndWhatHasNoChannelIsTheOffset) {
  const TensorDesc desc{DType::kFloat32, {1, 1, 3, 1}, {}};
  const float tensor[3] = {0.5f, 7.0f, -7.0f};
  const auto layout = LayoutOf({.size_bytes = 12, .format = ElementFormat::kRgba8, .offset = {0, 0, 0, 1}}, desc);
  ASSERT_TRUE(layout.ok());
  uint8_t memory[12] = {};
  WriteBinding(*layout, desc, std::as_bytes(std::span(tensor)), std::as_writable_bytes(std::span(memory)));
  EXPECT_THAT(memory, ElementsAre(128, 0, 0, 255, 255, 0, 0, 255, 0, 0, 0, 255));
}

struct Mistake {
  const char* what;
  Binding binding;
  const char* message;
};

TEST(BindingLayout, AMistakeIsNamed) {
  const Mistake mistakes[] = {
      {"too small", {.size_bytes = 23}, "don't fit"},
      {"offset behind the end", {.size_bytes = 24, .offset_bytes = 400}, "don't fit"},
      {"odd offset", {.size_bytes = 100, .offset_bytes = 2}, "multiples of 4"},
      {"offset for halves",
       {.size_bytes = 100, .offset_bytes = 4, .format = ElementFormat::kRgba16f},
       "multiples of 8"},
      {"scale without end", {.size_bytes = 24, .scale = {1, INFINITY, 1, 1}}, "not a finite number"},
      {"offset that is no number", {.size_bytes = 24, .offset = {0, 0, 0, NAN}}, "not a finite number"},
      {"pitch below a row", {.size_bytes = 100, .row_pitch_bytes = 8}, "row pitch is 8"},
      {"pitch that overflows", {.size_bytes = 100, .row_pitch_bytes = UINT64_MAX - 3}, "don't fit"},
      {"texture with a pitch", {.memory = MemoryKind::kGlTexture, .row_pitch_bytes = 12}, "no row pitch"},
  };
  for (const Mistake& mistake : mistakes) {
    const Status status = LayoutOf(mistake.binding, kPair).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mistake.what;
    EXPECT_THAT(status.message(), HasSubstr(mistake.message)) << mistake.what;
  }
  const TensorDesc wide{DType::kFloat32, {1, 1, 1, 5}, {}}, integers{DType::kInt32, {1, 1, 1, 1}, {}};
  EXPECT_EQ(LayoutOf({.size_bytes = 64, .format = ElementFormat::kRgba8}, wide).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(LayoutOf({.size_bytes = 64}, integers).status().code(), StatusCode::kUnsupported);
}

class HostMemory final : public testing::ExternalMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kHost; }
  uint64_t Make(std::span<const std::byte> bytes) override {
    memory_.emplace_back(bytes.begin(), bytes.end());
    return reinterpret_cast<uintptr_t>(memory_.back().data());
  }
  std::vector<std::byte> Read(uint64_t handle, size_t size_bytes) override {
    const auto* address = reinterpret_cast<const std::byte*>(static_cast<uintptr_t>(handle));
    return {address, address + size_bytes};
  }

 private:
  std::deque<std::vector<std::byte>> memory_;
};

class BoundHostMemory : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Session> session = Session::Create(model_, SharedOptions({}, GetParam()));
    if (session.status().code() == StatusCode::kUnavailable) GTEST_SKIP() << session.status().message();
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(std::move(session).value());
  }
  const Model model_ = ExternalMemoryModel();
  std::optional<Session> session_;
};

TEST_P(BoundHostMemory, IsReadAndWrittenInEveryFormat) {
  HostMemory memory;
  testing::ExpectEveryFormatRuns(*session_, memory, false);
}

TEST_P(BoundHostMemory, EndsWithUnbind) {
  std::vector<float> numbers(size_t{5} * 7 * 3, 2.0f), result = numbers;
  const uint64_t size_bytes = numbers.size() * sizeof(float);
  const auto binding = [&](std::vector<float>& memory) {
    return Binding{.handle = reinterpret_cast<uintptr_t>(memory.data()), .size_bytes = size_bytes};
  };
  ASSERT_TRUE(session_->BindInput("x", binding(numbers)).ok());
  ASSERT_TRUE(session_->BindOutput("y", binding(result)).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(result[0], -2.0f);
  ASSERT_TRUE(session_->UnbindInput("x").ok());
  ASSERT_TRUE(session_->UnbindOutput("y").ok());
  EXPECT_EQ(session_->Run().code(), StatusCode::kInvalidArgument) << "the input was never set";
  const std::vector<float> other(numbers.size(), 9.0f);
  ASSERT_TRUE(session_->SetInput(0, std::as_bytes(std::span(other))).ok());
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(result[0], -2.0f) << "no longer the session's";
}

TEST_P(BoundHostMemory, WrongNamesNullAndOtherDriversMemoryAreRefused) {
  EXPECT_THAT(session_->BindInput("nobody", {}).message(), HasSubstr("'x'"));
  EXPECT_THAT(session_->BindOutput("x", {}).message(), HasSubstr("'y'"));
  EXPECT_EQ(session_->BindInput("x", {.size_bytes = 420}).code(), StatusCode::kInvalidArgument);
  const std::string device = GetParam();
  for (const MemoryKind kind : {MemoryKind::kGlBuffer, MemoryKind::kGlTexture, MemoryKind::kVulkanBuffer,
                                MemoryKind::kClBuffer, MemoryKind::kVulkanImage}) {
    const bool is_gl = kind == MemoryKind::kGlBuffer || kind == MemoryKind::kGlTexture;
    const bool is_vulkan = kind == MemoryKind::kVulkanBuffer || kind == MemoryKind::kVulkanImage;
    const bool is_own = (is_gl && device == "gles") || (is_vulkan && device == "vulkan") ||
                        (kind == MemoryKind::kClBuffer && device == "opencl");
    if (is_own) continue;
    const Status status = session_->BindInput("x", {.memory = kind, .handle = 1, .size_bytes = 420});
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BoundHostMemory, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

TEST(SharedContext, MustFitTheDeviceThatIsAskedFor) {
  if (FindGpuBackend("opencl") == nullptr) GTEST_SKIP() << "this build has no backend for an OpenCL context";
  const Model model = ExternalMemoryModel();
  const Status status = Session::Create(model, SharedOptions(OpenClContext{}, "vulkan")).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("opencl"));
}

TEST(SharedContext, ThatIsEmptyIsRefused) {
  const Model model = ExternalMemoryModel();
  for (const SharedContext& shared :
       {SharedContext(OpenClContext{}), SharedContext(VulkanContext{}), SharedContext(GlContext{})}) {
    const Status status = Session::Create(model, SharedOptions(shared, "auto")).status();
    EXPECT_NE(status.code(), StatusCode::kOk);
    EXPECT_FALSE(status.message().empty());
  }
}

}  // namespace
}  // namespace hearth
