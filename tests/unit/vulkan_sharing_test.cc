// A session on the program's own Vulkan device: buffers, its queue, semaphores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/vulkan/backend.h"
#include "backends/vulkan/driver_api.h"
#include "tests/testing/lent_memory.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr size_t kLentBytes = size_t{testing::kLentHeight} * testing::kLentWidth * testing::kLentChannels * 4;

// By an instance that nobody destroys: a driver is unloaded with its last one, and lavapipe then leaves memory behind
// that only its own variables pointed to.
void KeepTheDriverLoaded() {
  static const VkInstance kept = [] {
    VkInstance instance = VK_NULL_HANDLE;
    auto loader = vulkan::LoadLoaderApi();
    if (!loader.ok()) return instance;
    const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    if (loader->CreateInstance(&info, nullptr, &instance) != VK_SUCCESS) return VkInstance(VK_NULL_HANDLE);
    loader->library.Leak();
    return instance;
  }();
  static_cast<void>(kept);
}

// A program that has set up Vulkan for itself.
class UserProgram {
 public:
  ~UserProgram() {
    for (VkSemaphore semaphore : semaphores_) destroy_semaphore_(device_, semaphore, nullptr);
    if (device_ != VK_NULL_HANDLE) api_.DestroyDevice(device_, nullptr);
    if (instance_ != VK_NULL_HANDLE) instance_api_.DestroyInstance(instance_, nullptr);
  }
  std::string Open() {
    KeepTheDriverLoaded();
    auto loader = vulkan::LoadLoaderApi();
    if (!loader.ok()) return loader.status().message();
    loader_ = std::move(loader).value();
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    if (loader_.CreateInstance(&info, nullptr, &instance_) != VK_SUCCESS) return "no Vulkan driver";
    auto api = vulkan::LoadInstanceApi(loader_, instance_);
    if (!api.ok()) return api.status().message();
    instance_api_ = *api;
    uint32_t count = 1;
    if (instance_api_.EnumeratePhysicalDevices(instance_, &count, &physical_) < 0 || count == 0) return "no device";
    return OpenDevice();
  }
  VulkanContext shared() const { return {instance_, physical_, device_, queue_, 0}; }
  const vulkan::DeviceApi& api() const { return api_; }
  VkDevice device() const { return device_; }

  // In memory that the host sees; the mapped address.
  std::pair<VkBuffer, std::byte*> Buffer(size_t size_bytes) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(api_.CreateBuffer(device_, &info, nullptr, &buffer), VK_SUCCESS);
    VkMemoryRequirements needed{};
    api_.GetBufferMemoryRequirements(device_, buffer, &needed);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needed.size;
    allocate.memoryTypeIndex = MappableType(needed.memoryTypeBits);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(api_.AllocateMemory(device_, &allocate, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(api_.BindBufferMemory(device_, buffer, memory, 0), VK_SUCCESS);
    void* address = nullptr;
    EXPECT_EQ(api_.MapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &address), VK_SUCCESS);
    allocations_.push_back({buffer, memory, static_cast<std::byte*>(address)});
    return {buffer, static_cast<std::byte*>(address)};
  }
  const std::byte* AddressOf(VkBuffer buffer) const {
    for (const Allocation& allocation : allocations_) {
      if (allocation.buffer == buffer) return allocation.address;
    }
    return nullptr;
  }
  void FreeBuffers() {
    for (const Allocation& allocation : allocations_) {
      api_.DestroyBuffer(device_, allocation.buffer, nullptr);
      api_.FreeMemory(device_, allocation.memory, nullptr);
    }
    allocations_.clear();
  }

  VkSemaphore Timeline() {
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(create_semaphore_(device_, &info, nullptr, &semaphore), VK_SUCCESS);
    semaphores_.push_back(semaphore);
    return semaphore;
  }
  void Signal(VkSemaphore semaphore, uint64_t value) {
    VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
    info.semaphore = semaphore;
    info.value = value;
    EXPECT_EQ(signal_(device_, &info), VK_SUCCESS);
  }
  void Wait(VkSemaphore semaphore, uint64_t value) {
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &value;
    EXPECT_EQ(wait_(device_, &info, UINT64_MAX), VK_SUCCESS);
  }

 private:
  struct Allocation {
    VkBuffer buffer;
    VkDeviceMemory memory;
    std::byte* address;
  };

  std::string OpenDevice() {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    timeline.timelineSemaphore = VK_TRUE;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = &timeline;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    if (instance_api_.CreateDevice(physical_, &info, nullptr, &device_) != VK_SUCCESS)
      return "no device with timelines";
    auto api = vulkan::LoadDeviceApi(instance_api_, device_);
    if (!api.ok()) return api.status().message();
    api_ = *api;
    api_.GetDeviceQueue(device_, 0, 0, &queue_);
    Find("vkCreateSemaphore", create_semaphore_);
    Find("vkDestroySemaphore", destroy_semaphore_);
    Find("vkSignalSemaphore", signal_);
    Find("vkWaitSemaphores", wait_);
    return "";
  }
  template <typename Fn>
  void Find(const char* name, Fn& function) {
    function = reinterpret_cast<Fn>(instance_api_.GetDeviceProcAddr(device_, name));
  }
  uint32_t MappableType(uint32_t allowed_bits) const {
    VkPhysicalDeviceMemoryProperties memory{};
    instance_api_.GetPhysicalDeviceMemoryProperties(physical_, &memory);
    constexpr VkMemoryPropertyFlags kNeeded =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t t = 0; t < memory.memoryTypeCount; ++t) {
      if ((allowed_bits >> t & 1) != 0 && (memory.memoryTypes[t].propertyFlags & kNeeded) == kNeeded) return t;
    }
    return 0;
  }

  vulkan::LoaderApi loader_;
  vulkan::InstanceApi instance_api_;
  vulkan::DeviceApi api_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::vector<Allocation> allocations_;
  std::vector<VkSemaphore> semaphores_;
  PFN_vkCreateSemaphore create_semaphore_ = nullptr;
  PFN_vkDestroySemaphore destroy_semaphore_ = nullptr;
  PFN_vkSignalSemaphore signal_ = nullptr;
  PFN_vkWaitSemaphores wait_ = nullptr;
};

class VkMemory final : public testing::LentMemory {
 public:
  explicit VkMemory(UserProgram& program) : program_(program) {}
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
  UserProgram& program_;
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
    const std::vector<float> twos(kLentBytes / 4, 2.0f), zeros(kLentBytes / 4);
    Binding input{.memory = MemoryKind::kVulkanBuffer, .size_bytes = kLentBytes};
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

  UserProgram program_;
  const Model model_ = testing::LentModel();
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
  Binding binding{.memory = MemoryKind::kVulkanBuffer, .size_bytes = kLentBytes};
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
