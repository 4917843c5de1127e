// litert_program LITERT FOLDER MODEL: a C++ program on LiteRT's C interface, with the GPU accelerator from FOLDER.
// MODEL: one input and one output of the same shape, float32. LITERT: libLiteRt.so. Uses no header of LiteRT's.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/accelerator/litert_objects.h"

namespace hearth::litert_c {
namespace {

constexpr int32_t kOpenClDevice = 2, kOpenClPlatform = 3;
constexpr int kRuns = 40;

void* opencl;
#define HEARTH_CL(name) reinterpret_cast<decltype(&(name))>(dlsym(opencl, #name))

std::vector<float> Values(size_t elements, int seed) {
  std::vector<float> values(elements);
  for (size_t k = 0; k < elements; ++k) values[k] = std::sin(static_cast<float>(k) * 0.37F + static_cast<float>(seed));
  return values;
}

void ExpectClose(const std::vector<float>& actual, const std::vector<float>& wanted, const std::string& what) {
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (!(std::abs(actual[k] - wanted[k]) < 1e-4F))
      Fail(what + ": " + std::to_string(actual[k]) + " instead of " + std::to_string(wanted[k]));
  }
}

void Expect(bool is_so, const char* what) {
  if (!is_so) Fail(what);
}

class Program {
 public:
  Program(const char* folder, const char* path)
      : folder_(folder),
        path_(path),
        environment_(NewEnvironment(folder)),
        cpu_(environment_, path, kLiteRtHwAcceleratorCpu),
        gpu_(environment_, path, kLiteRtHwAcceleratorGpu),
        elements_(gpu_.type.elements()) {}

  std::vector<float> Wanted(int seed, int times = 1) {
    LiteRtTensorBufferT* input = cpu_.NewInput();
    LiteRtTensorBufferT* output = cpu_.NewOutput();
    std::vector<float> values = Values(elements_, seed);
    for (int run = 0; run < times; ++run) {
      Fill(input, values);
      Expect(cpu_.TryRun(input, output) == kLiteRtStatusOk, "LiteRT's CPU runs");
      values = Content(output, elements_);
    }
    Destroy("LiteRtDestroyTensorBuffer", input);
    Destroy("LiteRtDestroyTensorBuffer", output);
    return values;
  }

  void RunsAndRefusesSmallBuffers() {
    LiteRtTensorBufferT* input = gpu_.NewInput();
    LiteRtTensorBufferT* output = gpu_.NewOutput();
    Fill(input, Values(elements_, 1));
    Expect(gpu_.TryRun(input, output) == kLiteRtStatusOk, "a run");
    ExpectClose(Content(output, elements_), Wanted(1), "a run");
    bool is_accelerated = false;
    Call("LiteRtCompiledModelIsFullyAccelerated", gpu_.compiled, &is_accelerated);
    Expect(is_accelerated, "the model is fully accelerated");

    RankedTensorType small = gpu_.type;
    small.dimensions[1] = 1;
    LiteRtTensorBufferT* short_one = nullptr;
    Call("LiteRtCreateManagedTensorBuffer", environment_, kLiteRtTensorBufferTypeHostMemory, &small,
         small.elements() * sizeof(float), &short_one);
    Expect(gpu_.TryRun(short_one, output) != kLiteRtStatusOk, "a short input is refused");
    Expect(gpu_.TryRun(input, short_one) != kLiteRtStatusOk, "a short output is refused");
    Expect(gpu_.TryRun(input, output) == kLiteRtStatusOk, "a run after a refusal");
    for (LiteRtTensorBufferT* buffer : {input, output, short_one}) Destroy("LiteRtDestroyTensorBuffer", buffer);
  }

  // The program's own memory is read and written where it is.
  void RunsInPlace() {
    const size_t bytes = elements_ * sizeof(float);
    const std::unique_ptr<float, decltype(&std::free)> memory(
        static_cast<float*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), &std::free);
    LiteRtTensorBufferT* buffer = nullptr;
    Call("LiteRtCreateTensorBufferFromHostMemory", &gpu_.type, static_cast<void*>(memory.get()), bytes,
         static_cast<void (*)(void*)>(nullptr), &buffer);
    const std::vector<float> values = Values(elements_, 2);
    std::copy(values.begin(), values.end(), memory.get());
    for (int run = 0; run < 3; ++run) Expect(gpu_.TryRun(buffer, buffer) == kLiteRtStatusOk, "a run in place");
    ExpectClose({memory.get(), memory.get() + elements_}, Wanted(2, 3), "runs in place");
    Destroy("LiteRtDestroyTensorBuffer", buffer);
  }

  // Runs that are not waited for, each of which reads what the one before it writes.
  void RunsAsynchronously() {
    std::array<LiteRtTensorBufferT*, 4> ring = {};
    for (LiteRtTensorBufferT*& buffer : ring) buffer = gpu_.NewInput();
    Fill(ring[0], Values(elements_, 3));
    bool is_async = false, had_event = false;
    for (size_t run = 0; run < kRuns; ++run) {
      LiteRtTensorBufferT* output = ring[(run + 1) % ring.size()];
      is_async = gpu_.RunAsync(ring[run % ring.size()], output) || is_async;
      bool has_event = false;
      Call("LiteRtHasTensorBufferEvent", output, &has_event);
      had_event = had_event || has_event;
    }
    LiteRtTensorBufferT* last = ring[kRuns % ring.size()];
    std::printf("asynchronous: %d, events: %d\n", is_async, had_event);
    Expect(is_async && had_event, "runs return early, with events");
    LiteRtEventT* event = nullptr;
    Call("LiteRtGetTensorBufferEvent", last, &event);
    Call("LiteRtWaitEvent", event, int64_t{-1});
    ExpectClose(Content(last, elements_), Wanted(3, kRuns), "asynchronous runs");
    for (LiteRtTensorBufferT* buffer : ring) Destroy("LiteRtDestroyTensorBuffer", buffer);
  }

  void CollectsMetrics() {
    LiteRtTensorBufferT* input = gpu_.NewInput();
    LiteRtTensorBufferT* output = gpu_.NewOutput();
    Fill(input, Values(elements_, 4));
    const LiteRtStatus started = Ask("LiteRtCompiledModelStartMetricsCollection", gpu_.compiled, 1);
    Expect(started == kLiteRtStatusOk, "metrics are collected");
    for (int run = 0; run < 3; ++run) Expect(gpu_.TryRun(input, output) == kLiteRtStatusOk, "a measured run");
    LiteRtMetricsT* metrics = nullptr;
    Call("LiteRtCreateMetrics", &metrics);
    Call("LiteRtCompiledModelStopMetricsCollection", gpu_.compiled, metrics);
    int count = 0;
    Call("LiteRtGetNumMetrics", metrics, &count);
    std::printf("metrics: %d\n", count);
    bool counts_runs = false;
    for (int k = 0; k < count; ++k) {
      LiteRtMetric metric = {};
      Call("LiteRtGetMetric", metrics, k, &metric);
      counts_runs = counts_runs || (metric.name == std::string("hearth invocations") && metric.value.int_value == 3);
    }
    const bool takes_metrics = FunctionOf<void*>("LiteRtAppendMetric") != nullptr;  // since 2.3
    Expect(counts_runs == takes_metrics, "the metrics count the runs");
    Destroy("LiteRtDestroyMetrics", metrics);
    Destroy("LiteRtDestroyTensorBuffer", input);
    Destroy("LiteRtDestroyTensorBuffer", output);
  }

  // Each with a compiled model of its own.
  void RunsOnSeveralThreads() {
    const std::vector<float> wanted = Wanted(5);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 3; ++turn) {
          LiteRtEnvironmentT* environment = NewEnvironment(folder_);
          {
            const Network network(environment, path_, kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorCpu);
            LiteRtTensorBufferT* input = network.NewInput();
            LiteRtTensorBufferT* output = network.NewOutput();
            Fill(input, Values(elements_, 5));
            Expect(network.TryRun(input, output) == kLiteRtStatusOk, "a run beside others");
            ExpectClose(Content(output, elements_), wanted, "a run beside others");
            Destroy("LiteRtDestroyTensorBuffer", input);
            Destroy("LiteRtDestroyTensorBuffer", output);
          }
          Destroy("LiteRtDestroyEnvironment", environment);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // An asynchronous run is still busy when everything goes; the environment is the first.
  void GoesInAnyOrder() {
    LiteRtEnvironmentT* environment = NewEnvironment(folder_);
    auto network = std::make_unique<Network>(environment, path_, kLiteRtHwAcceleratorGpu);
    LiteRtTensorBufferT* input = network->NewInput();
    LiteRtTensorBufferT* output = network->NewOutput();
    Fill(input, Values(elements_, 6));
    network->RunAsync(input, output);
    Destroy("LiteRtDestroyTensorBuffer", input);
    Destroy("LiteRtDestroyEnvironment", environment);
    network.reset();
    Destroy("LiteRtDestroyTensorBuffer", output);
  }

  // In an OpenCL context of the program's own: its cl_mem are read and written where they are.
  void SharesOpenCl() {
    opencl = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    Expect(opencl != nullptr, "OpenCL's loader is there");
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    HEARTH_CL(clGetPlatformIDs)(1, &platform, nullptr);
    Expect(HEARTH_CL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS,
           "OpenCL has a device");
    cl_context context = HEARTH_CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, nullptr);
    cl_command_queue queue = HEARTH_CL(clCreateCommandQueue)(context, device, 0, nullptr);
    LiteRtEnvironmentT* environment =
        NewEnvironment(folder_, {{kOpenClDevice, 0, kAnyTypeInt, 0, device},
                                 {kOpenClPlatform, 0, kAnyTypeInt, 0, platform},
                                 {kLiteRtEnvOptionTagOpenClContext, 0, kAnyTypeInt, 0, context},
                                 {kLiteRtEnvOptionTagOpenClCommandQueue, 0, kAnyTypeInt, 0, queue}});
    {
      const Network network(environment, path_, kLiteRtHwAcceleratorGpu);
      const size_t bytes = elements_ * sizeof(float);
      const std::vector<float> values = Values(elements_, 7);
      // LiteRT makes cl_mem for both, of which the program gets one too.
      LiteRtTensorBufferT* input = network.NewInput();
      LiteRtTensorBufferT* output = network.NewOutput();
      LiteRtTensorBufferType kind{};
      Call("LiteRtGetTensorBufferType", input, &kind);
      Expect(kind == kLiteRtTensorBufferTypeOpenClBuffer, "LiteRT makes OpenCL buffers");
      Fill(input, values);
      Expect(network.TryRun(input, output) == kLiteRtStatusOk, "a run on OpenCL buffers");
      ExpectClose(Content(output, elements_), Wanted(7), "a run on OpenCL buffers");
      cl_mem made = nullptr;
      Call("LiteRtGetTensorBufferOpenClMemory", output, &made);
      std::vector<float> read(elements_);
      HEARTH_CL(clEnqueueReadBuffer)(queue, made, CL_TRUE, 0, bytes, read.data(), 0, nullptr, nullptr);
      ExpectClose(read, Wanted(7), "the cl_mem of LiteRT's buffer");

      // The program's cl_mem, which it reads and writes itself. The second run reads what the first has written.
      const std::array<cl_mem, 2> own = {
          HEARTH_CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr),
          HEARTH_CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr)};
      std::array<LiteRtTensorBufferT*, 2> lent = {};
      for (size_t k = 0; k < own.size(); ++k)
        Call("LiteRtCreateTensorBufferFromOpenClMemory", environment, &network.type,
             kLiteRtTensorBufferTypeOpenClBuffer, own[k], bytes, static_cast<void (*)(void*)>(nullptr), &lent[k]);
      HEARTH_CL(clEnqueueWriteBuffer)(queue, own[0], CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr);
      Expect(network.TryRun(lent[0], lent[1]) == kLiteRtStatusOk, "a run on cl_mem");
      HEARTH_CL(clEnqueueReadBuffer)(queue, own[1], CL_TRUE, 0, bytes, read.data(), 0, nullptr, nullptr);
      ExpectClose(read, Wanted(7), "a run on cl_mem");
      Expect(network.TryRun(lent[1], lent[0]) == kLiteRtStatusOk, "a second run on cl_mem");
      ExpectClose(Content(lent[0], elements_), Wanted(7, 2), "a second run on cl_mem");
      Expect(network.RunAsync(lent[0], lent[1]), "a run on cl_mem returns early");
      ExpectClose(Content(lent[1], elements_), Wanted(7, 3), "a run on cl_mem that returned early");
      Fill(lent[0], values);  // by a lock
      HEARTH_CL(clEnqueueReadBuffer)(queue, own[0], CL_TRUE, 0, bytes, read.data(), 0, nullptr, nullptr);
      ExpectClose(read, values, "what a lock writes reaches the cl_mem");
      for (LiteRtTensorBufferT* buffer : {input, output, lent[0], lent[1]})
        Destroy("LiteRtDestroyTensorBuffer", buffer);
      for (cl_mem memory : own) HEARTH_CL(clReleaseMemObject)(memory);
    }
    Destroy("LiteRtDestroyEnvironment", environment);
    LeavesAContextWithoutAQueueAlone(context);
    HEARTH_CL(clReleaseCommandQueue)(queue);
    HEARTH_CL(clReleaseContext)(context);
    std::puts("OpenCL shared");
  }

 private:
  void LeavesAContextWithoutAQueueAlone(cl_context context) {
    LiteRtEnvironmentT* environment =
        NewEnvironment(folder_, {{kLiteRtEnvOptionTagOpenClContext, 0, kAnyTypeInt, 0, context}});
    {
      const Network network(environment, path_, kLiteRtHwAcceleratorGpu);
      LiteRtTensorBufferT* input = network.NewInput();
      LiteRtTensorBufferT* output = network.NewOutput();
      Fill(input, Values(elements_, 8));
      Expect(network.TryRun(input, output) == kLiteRtStatusOk, "a run beside a context without a queue");
      ExpectClose(Content(output, elements_), Wanted(8), "a run beside a context without a queue");
      Destroy("LiteRtDestroyTensorBuffer", input);
      Destroy("LiteRtDestroyTensorBuffer", output);
    }
    Destroy("LiteRtDestroyEnvironment", environment);
  }

  const char* folder_;
  const char* path_;
  LiteRtEnvironmentT* environment_;
  Network cpu_, gpu_;
  size_t elements_;
};

}  // namespace
}  // namespace hearth::litert_c

int main(int count, char** arguments) {
  using namespace hearth::litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
  if (count != 4) Fail("litert_program LITERT FOLDER MODEL");
  litert = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (litert == nullptr) Fail(dlerror());
  Program program(arguments[2], arguments[3]);
  program.RunsAndRefusesSmallBuffers();
  program.RunsInPlace();
  program.RunsAsynchronously();
  program.CollectsMetrics();
  program.RunsOnSeveralThreads();
  program.GoesInAnyOrder();
  if (std::getenv("HEARTH_DEVICE") == std::string_view("opencl")) program.SharesOpenCl();
  std::puts("ok");
  return 0;
}
