// What OpenCL drivers say of themselves, and calls that they refuse, by a driver that only answers questions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backends/opencl/buffer.h"
#include "backends/opencl/device_queries.h"

namespace hearth {
namespace {

// Four dimensions, of which kernels use three.
constexpr std::array<size_t, 4> kWorkItemSizes = {512, 256, 64, 8};

cl_int Given(const void* answer, size_t answer_bytes, size_t size, void* value, size_t* size_out) {
  if (value != nullptr && size < answer_bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, answer, answer_bytes);
  if (size_out != nullptr) *size_out = answer_bytes;
  return CL_SUCCESS;
}

cl_int CL_API_CALL AnswerOfDevice(cl_device_id, cl_device_info what, size_t size, void* value, size_t* size_out) {
  constexpr char kName[] = "Intel\xae GPU";
  if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
    return Given(kWorkItemSizes.data(), sizeof kWorkItemSizes, size, value, size_out);
  if (what == CL_DEVICE_NAME) return Given(kName, sizeof kName, size, value, size_out);
  return CL_INVALID_VALUE;
}

cl_int CL_API_CALL AnswerOfPlatform(cl_platform_id, cl_platform_info, size_t, void*, size_t*) {
  return CL_INVALID_VALUE;
}

Result<DeviceInfo> ReadFourDimensions() {
  OpenClApi api;
  api.clGetDeviceInfo = AnswerOfDevice;
  api.clGetPlatformInfo = AnswerOfPlatform;
  return ReadOpenClDeviceInfo(api, {});
}

TEST(OpenClDeviceQueries, ADeviceOfFourDimensionsHasTheGroupsOfItsFirstThree) {
  const Result<DeviceInfo> info = ReadFourDimensions();
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_THAT(info->max_local_size, ::testing::ElementsAre(512, 256, 64));
}

TEST(OpenClDeviceQueries, ANameInLatin1IsReadAsUtf8) {
  const Result<DeviceInfo> info = ReadFourDimensions();
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->name, "Intel\xef\xbf\xbd GPU");
}

// Makes memory objects that are numbers, in order, and notes which are released.
struct NumberedMemory {
  static inline std::vector<intptr_t> released;
  static inline intptr_t made = 0;

  static cl_mem Next(cl_int* code) {
    *code = CL_SUCCESS;
    return reinterpret_cast<cl_mem>(++made);
  }
  static OpenClApi Api() {
    released.clear();
    made = 0;
    OpenClApi api;
    api.clCreateBuffer = [](cl_context, cl_mem_flags, size_t, void*, cl_int* code) { return Next(code); };
    api.clCreateSubBuffer = [](cl_mem, cl_mem_flags, cl_buffer_create_type, const void*, cl_int* code) {
      return Next(code);
    };
    api.clCreateImage = [](cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*,
                           cl_int* code) -> cl_mem {
      *code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
      return nullptr;
    };
    api.clReleaseMemObject = [](cl_mem memory) -> cl_int {
      released.push_back(reinterpret_cast<intptr_t>(memory));
      return CL_SUCCESS;
    };
    return api;
  }
};

Result<cl_mem> ViewOf(const OpenClDriver& driver, Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                      AccessPath path = AccessPath::kBuffer) {
  const TensorArg arg{.name = "x", .path = path};
  return static_cast<OpenClBuffer&>(buffer).shared_memory()->View(driver, {&buffer, offset_bytes, size_bytes}, arg);
}

// A device that offers texel buffers and refuses one is used without them (runtime/devices/self_test.cc).
TEST(OpenClMemory, AViewThatTheDriverRefusesLosesNoDevice) {
  const OpenClApi api = NumberedMemory::Api();
  const OpenClDriver driver{.api = api, .max_texels = 1024};
  const auto buffer = OpenClBuffer::Create(driver, 1024, false);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  EXPECT_EQ(ViewOf(driver, **buffer, 0, 1024, AccessPath::kTexelBuffer).status().code(), StatusCode::kUnavailable);
}

TEST(OpenClMemory, EqualRangesShareAViewAndTheWholeIsTheBufferItself) {
  const OpenClApi api = NumberedMemory::Api();
  const OpenClDriver driver{.api = api, .max_texels = 1024};
  const auto buffer = OpenClBuffer::Create(driver, 1024, false);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  EXPECT_EQ(*ViewOf(driver, **buffer, 0, 1024), static_cast<OpenClBuffer&>(**buffer).memory());
  EXPECT_EQ(*ViewOf(driver, **buffer, 512, 48), *ViewOf(driver, **buffer, 512, 48));
  EXPECT_NE(*ViewOf(driver, **buffer, 512, 48), *ViewOf(driver, **buffer, 512, 64));
}

// NVIDIA's driver ends the process at another order.
TEST(OpenClMemory, OverlappingViewsAreReleasedInTheReverseOrderOfTheirCreation) {
  const OpenClApi api = NumberedMemory::Api();
  const OpenClDriver driver{.api = api, .max_texels = 1024};
  auto buffer = OpenClBuffer::Create(driver, 4096, false);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  for (const uint64_t size_bytes : {3136, 48, 2240}) ASSERT_TRUE(ViewOf(driver, **buffer, 0, size_bytes).ok());
  buffer->reset();
  EXPECT_THAT(NumberedMemory::released, ::testing::ElementsAre(4, 3, 2, 1));
}

}  // namespace
}  // namespace hearth
