// LiteRT 2's accelerator beside a LiteRT of the test's own: tables of other sizes and versions, buffers, events.
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "frontends/accelerator/hearth_buffer.h"
#include "frontends/accelerator/litert_memory.h"
#include "frontends/accelerator/litert_runtime.h"
#include "tests/testing/mock_interpreter.h"

namespace hearth {
namespace {

using namespace litert_c;  // NOLINT(google-build-using-namespace): the names of one interface
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- A LiteRT of the test's own: its objects are these ----

struct FakeBuffer {
  LiteRtTensorBufferType kind = kLiteRtTensorBufferTypeHostMemory;
  std::vector<float> memory;
  size_t offset = 0;
  int shares = 1, locks = 0;
  int event_file = -1;  // set by the accelerator
  bool has_input_event = false;
  int fence = -1;  // of that event
  DeviceMemory* on_device = nullptr;
};

struct FakeLiteRt {
  std::map<const TfLiteTensor*, FakeBuffer*> buffers;
  std::map<const TfLiteTensor*, size_t> announced;  // sizes
  std::map<const TfLiteTensor*, LiteRtTensorBufferType> made_first;
  LiteRtTensorBufferType last_kind{};
  bool is_async = false;
  int waits = 0;
};

FakeLiteRt* litert;  // of the test that runs

FakeBuffer& Of(LiteRtTensorBufferT* buffer) {
  return *reinterpret_cast<FakeBuffer*>(buffer);
}

LiteRtStatus BufferOf(LiteRtExternalLiteRtBufferContextT*, const TfLiteTensor* tensor, LiteRtTensorBufferT** buffer) {
  const auto found = litert->buffers.find(tensor);
  if (found == litert->buffers.end()) return kLiteRtStatusErrorRuntimeFailure;
  ++found->second->shares;
  *buffer = reinterpret_cast<LiteRtTensorBufferT*>(found->second);
  return kLiteRtStatusOk;
}

LiteRtRuntime Functions() {
  LiteRtRuntime runtime = {};
  runtime.create_requirements = [](int, const LiteRtTensorBufferType* kinds, size_t bytes, int, const uint32_t*,
                                   LiteRtTensorBufferRequirementsT** made) {
    litert->last_kind = kinds[0];
    *made = reinterpret_cast<LiteRtTensorBufferRequirementsT*>(bytes);
    return kLiteRtStatusOk;
  };
  runtime.register_requirements = [](auto*, const TfLiteTensor* tensor, auto* requirements) {
    litert->announced[tensor] = reinterpret_cast<size_t>(requirements);
    litert->made_first[tensor] = litert->last_kind;
    return kLiteRtStatusOk;
  };
  runtime.buffer_of = BufferOf;
  runtime.environment_of = [](auto*, auto** environment) {
    *environment = nullptr;
    return kLiteRtStatusOk;
  };
  runtime.is_async = [](auto*, bool* is_async) {
    *is_async = litert->is_async;
    return kLiteRtStatusOk;
  };
  runtime.destroy_buffer = [](auto* buffer) { --Of(buffer).shares; };
  runtime.buffer_kind = [](auto* buffer, LiteRtTensorBufferType* kind) {
    *kind = Of(buffer).kind;
    return kLiteRtStatusOk;
  };
  runtime.buffer_size = [](auto* buffer, size_t* bytes) {
    *bytes = Of(buffer).memory.size() * sizeof(float);
    return kLiteRtStatusOk;
  };
  runtime.buffer_offset = [](auto* buffer, size_t* bytes) {
    *bytes = Of(buffer).offset;
    return kLiteRtStatusOk;
  };
  runtime.lock = [](auto* buffer, void** memory, LiteRtTensorBufferLockMode) {
    if (++Of(buffer).locks > 1) return kLiteRtStatusErrorRuntimeFailure;  // "already locked"
    *memory = Of(buffer).memory.data();
    return kLiteRtStatusOk;
  };
  runtime.unlock = [](auto* buffer) {
    --Of(buffer).locks;
    return kLiteRtStatusOk;
  };
  runtime.host_memory = [](auto* buffer, void** memory) {
    *memory = Of(buffer).memory.data();
    return kLiteRtStatusOk;
  };
  runtime.custom_handle = [](auto* buffer, void** handle) {
    *handle = Of(buffer).on_device;
    return kLiteRtStatusOk;
  };
  runtime.has_event = [](auto* buffer, bool* has_event) {
    *has_event = Of(buffer).has_input_event;
    return kLiteRtStatusOk;
  };
  runtime.event_of = [](auto* buffer, LiteRtEventT** event) {
    *event = reinterpret_cast<LiteRtEventT*>(buffer);
    return kLiteRtStatusOk;
  };
  runtime.set_event = [](auto* buffer, LiteRtEventT* event) {
    Of(buffer).event_file = static_cast<int>(reinterpret_cast<intptr_t>(event));
    return kLiteRtStatusOk;
  };
  runtime.event_from_fence = [](auto*, int file, bool, LiteRtEventT** event) {
    *event = reinterpret_cast<LiteRtEventT*>(static_cast<intptr_t>(file));
    return kLiteRtStatusOk;
  };
  runtime.fence_of = [](LiteRtEventT* event, int* file) {
    *file = reinterpret_cast<FakeBuffer*>(event)->fence;
    return *file >= 0 ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidArgument;
  };
  runtime.wait = [](auto*, int64_t) {
    ++litert->waits;
    return kLiteRtStatusOk;
  };
  return runtime;
}

bool IsReadable(int file) {
  pollfd polled = {file, POLLIN, 0};
  return poll(&polled, 1, 0) == 1;
}

// A network of an input and an output of four floats, whose memory are LiteRT's buffers.
class AcceleratorMemory : public ::testing::Test {
 protected:
  AcceleratorMemory() {
    litert = &fake_;
    input_ = interpreter_.AddTensor({1, 4});
    output_ = interpreter_.AddTensor({1, 4});
    interpreter_.context().GetExternalContext = [](TfLiteContextOfTest*, int32_t) -> void* { return litert; };
  }
  ~AcceleratorMemory() override {
    for (const FakeBuffer* buffer : {&x_, &y_}) {
      EXPECT_EQ(buffer->shares, 1);
      EXPECT_EQ(buffer->locks, 0);
      if (buffer->event_file >= 0) close(buffer->event_file);
    }
    litert = nullptr;
  }
  using TfLiteContextOfTest = tflite_c::TfLiteContext;

  Result<std::unique_ptr<BoundMemory>> Hold() {
    fake_.buffers = {{&interpreter_.tensor(input_), &x_}, {&interpreter_.tensor(output_), &y_}};
    return memory_.Hold(interpreter_.context(), std::array{input_}, std::array{output_});
  }

  FakeLiteRt fake_;
  testing::MockInterpreter interpreter_;
  int input_ = 0, output_ = 0;
  FakeBuffer x_{.memory = {1, 2, 3, 4}}, y_{.memory = {0, 0, 0, 0}};
  LiteRtMemory memory_{Functions(), nullptr};
};

TEST_F(AcceleratorMemory, HostMemoryIsUsedWhereItIs) {
  y_.memory.resize(6);
  y_.offset = 8;
  const auto held = Hold();
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ((*held)->inputs[0].data(), reinterpret_cast<std::byte*>(x_.memory.data()));
  EXPECT_EQ((*held)->outputs[0].data(), reinterpret_cast<std::byte*>(y_.memory.data() + 2));
  EXPECT_EQ((*held)->outputs[0].size(), 16u);
  EXPECT_EQ(x_.locks + y_.locks, 0);
  EXPECT_FALSE((*held)->is_async);
}

TEST_F(AcceleratorMemory, OtherMemoryIsLockedOnceAlsoIfItIsInputAndOutput) {
  x_.kind = kLiteRtTensorBufferTypeDmaBuf;
  fake_.buffers = {{&interpreter_.tensor(input_), &x_}, {&interpreter_.tensor(output_), &x_}};
  const auto held = memory_.Hold(interpreter_.context(), std::array{input_}, std::array{output_});
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(x_.locks, 1);
  EXPECT_EQ((*held)->inputs[0].data(), (*held)->outputs[0].data());
}

TEST_F(AcceleratorMemory, WithoutHandlesADevicesMemoryIsLocked) {
  LiteRtRuntime without_handles = Functions();
  without_handles.custom_handle = nullptr;
  x_.kind = kLiteRtTensorBufferTypeOpenClBuffer;
  fake_.buffers = {{&interpreter_.tensor(input_), &x_}, {&interpreter_.tensor(output_), &y_}};
  const auto held =
      LiteRtMemory(without_handles, nullptr).Hold(interpreter_.context(), std::array{input_}, std::array{output_});
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(x_.locks, 1);
  EXPECT_EQ((*held)->inputs[0].data(), reinterpret_cast<std::byte*>(x_.memory.data()));
}

TEST_F(AcceleratorMemory, ABufferThatIsTooSmallIsNamed) {
  y_.memory.resize(3);
  EXPECT_THAT(Hold().status().message(), HasSubstr("has 16 bytes, the buffer for it 12"));
  y_.memory.resize(4);
  y_.offset = 17;
  EXPECT_THAT(Hold().status().message(), HasSubstr("the buffer for it 0"));
}

TEST_F(AcceleratorMemory, AnInputsFenceIsWaitedForInTheInvocation) {
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  x_.has_input_event = true;
  x_.fence = pipe_ends[0];
  const auto held = Hold();
  ASSERT_TRUE(held.ok());
  close(pipe_ends[0]);  // the program destroys the event
  std::thread later([&] { EXPECT_EQ(write(pipe_ends[1], "x", 1), 1); });
  EXPECT_TRUE((*held)->Wait().ok());
  EXPECT_EQ(fake_.waits, 0);
  later.join();
  close(pipe_ends[1]);
}

TEST_F(AcceleratorMemory, AnotherEventOfAnInputIsWaitedForAtOnce) {
  x_.has_input_event = true;
  ASSERT_TRUE(Hold().ok());
  EXPECT_EQ(fake_.waits, 1);
}

TEST_F(AcceleratorMemory, AnAsynchronousInvocationSignalsItsOutputsWhenItIsOver) {
  fake_.is_async = true;
  auto held = Hold();
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE((*held)->is_async);
  ASSERT_GE(y_.event_file, 0);
  EXPECT_FALSE(IsReadable(y_.event_file));
  held->reset();
  EXPECT_TRUE(IsReadable(y_.event_file));
}

TEST_F(AcceleratorMemory, WhatMustBeLockedIsNotAsynchronous) {
  fake_.is_async = true;
  y_.kind = kLiteRtTensorBufferTypeOpenClBuffer;
  const auto held = Hold();
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE((*held)->is_async);
  EXPECT_EQ(y_.event_file, -1);
}

TEST_F(AcceleratorMemory, TellsSizesOfWhatNobodyElseReads) {
  const std::array inputs = {SizedTensor{input_, 16}}, outputs = {SizedTensor{output_, 160}};
  ASSERT_TRUE(memory_.Announce(interpreter_.context(), inputs, outputs, {input_}).ok());
  EXPECT_EQ(fake_.announced.size(), 1u);
  EXPECT_EQ(fake_.announced[&interpreter_.tensor(output_)], 160u);
}

TEST_F(AcceleratorMemory, TwoPairsOfOneShapeAreStates) {
  const int more_input = interpreter_.AddTensor({1, 4}), more_output = interpreter_.AddTensor({1, 4});
  const auto announce = [&](std::vector<SizedTensor> inputs, std::vector<SizedTensor> outputs) {
    ASSERT_TRUE(memory_.Announce(interpreter_.context(), inputs, outputs, {}).ok());
  };
  announce({{input_, 16}}, {{output_, 16}, {more_output, 16}});
  EXPECT_EQ(fake_.made_first[&interpreter_.tensor(input_)], kLiteRtTensorBufferTypeHostMemory);
  announce({{input_, 16}, {more_input, 16}}, {{output_, 16}, {more_output, 16}});
  for (const int tensor : {input_, more_input, output_, more_output})
    EXPECT_EQ(fake_.made_first[&interpreter_.tensor(tensor)], kHearthBuffer);
  interpreter_.tensor(more_output).type = tflite_c::kTfLiteInt32;
  announce({{input_, 16}, {more_input, 16}}, {{output_, 16}, {more_output, 16}});
  EXPECT_EQ(fake_.made_first[&interpreter_.tensor(input_)], kLiteRtTensorBufferTypeHostMemory);
}

TEST_F(AcceleratorMemory, MemoryThatStaysOnTheDeviceIsNotLocked) {
  HwMemoryInfo* made = nullptr;
  ASSERT_EQ(CreateHearthBuffer(nullptr, nullptr, nullptr, kHearthBuffer, 16, 16, &made), kLiteRtStatusOk);
  x_.kind = kHearthBuffer;
  x_.on_device = static_cast<DeviceMemory*>(made->memory_handle);
  fake_.is_async = true;
  {
    const auto held = Hold();
    ASSERT_TRUE(held.ok()) << held.status().message();
    EXPECT_THAT((*held)->inputs_on_device, ElementsAre(x_.on_device));
    EXPECT_THAT((*held)->outputs_on_device, ElementsAre(nullptr));
    EXPECT_TRUE((*held)->inputs[0].empty());
    EXPECT_TRUE((*held)->is_async);
  }
  void* host = nullptr;
  ASSERT_EQ(LockHearthBuffer(made, kLiteRtTensorBufferLockModeWrite, &host), kLiteRtStatusOk);
  static_cast<float*>(host)[3] = 5;
  EXPECT_EQ(UnlockHearthBuffer(made), kLiteRtStatusOk);
  EXPECT_EQ(ClearHearthBuffer(made), kLiteRtStatusOk);
  EXPECT_EQ(static_cast<float*>(host)[3], 0);
  EXPECT_EQ(DestroyHearthBuffer(made), kLiteRtStatusOk);
  EXPECT_EQ(CreateHearthBuffer(nullptr, nullptr, nullptr, kHearthBuffer, 16, 16, nullptr),
            kLiteRtStatusErrorInvalidArgument);
}

// ---- Tables of functions ----

struct Table {
  LiteRtAbiHeader header = {sizeof(Table), 1, 0, 0};
  std::array<void*, 51> functions;
  Table() { functions.fill(reinterpret_cast<void*>(&BufferOf)); }
  const LiteRtRuntimeContext* get() const { return reinterpret_cast<const LiteRtRuntimeContext*>(this); }
};

TEST(AcceleratorRuntime, TakesATableOfItsVersionAlsoIfItIsLarger) {
  Table table;
  table.header.struct_size = 4096;
  table.header.minor_version = 7;
  EXPECT_TRUE(LiteRtRuntime::FromContext(table.get()).ok());
}

TEST(AcceleratorRuntime, RefusesAnotherMajorVersionWithASentence) {
  for (const uint16_t major : {0, 2}) {
    Table table;
    table.header.major_version = major;
    const Status status = LiteRtRuntime::FromContext(table.get()).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(), HasSubstr("take a newer Hearth"));
  }
  EXPECT_EQ(LiteRtRuntime::FromContext(nullptr).status().code(), StatusCode::kUnsupported);
}

TEST(AcceleratorRuntime, ReadsNothingBeyondTheTablesSize) {
  std::vector<std::byte> exact(160);  // up to unwrap_delegate
  const Table table;
  std::memcpy(exact.data(), &table, exact.size());
  const uint16_t size = 160;
  std::memcpy(exact.data(), &size, sizeof size);
  const Status status =
      LiteRtRuntime::FromContext(reinterpret_cast<const LiteRtRuntimeContext*>(exact.data())).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("LiteRtDestroyTensorBuffer"));
}

TEST(AcceleratorRuntime, DoesWithoutWhatOnlyNewerOnesHave) {
  Table table;
  table.header.struct_size = 400;  // 2.2
  const Result<LiteRtRuntime> runtime = LiteRtRuntime::FromContext(table.get());
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  EXPECT_EQ(runtime->hardware, nullptr);
}

TEST(AcceleratorRuntime, SaysThatAProcessWithoutLiteRtHasNone) {
  EXPECT_THAT(LiteRtRuntime::FromLibrary().status().message(), HasSubstr("2.1.6 or later"));
}

}  // namespace
}  // namespace hearth
