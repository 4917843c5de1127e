// A session in the program's own OpenCL context: cl_mem as input and output, its queue, its events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backends/opencl/backend.h"
#include "backends/opencl/device_queries.h"
#include "backends/opencl/driver_api.h"
#include "tests/testing/external_memory.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

constexpr size_t kClBytes = size_t{testing::kExternalHeight} * testing::kExternalWidth * testing::kExternalChannels * 4;

// A program that has set up OpenCL for itself.
struct OpenClProgram {
  const OpenClApi* api = nullptr;
  OpenClDeviceId id{};
  ContextHandle context;
  QueueHandle queue;

  std::string Open() {
    const Result<const OpenClApi*> loaded = LoadOpenCl();
    if (!loaded.ok()) return loaded.status().message();
    api = *loaded;
    const auto ids = FindOpenClDevices(*api);
    if (!ids.ok()) return ids.status().message();
    for (const OpenClDeviceId& each : *ids) {
      if (!OpenClUnusableReason(*api, each).empty()) continue;
      id = each;
      context = ContextHandle(*api, api->clCreateContext(nullptr, 1, &id.device, nullptr, nullptr, nullptr));
      queue = QueueHandle(*api, api->clCreateCommandQueue(context.get(), id.device, 0, nullptr));
      return "";
    }
    return "no usable OpenCL device";
  }
  OpenClContext shared() const { return {context.get(), id.device, queue.get()}; }
};

class ClMemory final : public testing::ExternalMemory {
 public:
  explicit ClMemory(const OpenClProgram& program) : program_(program) {}
  MemoryKind kind() const override { return MemoryKind::kClBuffer; }
  uint64_t Make(std::span<const std::byte> bytes) override {
    const OpenClApi& api = *program_.api;
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    buffers_.emplace_back(api, api.clCreateBuffer(program_.context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                  bytes.size(), copy.data(), nullptr));
    return reinterpret_cast<uint64_t>(buffers_.back().get());
  }
  std::vector<std::byte> Read(uint64_t handle, size_t size_bytes) override {
    const OpenClApi& api = *program_.api;
    auto* memory = reinterpret_cast<cl_mem>(handle);
    void* mapped = api.clEnqueueMapBuffer(program_.queue.get(), memory, CL_TRUE, CL_MAP_READ, 0, size_bytes, 0, nullptr,
                                          nullptr, nullptr);
    const auto* first = static_cast<const std::byte*>(mapped);
    std::vector<std::byte> bytes(first, first + size_bytes);
    api.clEnqueueUnmapMemObject(program_.queue.get(), memory, mapped, 0, nullptr, nullptr);
    return bytes;
  }

 private:
  const OpenClProgram& program_;
  std::vector<MemoryHandle> buffers_;
};

class OpenClSharing : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = program_.Open();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  Result<Session> Open() { return Session::Create(model_, testing::SharedOptions(program_.shared(), "opencl")); }

  OpenClProgram program_;
  const Model model_ = testing::ExternalMemoryModel();
};

TEST_F(OpenClSharing, EveryFormatRunsWithoutACopy) {
  Result<Session> session = Open();
  ASSERT_TRUE(session.ok()) << session.status().message();
  ClMemory memory(program_);
  testing::ExpectEveryFormatRuns(*session, memory, true);
  testing::ExpectFramesRun(*session, memory);
}

TEST_F(OpenClSharing, ARunWaitsForTheProgramsEventAndGivesOneBack) {
  Result<Session> session = Open();
  ASSERT_TRUE(session.ok()) << session.status().message();
  ClMemory memory(program_);
  const std::vector<float> twos(kClBytes / 4, 2.0f), zeros(kClBytes / 4);
  Binding input{.memory = MemoryKind::kClBuffer, .size_bytes = kClBytes}, output = input;
  input.handle = memory.Make(std::as_bytes(std::span(twos)));
  output.handle = memory.Make(std::as_bytes(std::span(zeros)));
  ASSERT_TRUE(session->BindInput("x", input).ok());
  ASSERT_TRUE(session->BindOutput("y", output).ok());
  const OpenClApi& api = *program_.api;
  cl_event before = nullptr;
  ASSERT_EQ(api.clEnqueueMarkerWithWaitList(program_.queue.get(), 0, nullptr, &before), CL_SUCCESS);
  const EventHandle before_handle(api, before);
  const Result<Ticket> ticket =
      session->Submit({.wait_for = {{reinterpret_cast<uint64_t>(before)}}, .make_fence = true});
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  ASSERT_NE(ticket->fence, 0u);
  const EventHandle fence(api, reinterpret_cast<cl_event>(ticket->fence));
  auto* event = fence.get();
  ASSERT_EQ(api.clWaitForEvents(1, &event), CL_SUCCESS);
  float first = 0;
  std::memcpy(&first, memory.Read(output.handle, 4).data(), 4);
  EXPECT_EQ(first, -2.0f) << "the fence covers the run";
  EXPECT_TRUE(session->Wait(*ticket).ok());
  EXPECT_EQ(session->Submit({.signal = {{1}}}).status().code(), StatusCode::kUnsupported);
}

TEST_F(OpenClSharing, MemoryOfAnotherContextOrSizeOrKindIsRefused) {
  Result<Session> session = Open();
  ASSERT_TRUE(session.ok()) << session.status().message();
  OpenClProgram other;
  ASSERT_EQ(other.Open(), "");
  ClMemory own(program_), foreign(other);
  const std::vector<std::byte> bytes(kClBytes + 64);
  Binding binding{.memory = MemoryKind::kClBuffer, .size_bytes = kClBytes};
  binding.handle = foreign.Make(std::span(bytes).first(kClBytes));
  const Status of_another = session->BindInput("x", binding);
  EXPECT_EQ(of_another.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(of_another.message(), HasSubstr("another context"));
  binding.handle = own.Make(bytes);
  EXPECT_THAT(session->BindInput("x", binding).message(), HasSubstr("484 bytes"));
  binding.memory = MemoryKind::kGlBuffer;
  EXPECT_EQ(session->BindInput("x", binding).code(), StatusCode::kUnsupported);
}

TEST_F(OpenClSharing, AContextThatDoesNotFitIsRefused) {
  OpenClProgram other;
  ASSERT_EQ(other.Open(), "");
  OpenClContext mixed = program_.shared();
  mixed.queue = other.queue.get();
  EXPECT_EQ(OpenSharedOpenCl(mixed).status().code(), StatusCode::kInvalidArgument);
  OpenClContext without_queue = program_.shared();
  without_queue.queue = nullptr;
  EXPECT_TRUE(OpenSharedOpenCl(without_queue).ok());
  OpenClContext without_device = program_.shared();
  without_device.device = nullptr;
  EXPECT_TRUE(OpenSharedOpenCl(without_device).ok());
  without_device.queue = nullptr;
  EXPECT_EQ(OpenSharedOpenCl(without_device).status().code(), StatusCode::kInvalidArgument);
  const QueueHandle unordered(*program_.api,
                              program_.api->clCreateCommandQueue(program_.context.get(), program_.id.device,
                                                                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr));
  if (unordered.get() == nullptr) return;  // the driver has none
  OpenClContext out_of_order = program_.shared();
  out_of_order.queue = unordered.get();
  EXPECT_THAT(OpenSharedOpenCl(out_of_order).status().message(), HasSubstr("out of order"));
}

TEST_F(OpenClSharing, GlObjectsAreNotSharedWithOpenCl) {
  GTEST_SKIP() << "sharing GL objects with OpenCL (cl_khr_gl_sharing) is not offered; PoCL has no such extension";
}

}  // namespace
}  // namespace hearth
