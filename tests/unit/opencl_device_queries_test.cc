// What OpenCL drivers say of themselves, and calls that they refuse, by a driver that only answers questions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

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

// A device that offers texel buffers and refuses one is used without them (runtime/devices/self_test.cc).
TEST(OpenClView, ThatTheDriverRefusesLosesNoDevice) {
  OpenClApi api;
  api.clRetainMemObject = [](cl_mem) -> cl_int { return CL_SUCCESS; };
  api.clReleaseMemObject = [](cl_mem) -> cl_int { return CL_SUCCESS; };
  api.clCreateBuffer = [](cl_context context, cl_mem_flags, size_t, void*, cl_int* code) {
    *code = CL_SUCCESS;
    return reinterpret_cast<cl_mem>(context);
  };
  api.clCreateImage = [](cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*,
                         cl_int* code) -> cl_mem {
    *code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    return nullptr;
  };
  int context = 0;
  const OpenClDriver driver{.api = api, .context = reinterpret_cast<cl_context>(&context), .max_texels = 1024};
  const auto buffer = OpenClBuffer::Create(driver, 1024, false);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  const TensorArg arg{.name = "x", .path = AccessPath::kTexelBuffer};
  EXPECT_EQ(OpenClView::Create(driver, {buffer->get(), 0, 1024}, arg).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hearth
