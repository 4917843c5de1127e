// The work items of a group that a kernel takes as compiled (CL_KERNEL_WORK_GROUP_SIZE), of a pretended driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/opencl/driver_api.h"
#include "backends/opencl/program.h"
#include "core/emit/kernel_library.h"

namespace hearth {
namespace {

int the_object = 0;
size_t items_of_kernels = 0;

OpenClApi DriverThatLimitsKernels() {
  OpenClApi api;
  api.clCreateProgramWithSource = [](cl_context, cl_uint, const char**, const size_t*, cl_int* code) {
    *code = CL_SUCCESS;
    return reinterpret_cast<cl_program>(&the_object);
  };
  api.clBuildProgram = [](cl_program, cl_uint, const cl_device_id*, const char*, void (*)(cl_program, void*),
                          void*) -> cl_int { return CL_SUCCESS; };
  api.clCreateKernel = [](cl_program, const char*, cl_int* code) {
    *code = CL_SUCCESS;
    return reinterpret_cast<cl_kernel>(&the_object);
  };
  api.clGetKernelWorkGroupInfo = [](cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void* value,
                                    size_t*) -> cl_int {
    std::memcpy(value, &items_of_kernels, sizeof items_of_kernels);
    return CL_SUCCESS;
  };
  api.clReleaseKernel = [](cl_kernel) -> cl_int { return CL_SUCCESS; };
  api.clReleaseProgram = [](cl_program) -> cl_int { return CL_SUCCESS; };
  return api;
}

class OpenClWorkGroups : public ::testing::Test {
 protected:
  Status Compile(size_t items_as_compiled) {
    items_of_kernels = items_as_compiled;
    KernelSource source = *LoadKernel("map");
    source.local_size = {64, 1, 1};
    const OpenClDriver driver{.api = api_, .items_as_compiled = &fewest_};
    return OpenClProgramGroup::Compile(driver, {&source, 1}).status();
  }

  const OpenClApi api_ = DriverThatLimitsKernels();
  std::atomic<uint32_t> fewest_ = UINT32_MAX;
};

TEST_F(OpenClWorkGroups, ThatAKernelTakesAsCompiledNoteNothing) {
  EXPECT_TRUE(Compile(64).ok());
  EXPECT_EQ(fewest_, UINT32_MAX);
}

TEST_F(OpenClWorkGroups, ThatAKernelIsTooLargeForAreAnErrorAndTheLimitIsNoted) {
  const Status refused = Compile(32);
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("as compiled it supports 32"));
  EXPECT_EQ(fewest_, 32u);
}

TEST_F(OpenClWorkGroups, OfTheMostLimitedKernelAreNoted) {
  for (const size_t items : {size_t{16}, size_t{48}, size_t{8}}) EXPECT_FALSE(Compile(items).ok());
  EXPECT_EQ(fewest_, 8u);
}

TEST_F(OpenClWorkGroups, OfNoItemsTellNothing) {
  EXPECT_FALSE(Compile(0).ok());
  EXPECT_EQ(fewest_, UINT32_MAX);
}

}  // namespace
}  // namespace hearth
