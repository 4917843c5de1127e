// A dma-buf as OpenCL memory: on a driver without the extension, whose functions this test then has itself.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/opencl/buffer.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/pictures.h"
#include "tests/testing/shared_memory.h"

namespace hearth {
namespace opencl_with_dma_bufs {

constexpr const char* kMore = " cl_khr_external_memory cl_khr_external_memory_dma_buf";
OpenClApi real;
int acquired = 0, released = 0, refusals = 0;

cl_int CL_API_CALL Info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_out) {
  if (what != CL_DEVICE_EXTENSIONS) return real.clGetDeviceInfo(device, what, size, value, size_out);
  size_t known = 0;
  real.clGetDeviceInfo(device, what, 0, nullptr, &known);
  std::string text(known, '\0');
  real.clGetDeviceInfo(device, what, known, text.data(), nullptr);
  text = std::string(text.c_str()) + kMore;
  if (size_out != nullptr) *size_out = text.size() + 1;
  if (value != nullptr) std::memcpy(value, text.c_str(), std::min(size, text.size() + 1));
  return CL_SUCCESS;
}

cl_int CL_API_CALL Acquire(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) {
  return ++acquired == released + 1 ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_int CL_API_CALL Release(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*) {
  return ++released == acquired ? CL_SUCCESS : CL_INVALID_OPERATION;
}

void* CL_API_CALL Address(cl_platform_id, const char* name) {
  if (std::string(name) == "clEnqueueAcquireExternalMemObjectsKHR") return reinterpret_cast<void*>(&Acquire);
  if (std::string(name) == "clEnqueueReleaseExternalMemObjectsKHR") return reinterpret_cast<void*>(&Release);
  return nullptr;
}

// The descriptor becomes the driver's.
cl_mem CL_API_CALL Create(cl_context context, const cl_ulong* properties, cl_mem_flags flags, size_t size_bytes, void*,
                          cl_int* code) {
  if (properties[0] != CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR || refusals-- > 0) {
    *code = CL_INVALID_VALUE;
    return nullptr;
  }
  const int descriptor = static_cast<int>(properties[1]);
  void* address = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  return real.clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size_bytes, address, code);
}

bool IsRight(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "wrong: %s\n", what);
  return condition;
}

// 0: right; 1: wrong
int RunAll() {
  TheOpenClTableFilter() = [](OpenClApi& table) {
    real = table;
    table.clGetDeviceInfo = Info;
    table.clGetExtensionFunctionAddressForPlatform = Address;
    table.clCreateBufferWithProperties = Create;
  };
  const Model model = testing::NegationModel({1, 9, 12, 3});
  SessionOptions options;
  options.device = "opencl";
  options.use_cache = false;
  Result<Session> session = Session::Create(model, options), other = Session::Create(model, options);
  if (!session.ok() || !other.ok()) {
    std::fprintf(stderr, "no device here\n");
    return 0;
  }
  bool is_right = true;
  for (const PixelFormat format : testing::kPixelFormats) {
    const testing::TestPicture picture(format, 37, 25, 1, 8, true);
    const testing::SharedMemory memory(picture.memory(0));
    Frame frame = picture.frame();
    is_right &= other->BindFrame("x", frame).ok() && other->Run().ok();
    frame.memory = MemoryKind::kDmaBuf;
    frame.planes[0].handle = memory.descriptor();
    for (int run = 0; run < 2; ++run) {
      const Status bound = session->BindFrame("x", frame), ran = session->Run();
      is_right &= IsRight(bound.ok() && ran.ok(), (bound.message() + ran.message()).c_str());
      is_right &= IsRight(std::ranges::equal(session->output(0), other->output(0)), "the picture");
    }
  }
  is_right &= IsRight(acquired == 12 && released == 12, "the turns");
  is_right &= IsRight(session->report().warnings.empty(), "a warning");
  refusals = 1;
  const testing::TestPicture picture(PixelFormat::kRgba8, 12, 9, 2);
  const testing::SharedMemory memory(picture.memory(0));
  Frame frame = picture.frame();
  frame.memory = MemoryKind::kDmaBuf;
  frame.planes[0].handle = memory.descriptor();
  is_right &= session->BindFrame("x", frame).ok() && session->Run().ok();
  is_right &= IsRight(acquired == 12 && session->report().warnings.size() == 1, "the host's reading after a refusal");
  std::fprintf(stderr, "done\n");
  return is_right ? 0 : 1;
}

}  // namespace opencl_with_dma_bufs

namespace {

TEST(OpenClDmaBufDeathTest, IsReadInTurnsWithItsProducerOrByTheHost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(opencl_with_dma_bufs::RunAll()), ::testing::ExitedWithCode(0), "done|no device here");
}

}  // namespace
}  // namespace hearth
