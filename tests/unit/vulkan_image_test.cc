// Pictures in VkImages of the program's own: frames and inputs that a run copies from there itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/base/float16.h"
#include "tests/testing/external_memory.h"
#include "tests/testing/pictures.h"
#include "tests/testing/vulkan_program.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using testing::TestPicture;

constexpr int32_t kImageWidth = 24, kImageHeight = 18;

uint64_t Handle(VkImage image) {
  return reinterpret_cast<uint64_t>(image);
}

// Images of a program, which fills them by commands of its own.
class ProgramImages {
 public:
  explicit ProgramImages(testing::VulkanProgram& program) : program_(program) {
    program.Find("vkCreateImage", create_);
    program.Find("vkDestroyImage", destroy_);
    program.Find("vkGetImageMemoryRequirements", needs_);
    program.Find("vkBindImageMemory", bind_);
    program.Find("vkGetImageSubresourceLayout", layout_);
    program.Find("vkCmdCopyBufferToImage", copy_);
    program.Find("vkQueueWaitIdle", wait_idle_);
  }
  ~ProgramImages() {
    for (const Made& made : made_) {
      destroy_(program_.device(), made.image, nullptr);
      program_.api().FreeMemory(program_.device(), made.memory, nullptr);
    }
  }

  bool Takes(VkFormat format) const {
    VkFormatProperties properties{};
    program_.instance_api().GetPhysicalDeviceFormatProperties(program_.physical(), format, &properties);
    constexpr VkFormatFeatureFlags kNeeded = VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    return (properties.optimalTilingFeatures & kNeeded) == kNeeded;
  }

  VkImage Make(VkFormat format, int32_t width, int32_t height, bool is_mapped = false) {
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = is_mapped ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    Made made;
    EXPECT_EQ(create_(program_.device(), &info, nullptr, &made.image), VK_SUCCESS);
    VkMemoryRequirements needed{};
    needs_(program_.device(), made.image, &needed);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needed.size;
    allocate.memoryTypeIndex = program_.MappableType(needed.memoryTypeBits);
    EXPECT_EQ(program_.api().AllocateMemory(program_.device(), &allocate, nullptr, &made.memory), VK_SUCCESS);
    EXPECT_EQ(bind_(program_.device(), made.image, made.memory, 0), VK_SUCCESS);
    made_.push_back(made);
    return made.image;
  }

  // Behind what was submitted before: the image gets these bytes, plane behind plane, and is in `layout` then.
  void Fill(VkImage image, std::span<const std::byte> bytes, const std::vector<VkBufferImageCopy>& planes,
            VkImageLayout layout) {
    const auto [buffer, address] = program_.Buffer(bytes.size());
    std::memcpy(address, bytes.data(), bytes.size());
    const vulkan::DeviceApi& api = program_.api();
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    ASSERT_EQ(api.CreateCommandPool(program_.device(), &pool_info, nullptr, &pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    ASSERT_EQ(api.AllocateCommandBuffers(program_.device(), &allocate, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    ASSERT_EQ(api.BeginCommandBuffer(commands, &begin), VK_SUCCESS);
    Change(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    copy_(commands, buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, static_cast<uint32_t>(planes.size()),
          planes.data());
    Change(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout);
    ASSERT_EQ(api.EndCommandBuffer(commands), VK_SUCCESS);
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    ASSERT_EQ(api.QueueSubmit(program_.queue(), 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    ASSERT_EQ(wait_idle_(program_.queue()), VK_SUCCESS);
    api.DestroyCommandPool(program_.device(), pool, nullptr);
  }

  // Of an image of one plane.
  void Fill(VkImage image, std::span<const std::byte> bytes, int32_t width, int32_t height, VkImageLayout layout) {
    Fill(image, bytes, {Region(VK_IMAGE_ASPECT_COLOR_BIT, 0, width, height)}, layout);
  }
  static VkBufferImageCopy Region(VkImageAspectFlags aspect, uint64_t offset_bytes, int32_t width, int32_t height) {
    VkBufferImageCopy region{};
    region.bufferOffset = offset_bytes;
    region.imageSubresource = {aspect, 0, 0, 1};
    region.imageExtent = {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1};
    return region;
  }

  // The rows of an image made with `is_mapped`.
  void WriteMapped(VkImage image, std::span<const std::byte> bytes, int32_t width, int32_t height) {
    const auto made = std::ranges::find(made_, image, &Made::image);
    const VkImageSubresource whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
    VkSubresourceLayout layout{};
    layout_(program_.device(), image, &whole, &layout);
    if (made->address == nullptr) {
      ASSERT_EQ(program_.api().MapMemory(program_.device(), made->memory, 0, VK_WHOLE_SIZE, 0, &made->address),
                VK_SUCCESS);
    }
    for (int32_t y = 0; y < height; ++y) {
      const size_t row_bytes = static_cast<size_t>(width) * 4;
      std::memcpy(static_cast<std::byte*>(made->address) + layout.offset + static_cast<uint64_t>(y) * layout.rowPitch,
                  &bytes[static_cast<size_t>(y) * row_bytes], row_bytes);
    }
  }

 private:
  struct Made {
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void* address = nullptr;
  };

  void Change(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.oldLayout = from;
    barrier.newLayout = to;
    program_.api().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                      0, 0, nullptr, 0, nullptr, 1, &barrier);
  }

  testing::VulkanProgram& program_;
  std::vector<Made> made_;
  PFN_vkCreateImage create_ = nullptr;
  PFN_vkDestroyImage destroy_ = nullptr;
  PFN_vkGetImageMemoryRequirements needs_ = nullptr;
  PFN_vkBindImageMemory bind_ = nullptr;
  PFN_vkGetImageSubresourceLayout layout_ = nullptr;
  PFN_vkCmdCopyBufferToImage copy_ = nullptr;
  PFN_vkQueueWaitIdle wait_idle_ = nullptr;
};

class VulkanImages : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = program_.Open();
    if (!reason.empty()) GTEST_SKIP() << reason;
    images_.emplace(program_);
    for (std::optional<Session>* session : {&session_, &plain_}) {
      const bool is_plain = session == &plain_;
      Result<Session> made =
          Session::Create(model_, testing::SharedOptions(is_plain ? SharedContext{} : SharedContext{program_.shared()},
                                                         is_plain ? "cpu" : "vulkan"));
      ASSERT_TRUE(made.ok()) << made.status().message();
      session->emplace(std::move(made).value());
    }
  }
  void TearDown() override {
    session_.reset();  // before what was lent to it
    images_.reset();
    program_.FreeBuffers();
  }

  // The picture as the host's conversion takes it, and the answer from the image the same to the bit.
  void ExpectTheHostsAnswer(const Frame& on_host, const Frame& in_image) {
    for (const Status& status :
         {plain_->BindFrame("x", on_host), plain_->Run(), session_->BindFrame("x", in_image), session_->Run()})
      ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(std::ranges::equal(session_->output(0), plain_->output(0)));
    EXPECT_EQ(session_->report().transfers.to_device_bytes, 0u);
  }

  testing::VulkanProgram program_;
  const Model model_ = testing::ExternalMemoryModel();
  std::optional<ProgramImages> images_;
  std::optional<Session> session_, plain_;
};

Frame InImage(Frame frame, VkImage image, VkImageLayout layout) {
  frame.memory = MemoryKind::kVulkanImage;
  frame.planes = {};
  frame.planes[0].handle = Handle(image);
  frame.image_layout = layout;
  return frame;
}

struct ImageFormat {
  PixelFormat pixels;
  VkFormat format;
  int planes = 1;
};

TEST_F(VulkanImages, AreFramesInEveryLayoutAndStayInIt) {
  for (const auto& [pixels, format, planes] : {ImageFormat{PixelFormat::kRgba8, VK_FORMAT_R8G8B8A8_UNORM},
                                               ImageFormat{PixelFormat::kRgba8, VK_FORMAT_R8G8B8A8_SRGB},
                                               ImageFormat{PixelFormat::kBgra8, VK_FORMAT_B8G8R8A8_UNORM}}) {
    ASSERT_TRUE(images_->Takes(format));
    for (const VkImageLayout layout :
         {VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
          VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL}) {
      SCOPED_TRACE(testing::NameOf(pixels) + " in layout " + std::to_string(layout));
      const VkImage image = images_->Make(format, kImageWidth, kImageHeight);
      for (uint32_t seed = 1; seed <= 2; ++seed) {  // the second picture is drawn into the same image
        const TestPicture picture(pixels, kImageWidth, kImageHeight, seed);
        images_->Fill(image, picture.memory(0), kImageWidth, kImageHeight, layout);
        Frame frame = picture.frame();
        frame.mean = {10, 20, 30, 0};
        frame.crop = {3, 2, 19, 13};
        frame.rotation = seed == 1 ? 0 : 90;
        ExpectTheHostsAnswer(frame, InImage(frame, image, layout));
        ExpectTheHostsAnswer(frame, InImage(frame, image, layout));
      }
    }
  }
}

TEST_F(VulkanImages, OfSeveralPlanesAreFramesOfYuv) {
  int taken = 0;
  for (const auto& [pixels, format, planes] :
       {ImageFormat{PixelFormat::kNv12, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 2},
        ImageFormat{PixelFormat::kI420, VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, 3}}) {
    if (!images_->Takes(format)) continue;
    ++taken;
    const TestPicture picture(pixels, kImageWidth, kImageHeight, 5, 0, true);
    std::vector<VkBufferImageCopy> regions = {
        ProgramImages::Region(VK_IMAGE_ASPECT_PLANE_0_BIT, 0, kImageWidth, kImageHeight)};
    constexpr uint64_t kLuma = uint64_t{kImageWidth} * kImageHeight;
    for (int plane = 1; plane < planes; ++plane) {
      regions.push_back(ProgramImages::Region(plane == 1 ? VK_IMAGE_ASPECT_PLANE_1_BIT : VK_IMAGE_ASPECT_PLANE_2_BIT,
                                              plane == 1 ? kLuma : kLuma + kLuma / 4, kImageWidth / 2,
                                              kImageHeight / 2));
    }
    const VkImage image = images_->Make(format, kImageWidth, kImageHeight);
    images_->Fill(image, picture.memory(0), regions, VK_IMAGE_LAYOUT_GENERAL);
    Frame frame = picture.frame();
    frame.rotation = 270;
    ExpectTheHostsAnswer(frame, InImage(frame, image, VK_IMAGE_LAYOUT_GENERAL));
  }
  if (taken == 0) GTEST_SKIP() << "the driver has no images of several planes";
}

TEST_F(VulkanImages, AreInputsAsTexturesAre) {
  using testing::kExternalHeight, testing::kExternalWidth, testing::kExternalChannels;
  for (const ElementFormat element : {ElementFormat::kRgba8, ElementFormat::kFloat32, ElementFormat::kRgba16f}) {
    std::vector<std::byte> bytes;
    std::vector<float> numbers;
    for (int k = 0; k < kExternalHeight * kExternalWidth * 4; ++k) {
      const int level = k * 37 % 256;
      const float value =
          element == ElementFormat::kRgba8 ? static_cast<float>(level) / 255 : static_cast<float>(level) / 64;
      const uint16_t half = FloatToHalf(value);
      const auto byte = static_cast<std::byte>(level);
      const auto add = [&](const void* from, size_t size) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), first, first + size);
      };
      if (element == ElementFormat::kRgba8) add(&byte, 1);
      if (element == ElementFormat::kFloat32) add(&value, 4);
      if (element == ElementFormat::kRgba16f) add(&half, 2);
      if (k % 4 < kExternalChannels) numbers.push_back(value * 2 - 1);
    }
    const VkImage image = images_->Make(element == ElementFormat::kRgba8     ? VK_FORMAT_R8G8B8A8_UNORM
                                        : element == ElementFormat::kFloat32 ? VK_FORMAT_R32G32B32A32_SFLOAT
                                                                             : VK_FORMAT_R16G16B16A16_SFLOAT,
                                        kExternalWidth, kExternalHeight);
    images_->Fill(image, bytes, kExternalWidth, kExternalHeight, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    const Binding binding{.memory = MemoryKind::kVulkanImage,
                          .handle = Handle(image),
                          .format = element,
                          .scale = {2, 2, 2, 2},
                          .offset = {-1, -1, -1, -1},
                          .image_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    for (const Status& status : {session_->BindInput("x", binding), session_->Run(),
                                 plain_->SetInput(0, std::as_bytes(std::span(numbers))), plain_->Run()})
      ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(session_->report().transfers.to_device_bytes, 0u);
    for (size_t k = 0; k < session_->output(0).size(); k += 4) {
      float have = 0, want = 0;
      std::memcpy(&have, &session_->output(0)[k], 4);
      std::memcpy(&want, &plain_->output(0)[k], 4);
      ASSERT_NEAR(have, want, 1e-6 * std::max(1.0f, std::abs(want))) << "byte " << k;  // a byte divided by 255
    }
  }
}

TEST_F(VulkanImages, AreReadWhenTheSemaphoreSaysThatTheyAreThere) {
  const TestPicture early(PixelFormat::kRgba8, kImageWidth, kImageHeight, 1),
      late(PixelFormat::kRgba8, kImageWidth, kImageHeight, 2);
  const VkImage image = images_->Make(VK_FORMAT_R8G8B8A8_UNORM, kImageWidth, kImageHeight, true);
  images_->Fill(image, early.memory(0), kImageWidth, kImageHeight, VK_IMAGE_LAYOUT_GENERAL);
  const VkSemaphore timeline = program_.Timeline();
  const auto handle = reinterpret_cast<uint64_t>(timeline);
  ASSERT_TRUE(session_->BindFrame("x", InImage(late.frame(), image, VK_IMAGE_LAYOUT_GENERAL)).ok());
  const Result<Ticket> ticket = session_->Submit({.wait_for = {{handle, 1}}, .signal = {{handle, 2}}});
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  images_->WriteMapped(image, late.memory(0), kImageWidth, kImageHeight);
  program_.Signal(timeline, 1);
  program_.Wait(timeline, 2);
  ASSERT_TRUE(session_->Wait(*ticket).ok());
  ASSERT_TRUE(plain_->BindFrame("x", late.frame()).ok() && plain_->Run().ok());
  EXPECT_TRUE(std::ranges::equal(session_->output(0), plain_->output(0)));
}

TEST_F(VulkanImages, AreRefusedWhereTheyDoNotFitWithWhatToDo) {
  const VkImage image = images_->Make(VK_FORMAT_R8G8B8A8_UNORM, kImageWidth, kImageHeight);
  const TestPicture picture(PixelFormat::kRgba8, kImageWidth, kImageHeight, 1);
  const auto refusal = [&](PixelFormat format, VkImageLayout layout, void (*change)(Frame&)) {
    Frame frame = InImage(picture.frame(), image, layout);
    frame.format = format;
    change(frame);
    return session_->BindFrame("x", frame);
  };
  const auto nothing = [](Frame&) {};
  constexpr VkImageLayout kGeneral = VK_IMAGE_LAYOUT_GENERAL;
  EXPECT_THAT(refusal(PixelFormat::kRgba8, VK_IMAGE_LAYOUT_UNDEFINED, nothing).message(),
              HasSubstr("give the VkImageLayout"));
  EXPECT_EQ(refusal(PixelFormat::kRgba8, VK_IMAGE_LAYOUT_PREINITIALIZED, nothing).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(PixelFormat::kNv21, kGeneral, nothing).code(), StatusCode::kUnsupported);
  EXPECT_THAT(refusal(PixelFormat::kRgb8, kGeneral, nothing).message(), HasSubstr("RGBA8, BGRA8, NV12 or I420"));
  EXPECT_THAT(refusal(PixelFormat::kNv12, kGeneral, [](Frame& frame) { frame.width = 23; }).message(),
              HasSubstr("even width and height"));
  EXPECT_THAT(
      refusal(PixelFormat::kRgba8, kGeneral, [](Frame& frame) { frame.planes[0].row_pitch_bytes = 96; }).message(),
      HasSubstr("without offset and row pitch"));
  Binding output{.memory = MemoryKind::kVulkanImage, .handle = Handle(image), .format = ElementFormat::kRgba8};
  output.image_layout = kGeneral;
  EXPECT_EQ(session_->BindOutput("y", output).code(), StatusCode::kUnsupported);
  output.row_pitch_bytes = 96;
  EXPECT_THAT(session_->BindInput("x", output).message(), HasSubstr("no row pitch"));
  Result<Session> own = Session::Create(model_, testing::SharedOptions({}, "vulkan"));
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_THAT(own->BindFrame("x", InImage(picture.frame(), image, kGeneral)).message(),
              HasSubstr("a VkImage belongs to its VkDevice"));
}

}  // namespace
}  // namespace hearth
