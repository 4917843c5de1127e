// A discrete GPU whose own memory is full, as lavapipe's functions pretend in a process of their own.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"

namespace hearth {
namespace {

constexpr int kLocalTypes = 2;  // of navi21: hidden from the host, and mapped
vulkan::DeviceApi driver;
std::map<VkDeviceSize, int> asked;

VkResult AllocateBeyondTheLocalTypes(VkDevice device, const VkMemoryAllocateInfo* info,
                                     const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  if (asked[info->allocationSize]++ < kLocalTypes) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return driver.AllocateMemory(device, info, callbacks, memory);
}

[[noreturn]] void RunWithoutRoom() {
  vulkan::TheTableFilters().device = [](vulkan::DeviceApi& table) {
    driver = table;
    table.AllocateMemory = AllocateBeyondTheLocalTypes;
  };
  SessionOptions options{.device = "vulkan", .simulate = "navi21"};
  options.use_cache = false;
  const Model model = testing::NegationModel({1, 9, 12, 3});
  Result<Session> session = Session::Create(model, options);
  if (session.status().code() == StatusCode::kUnavailable) {
    std::fprintf(stderr, "no device here\n");
    std::_Exit(0);
  }
  const std::vector<float> numbers(9 * 12 * 3, 2.0f);
  Status ran = session.ok() ? session->SetInput(0, std::as_bytes(std::span(numbers))) : session.status();
  if (ran.ok()) ran = session->Run();
  if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.message().c_str());
  const auto warnings = ran.ok() ? session->report().warnings : std::vector<std::string>();
  for (const std::string& warning : warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  std::_Exit(warnings.size() == 1 ? 0 : 1);
}

TEST(VulkanFullMemoryDeathTest, IsToldAndTheHostsIsUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunWithoutRoom(), ::testing::ExitedWithCode(0),
              "the memory of .*Navi 21.* is full: .* MiB that kernels read and write|no device here");
}

}  // namespace
}  // namespace hearth
