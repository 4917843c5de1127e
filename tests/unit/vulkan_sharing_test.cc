// A session on the program's own Vulkan device: buffers, its queue, semaphores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/vulkan/backend.h"
#include "tests/testing/external_memory.h"
#include "tests/testing/vulkan_program.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr size_t kExternalBytes =
    size_t{testing::kExternalHeight} * testing::kExternalWidth * testing::kExternalChannels * 4;

class VkMemory final : public testing::ExternalMemory {
 public:
  explicit VkMemory(testing::VulkanProgram& program) : program_(program) {}
  MemoryKind kind() const override { return MemoryKind::kVulkanBuffer; }
  uint64_t Make(std::span<const std::byte> bytes) override {
    const auto [buffer, address] = program_.Buffer(bytes.size());
    std::memcpy(address, bytes.data(), bytes.size());
    return reinterpret_cast<uint64_t>(buffer);
  }
  std::vector<std::byte> Read(uint64_t handle, size_t size_bytes) override {
    const std::byte* address = program_.AddressOf(reinterpret_cast<VkBuffer>(handle));
    return {address, address + size_bytes};
  }

 private:
  testing::VulkanProgram& program_;
};

class VulkanSharing : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = program_.Open();
    if (!reason.empty()) GTEST_SKIP() << reason;
    Result<Session> session = Session::Create(model_, testing::SharedOptions(program_.shared(), "vulkan"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(std::move(session).value());
  }
  void TearDown() override {
    session_.reset();  // before what was lent to it
    program_.FreeBuffers();
  }
  // Both ends bound to memory of the program's; the input is all twos.
  void BindTwos(VkMemory& memory, Binding& output) {
    const std::vector<float> twos(kExternalBytes / 4, 2.0f), zeros(kExternalBytes / 4);
    Binding input{.memory = MemoryKind::kVulkanBuffer, .size_bytes = kExternalBytes};
    output = input;
    input.handle = memory.Make(std::as_bytes(std::span(twos)));
    output.handle = memory.Make(std::as_bytes(std::span(zeros)));
    ASSERT_TRUE(session_->BindInput("x", input).ok());
    ASSERT_TRUE(session_->BindOutput("y", output).ok());
  }
  static float FirstFloat(VkMemory& memory, const Binding& binding) {
    float first = 0;
    std::memcpy(&first, memory.Read(binding.handle, 4).data(), 4);
    return first;
  }

  testing::VulkanProgram program_;
  const Model model_ = testing::ExternalMemoryModel();
  std::optional<Session> session_;
};

TEST_F(VulkanSharing, EveryFormatRunsWithoutACopy) {
  VkMemory memory(program_);
  testing::ExpectEveryFormatRuns(*session_, memory, true);
  testing::ExpectFramesRun(*session_, memory);
}

TEST_F(VulkanSharing, ARunWaitsForASemaphoreAndSignalsOneWithoutTheHost) {
  VkMemory memory(program_);
  Binding output;
  BindTwos(memory, output);
  VkSemaphore timeline = program_.Timeline();
  const auto handle = reinterpret_cast<uint64_t>(timeline);
  const Result<Ticket> ticket = session_->Submit({.wait_for = {{handle, 1}}, .signal = {{handle, 2}}});
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  EXPECT_EQ(FirstFloat(memory, output), 0.0f) << "Submit returned, and the run waits for the semaphore";
  program_.Signal(timeline, 1);
  program_.Wait(timeline, 2);
  EXPECT_EQ(FirstFloat(memory, output), -2.0f);
  EXPECT_TRUE(session_->Wait(*ticket).ok());
  EXPECT_EQ(session_->Submit({.make_fence = true}).status().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(session_->Run().ok()) << "the next run is a sound one";
}

TEST_F(VulkanSharing, TheSessionGoesAndTheDeviceStays) {
  VkMemory memory(program_);
  Binding output;
  BindTwos(memory, output);
  ASSERT_TRUE(session_->Submit().ok());
  session_.reset();
  EXPECT_EQ(FirstFloat(memory, output), -2.0f) << "what was submitted is finished";
  EXPECT_EQ(program_.api().DeviceWaitIdle(program_.device()), VK_SUCCESS);
}

TEST_F(VulkanSharing, WhatDoesNotFitIsRefused) {
  VkMemory memory(program_);
  Binding binding{.memory = MemoryKind::kVulkanBuffer, .size_bytes = kExternalBytes};
  binding.handle = memory.Make(std::vector<std::byte>(16));
  const Status small = session_->BindInput("x", binding);
  EXPECT_EQ(small.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(small.message(), HasSubstr("at most"));
  binding.memory = MemoryKind::kGlBuffer;
  EXPECT_EQ(session_->BindInput("x", binding).code(), StatusCode::kUnsupported);
  Result<Session> own = Session::Create(model_, testing::SharedOptions({}, "vulkan"));
  ASSERT_TRUE(own.ok()) << own.status().message();
  binding.memory = MemoryKind::kVulkanBuffer;
  EXPECT_THAT(own->BindInput("x", binding).message(), HasSubstr("SessionOptions::shared"));
}

TEST_F(VulkanSharing, AnIncompleteContextOrAnotherQueueFamilyIsRefused) {
  VulkanContext context = program_.shared();
  context.queue_family = 99;
  EXPECT_THAT(OpenSharedVulkan(context).status().message(), HasSubstr("queue family 99"));
  context = program_.shared();
  context.queue = nullptr;
  EXPECT_EQ(OpenSharedVulkan(context).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
