// Sessions under `auto` whose first device fails: at the start, or at the Nth call of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "runtime/session/session_data.h"
#include "tests/testing/built_models.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/pictures.h"
#include "tests/testing/shared_memory.h"

namespace hearth {
namespace {

using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::NegationModel;
using testing::SharedMemory;
using testing::SumModel;
using testing::TestPicture;

constexpr int kNumbers = 8;

std::vector<float> Numbers(float first) {
  std::vector<float> numbers(kNumbers);
  for (int k = 0; k < kNumbers; ++k) numbers[k] = first + static_cast<float>(k);
  return numbers;
}

std::vector<float> OutputOf(const Session& session) {
  std::vector<float> output(kNumbers);
  std::memcpy(output.data(), session.output(0).data(), sizeof(float) * kNumbers);
  return output;
}

size_t Count(const std::vector<std::string>& texts, const std::string& part) {
  return static_cast<size_t>(
      std::ranges::count_if(texts, [&](const std::string& text) { return text.find(part) != std::string::npos; }));
}

class NextDevice : public testing::FakeGpuTest {
 protected:
  Result<Session> Start(const Model& model, const std::string& device = "auto", uint64_t memory_limit_bytes = 0) {
    SessionRequest request;
    request.options.device = device;
    request.options.memory_limit_bytes = memory_limit_bytes;
    request.options.start = "ready";
    request.options.use_cache = false;
    request.options.max_in_flight = 3;
    request.trusts_devices = true;
    request.backends = FakeBackendRows();
    return CreateSession(model, std::move(request));
  }

  static Status RunWith(Session& session, float first) {
    const std::vector<float> numbers = Numbers(first);
    HEARTH_TRY(session.SetInput(0, std::as_bytes(std::span(numbers))));
    return session.Run();
  }
};

TEST_F(NextDevice, ADriverThatFailsAtAnyCallOfAStartIsLeftForTheNext) {
  const Model model = NegationModel({1, 1, 2, 4});
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    // The backend's own word for a refused program; Compile makes one code of it.
    fault_.Arm(call, Status(StatusCode::kUnavailable, "the driver's compiler crashed"));
    Result<Session> session = Start(model);
    const bool came = fault_.Disarm();
    ASSERT_TRUE(session.ok()) << session.status().message();
    if (!came) break;
    ++failures;
    EXPECT_EQ(session->report().device.id, "cpu");
    EXPECT_EQ(Count(session->report().warnings, "first:0 could not be made ready"), 1u);
    EXPECT_EQ(Count(session->report().warnings, "the driver's compiler crashed"), 1u);
    ASSERT_TRUE(RunWith(*session, 1).ok());
    EXPECT_EQ(OutputOf(*session)[2], -3.0f);
  }
  EXPECT_GE(failures, 3);
}

TEST_F(NextDevice, ANamedDeviceThatFailsIsAnError) {
  const Model model = NegationModel({1, 1, 2, 4});
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "lost"));
  EXPECT_EQ(Start(model, "first").status().code(), StatusCode::kDeviceLost);
  fault_.Disarm();
  Result<Session> session = Start(model, "first");
  ASSERT_TRUE(session.ok()) << session.status().message();
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "lost"));
  EXPECT_EQ(RunWith(*session, 1).code(), StatusCode::kDeviceLost);
}

// Three runs; the device is lost at each call of them.
TEST_F(NextDevice, ADeviceLostAtAnyCallOfARunGivesTheRightAnswersElsewhereStateIncluded) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Model model = SumModel();
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_EQ(session->report().device.id, "first:0");
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    for (int run = 1; run <= 3; ++run) {
      const Status status = RunWith(*session, 1);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(OutputOf(*session)[2], 3.0f * static_cast<float>(run)) << "run " << run;
    }
    if (!fault_.Disarm()) break;
    ++failures;
    const Report& report = session->report();
    EXPECT_EQ(report.device.id, "cpu");
    EXPECT_EQ(report.device.reason, "first:0 failed in a run");
    EXPECT_EQ(Count(report.warnings, "first:0 failed in a run, the next device is taken: "), 1u);
    EXPECT_EQ(report.warnings.size(), 1u);
  }
  EXPECT_GE(failures, 9);
}

TEST_F(NextDevice, RunsInFlightAreRepeatedElsewhere) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Model model = SumModel();
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_TRUE(RunWith(*session, 10).ok());
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    std::vector<Ticket> tickets;
    for (int run = 0; run < 3; ++run) {
      const std::vector<float> numbers = Numbers(1);
      ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(numbers))).ok());
      const Result<Ticket> ticket = session->Submit();
      ASSERT_TRUE(ticket.ok()) << ticket.status().message();
      tickets.push_back(*ticket);
    }
    const Status first = session->Wait(tickets[0]);
    ASSERT_TRUE(first.ok()) << first.message();
    EXPECT_EQ(OutputOf(*session)[0], 11.0f);
    const bool came = fault_.Disarm();  // with state, what fails behind a run that was waited for is lost
    for (int run = 1; run < 3; ++run) {
      const Status status = session->Wait(tickets[run]);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(OutputOf(*session)[0], 11.0f + static_cast<float>(run));
    }
    if (!came) break;
    ++failures;
    EXPECT_EQ(session->report().device.id, "cpu");
  }
  EXPECT_GT(failures, 5);
}

constexpr int32_t kMovedRows = 5, kMovedColumns = 6;

std::vector<float> NegativesOf(const Frame& frame) {
  std::vector<float> values = testing::ExpectedValues(frame, kMovedRows, kMovedColumns, 3);
  for (float& value : values) value = -value;
  return values;
}

std::vector<float> FloatsOf(const Session& session) {
  const Result<std::span<const float>> floats = session.output<float>(0);
  return floats.ok() ? std::vector<float>(floats->begin(), floats->end()) : std::vector<float>();
}

// The device was to spare the CPU the conversion: a run in flight keeps the picture, not the input made from it.
TEST_F(NextDevice, PicturesInFlightAreKeptAsTheyAreAndRepeatedElsewhere) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Model model = NegationModel({1, kMovedRows, kMovedColumns, 3});
  for (const uint64_t memory_limit_bytes : {uint64_t{0}, uint64_t{1} << 30}) {
    int failures = 0;
    for (int call = 1; call < 100; ++call) {
      SCOPED_TRACE(call);
      Result<Session> session = Start(model, "auto", memory_limit_bytes);
      ASSERT_TRUE(session.ok()) << session.status().message();
      std::vector<Ticket> tickets;
      std::vector<std::vector<float>> expected;
      for (uint32_t run = 0; run < 3; ++run) {
        const TestPicture picture(PixelFormat::kNv12, 40, 30, run);  // gone when the run is waited for
        Frame frame = picture.frame();
        frame.crop = {static_cast<int32_t>(run), 3, 30, 20};
        expected.push_back(NegativesOf(frame));
        ASSERT_TRUE(session->BindFrame("x", frame).ok());
        if (run == 0) fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
        const Result<Ticket> ticket = session->Submit();
        ASSERT_TRUE(ticket.ok()) << ticket.status().message();
        tickets.push_back(*ticket);
        if (session->report().device.id != "first:0") continue;
        const RunSlot& slot = SessionData::Of(*session)->context->caller().slots[run];
        EXPECT_EQ(std::holds_alternative<KeptFrame>(slot.inputs[0]), memory_limit_bytes == 0);
      }
      for (const size_t run : {1u, 0u, 2u}) {
        const Status status = session->Wait(tickets[run]);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(FloatsOf(*session), expected[run]) << "run " << run;
      }
      if (!fault_.Disarm()) break;
      ++failures;
      EXPECT_EQ(session->report().device.id, "cpu");
    }
    EXPECT_GT(failures, 5);
  }
}

Frame InDmaBuf(Frame frame, const SharedMemory& memory) {
  frame.memory = MemoryKind::kDmaBuf;
  frame.planes[0].handle = memory.descriptor();
  frame.planes[0].size_bytes = 0;
  return frame;
}

TEST_F(NextDevice, APictureInADmaBufThatTheHostReadsMovesAlong) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  const Model model = NegationModel({1, kMovedRows, kMovedColumns, 3});
  const TestPicture picture(PixelFormat::kRgba8, 40, 30, 1);
  const SharedMemory memory(picture.memory(0));
  fault_.imports_dma_bufs = false;
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    ASSERT_TRUE(session->BindFrame("x", InDmaBuf(picture.frame(), memory)).ok());
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    ASSERT_TRUE(session->Run().ok());
    EXPECT_EQ(FloatsOf(*session), NegativesOf(picture.frame()));
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    ASSERT_TRUE(session->Wait(*ticket).ok());
    EXPECT_EQ(FloatsOf(*session), NegativesOf(picture.frame()));
    if (!fault_.Disarm()) break;
    ++failures;
    EXPECT_EQ(session->report().device.id, "cpu");
  }
  EXPECT_GT(failures, 5);
}

// The first device imports it, the host reads it for the next; so it does for runs in flight.
TEST_F(NextDevice, APictureInADmaBufThatTheDeviceImportedMovesAlong) {
  const Model model = NegationModel({1, kMovedRows, kMovedColumns, 3});
  const TestPicture picture(PixelFormat::kRgba8, 40, 30, 1);
  const SharedMemory memory(picture.memory(0));
  fault_.imports_dma_bufs = true;
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const Status bound = session->BindFrame("x", InDmaBuf(picture.frame(), memory));
    ASSERT_TRUE(bound.ok()) << bound.message();
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    const Result<Ticket> first = session->Submit();
    ASSERT_TRUE(first.ok()) << first.status().message();
    const Result<Ticket> second = session->Submit();
    ASSERT_TRUE(second.ok()) << second.status().message();
    const Status waited = session->Wait(*first);
    ASSERT_TRUE(waited.ok()) << waited.message();
    const std::vector<float> of_first = FloatsOf(*session);
    ASSERT_TRUE(session->Wait(*second).ok());
    const std::vector<float> of_second = FloatsOf(*session);
    if (!fault_.Disarm()) break;
    ++failures;
    EXPECT_EQ(session->report().device.id, "cpu");
    // What finished before the loss has the content of the imitated import.
    EXPECT_EQ(of_second, NegativesOf(picture.frame()));
    if (call == 1) {
      EXPECT_EQ(of_first, of_second);
    }
    ASSERT_TRUE(session->Run().ok());
    EXPECT_EQ(FloatsOf(*session), of_second);
  }
  EXPECT_GT(failures, 3);
}

// Frames in turns: the second is bound while the first run is in flight, and taken back before it is waited for.
TEST_F(NextDevice, EachRunInFlightIsRepeatedWithThePictureThatItWasSubmittedWith) {
  const Model model = NegationModel({1, kMovedRows, kMovedColumns, 3});
  const TestPicture one(PixelFormat::kRgba8, 40, 30, 1), two(PixelFormat::kRgba8, 40, 30, 2);
  const SharedMemory of_one(one.memory(0)), of_two(two.memory(0));
  const std::vector<float> numbers(size_t{kMovedRows} * kMovedColumns * 3, 2.0f);
  fault_.imports_dma_bufs = true;
  Result<Session> session = Start(model);
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<Ticket> tickets;
  const auto submit = [&] {
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  };
  ASSERT_TRUE(session->BindFrame("x", InDmaBuf(one.frame(), of_one)).ok());
  submit();
  ASSERT_TRUE(session->BindFrame("x", InDmaBuf(two.frame(), of_two)).ok());
  submit();
  ASSERT_TRUE(session->UnbindInput("x").ok());
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(numbers))).ok());
  submit();
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  const std::vector<float> expected[] = {NegativesOf(one.frame()), NegativesOf(two.frame()),
                                         std::vector<float>(numbers.size(), -2.0f)};
  for (size_t run = 0; run < std::size(expected); ++run) {
    const Status waited = session->Wait(tickets[run]);
    ASSERT_TRUE(waited.ok()) << waited.message();
    EXPECT_EQ(FloatsOf(*session), expected[run]) << "run " << run;
  }
  EXPECT_EQ(session->report().device.id, "cpu");
}

// docs/choosing-a-device.md lists this exception.
TEST_F(NextDevice, APictureInADmaBufThatOnlyTheDeviceCanReadMakesALossAnError) {
  const Model model = NegationModel({1, kMovedRows, kMovedColumns, 3});
  const TestPicture picture(PixelFormat::kRgba8, 40, 30, 1);
  const SharedMemory memory(picture.memory(0));
  Frame tiled = InDmaBuf(picture.frame(), memory);
  tiled.drm_modifier = 0x0100000000000001;
  fault_.imports_dma_bufs = true;
  Result<Session> session = Start(model);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const Status bound = session->BindFrame("x", tiled);
  ASSERT_TRUE(bound.ok()) << bound.message();
  ASSERT_TRUE(session->Run().ok());
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  const Status lost = session->Run();
  EXPECT_EQ(lost.code(), StatusCode::kDeviceLost);
  EXPECT_NE(lost.message().find("the next device can't repeat the run: the host can't read"), std::string::npos)
      << lost.message();
  EXPECT_EQ(session->report().device.id, "first:0");
  // Without the picture the next loss is no error.
  ASSERT_TRUE(session->UnbindInput("x").ok());
  const std::vector<float> numbers(size_t{kMovedRows} * kMovedColumns * 3, 2.0f);
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(numbers))).ok());
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_EQ(FloatsOf(*session), std::vector<float>(numbers.size(), -2.0f));
}

TEST_F(NextDevice, AnInputInTheMemoryOfAnOutputIsRepeatedAsItWas) {
  const Model model = NegationModel({1, 1, 2, 4});
  for (int call = 1; call <= 6; ++call) {
    SCOPED_TRACE(call);
    Result<Session> session = Start(model);
    ASSERT_TRUE(session.ok()) << session.status().message();
    std::vector<float> memory = Numbers(1);
    const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(memory))};
    const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(memory))};
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "lost"));
    ASSERT_TRUE(session->Run(inputs, outputs).ok());
    if (!fault_.Disarm()) break;
    EXPECT_EQ(memory[2], -3.0f);
  }
}

}  // namespace
}  // namespace hearth
