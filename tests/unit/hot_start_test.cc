// Sessions that the CPU answers until the device behind is ready.
#include "frontends/api/hot_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "frontends/api/device_behind.h"
#include "frontends/api/next_device.h"
#include "hearth/graph_builder.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::CallFault;
using testing::FailingDevice;
using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::MemoryStore;
using testing::TheFakeBackends;

constexpr int kCount = 8;

Model ModelOf(GraphBuilder builder) {
  Result<Model> model = std::move(builder).Build();
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

// y = x + the sum of all earlier x.
Model Sum() {
  GraphBuilder builder("sum");
  const auto x = builder.Input("x", {1, 1, 2, 4});
  const auto sum = builder.State("sum", {1, 1, 2, 4});
  const auto next = builder.Binary("add", sum, x);
  builder.Update(sum, next);
  builder.Output(next, "y");
  return ModelOf(std::move(builder));
}

// Opening waits here until the test lets it go on.
class Gate {
 public:
  void Pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return is_open_; });
  }
  void Open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

class HotStart : public ::testing::Test {
 protected:
  ~HotStart() override { TheFakeBackends() = {}; }

  // A software driver that says it is a GPU, opens when the gate lets it, and fails where `fault_` says; without one,
  // the null device.
  void SetUp() override {
    for (const ListedDevice& listed : ListAllDevices()) {
      if (listed.backend == nullptr || !listed.candidate.usable) continue;
      Result<std::unique_ptr<Device>> opened = listed.backend->open(listed.candidate);
      if (opened.ok()) inner_ = std::move(opened).value();
      if (opened.ok()) break;
    }
    if (inner_ == nullptr) inner_ = std::make_unique<NullDevice>(NullDeviceInfo());
    TheFakeBackends().first = {{"fake", DeviceType::kDiscreteGpu, "", [this]() -> Result<std::unique_ptr<Device>> {
                                  if (before_gate_) before_gate_();
                                  if (is_gated_) gate_.Pass();
                                  HEARTH_TRY(open_status_);
                                  DeviceInfo info = inner_->info();
                                  info.type = DeviceType::kDiscreteGpu;
                                  return std::unique_ptr<Device>(
                                      std::make_unique<FailingDevice>(*inner_, fault_, info, ""));
                                }}};
  }

  bool Computes() const { return inner_->info().backend != "null"; }

  SessionOptions Options(const std::string& start, const std::string& device = "first") const {
    SessionOptions options;
    options.device = device;
    options.start = start;
    options.use_cache = false;
    options.max_in_flight = 3;
    return options;
  }

  Result<Session> Start(const Model& model, const SessionOptions& options,
                        const std::shared_ptr<BlobStore>& store = {}) {
    auto data = std::make_unique<SessionData>();
    data->options = options;
    data->model = &model;
    data->store = store;
    if (store != nullptr) data->waits = std::make_shared<SessionWaits>();
    data->move_rule = rule_;
    data->backends = FakeBackendRows();
    return CreateSession(std::move(data));
  }

  // All elements 1.
  static Status RunOnce(Session& session) {
    const std::vector<float> ones(kCount, 1.0f);
    HEARTH_TRY(session.SetInput(0, std::as_bytes(std::span(ones))));
    return session.Run();
  }

  static float OutputOf(const Session& session) {
    float output = 0;
    std::memcpy(&output, session.output(0).data(), sizeof(float));
    return output;
  }

  // Of the device; the null device computes nothing.
  void ExpectOutput(const Session& session, float expected) const {
    if (Computes()) {
      EXPECT_EQ(OutputOf(session), expected);
    }
  }

  MoveRule rule_ = MoveRule::kWhenReady;
  bool is_gated_ = false;
  Gate gate_;
  std::function<void()> before_gate_;
  Status open_status_;
  CallFault fault_;
  std::unique_ptr<Device> inner_;
};

TEST_F(HotStart, TheCpuAnswersWhileTheDeviceIsBeingOpened) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int run = 1; run <= 3; ++run) {
    ASSERT_TRUE(RunOnce(*session).ok());
    EXPECT_EQ(OutputOf(*session), static_cast<float>(run));
  }
  const Report& report = session->report();
  EXPECT_EQ(report.device.id, "cpu");
  EXPECT_EQ(report.start.mode, "hot");
  EXPECT_EQ(report.start.first_by, "cpu");
  EXPECT_FALSE(report.start.moved_at_run);
  EXPECT_FALSE(report.start.is_settled);
  EXPECT_THAT(report.start.reason, HasSubstr("'first' is being made ready behind the CPU"));
  gate_.Open();
}

TEST_F(HotStart, StateGoesAlongToTheDevice) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (int run = 1; run <= 2; ++run) ASSERT_TRUE(RunOnce(*session).ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  for (int run = 3; run <= 5; ++run) {
    ASSERT_TRUE(RunOnce(*session).ok());
    ExpectOutput(*session, static_cast<float>(run));
  }
  const Report& report = session->report();
  EXPECT_EQ(report.device.id, "first:0");
  EXPECT_EQ(report.start.first_by, "cpu");
  EXPECT_EQ(report.start.moved_at_run, 3u);
  EXPECT_TRUE(report.start.is_settled);
  EXPECT_THAT(report.start.reason, HasSubstr("first:0 was ready after"));
  EXPECT_GT(report.memory.both_live_bytes, report.memory.needed_bytes);
  ASSERT_TRUE(session->ResetState().ok());
  ASSERT_TRUE(RunOnce(*session).ok());
  ExpectOutput(*session, 1);
}

TEST_F(HotStart, TheDeviceAnswersWithTheBitsOfAReadySession) {
  if (!Computes()) GTEST_SKIP() << "no GPU driver, and the null device computes nothing";
  GraphBuilder builder("curve");
  builder.Output(builder.Unary("tanh", builder.Unary("exp", builder.Input("x", {1, 4, 4, 8}))), "y");
  const Model model = ModelOf(std::move(builder));
  std::vector<float> x(128);
  for (size_t k = 0; k < x.size(); ++k) x[k] = 0.013f * static_cast<float>(k) - 0.7f;
  const auto answer = [&](const std::string& start) {
    Result<Session> session = Start(model, Options(start));
    EXPECT_TRUE(session.ok() && session->WaitForDevice().ok());
    if (!session.ok()) return std::vector<std::byte>();
    EXPECT_TRUE(session->SetInput(0, std::as_bytes(std::span(x))).ok() && session->Run().ok());
    EXPECT_EQ(session->report().device.id, "first:0");
    const std::span<const std::byte> y = session->output(0);
    return std::vector<std::byte>(y.begin(), y.end());
  };
  EXPECT_EQ(answer("hot"), answer("ready"));
}

TEST_F(HotStart, RunsInFlightKeepTheirAnswersWhenTheSessionMoves) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> ones(kCount, 1.0f);
  ASSERT_TRUE(session->SetInput(0, std::as_bytes(std::span(ones))).ok());
  std::vector<Ticket> tickets;
  for (int run = 1; run <= 3; ++run) {
    if (run == 3) {
      gate_.Open();
      ASSERT_TRUE(session->WaitForDevice().ok());
    }
    const Result<Ticket> ticket = session->Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  }
  EXPECT_EQ(session->report().start.moved_at_run, 3u);
  EXPECT_EQ(session->report().start.first_by, "cpu");
  for (const int run : {2, 3, 1}) {
    const Status status = session->Wait(tickets[static_cast<size_t>(run - 1)]);
    ASSERT_TRUE(status.ok()) << status.message();
    ExpectOutput(*session, static_cast<float>(run));
  }
}

TEST_F(HotStart, BoundHostMemoryGoesAlong) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  std::vector<float> memory(kCount, 1.0f);
  Binding binding;
  binding.memory = MemoryKind::kHost;
  binding.handle = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory.data()));
  binding.size_bytes = sizeof(float) * kCount;
  ASSERT_TRUE(session->BindInput("x", binding).ok());
  ASSERT_TRUE(session->Run().ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  memory.assign(kCount, 10.0f);
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(session->report().device.id, "first:0");
  ExpectOutput(*session, 11);
}

TEST_F(HotStart, DeviceMemoryCanNotBeBoundBeforeTheMove) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  Binding binding;
  binding.memory = MemoryKind::kClBuffer;
  binding.handle = 1;
  binding.size_bytes = sizeof(float) * kCount;
  const Status status = session->BindInput("x", binding);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("start"));
  gate_.Open();
}

// Every call to the driver behind fails once; no run does.
TEST_F(HotStart, ADeviceThatFailsBehindIsTheReasonToStayOnTheCpu) {
  const Model model = Sum();
  int failures = 0;
  for (int call = 1; call < 100; ++call) {
    SCOPED_TRACE(call);
    fault_.Arm(call, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
    Result<Session> session = Start(model, Options("hot"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    const Status device = session->WaitForDevice();
    if (!fault_.Disarm()) break;
    ++failures;
    EXPECT_FALSE(device.ok());
    for (int run = 1; run <= 2; ++run) {
      ASSERT_TRUE(RunOnce(*session).ok());
      EXPECT_EQ(OutputOf(*session), static_cast<float>(run));
    }
    const Report& report = session->report();
    EXPECT_EQ(report.device.id, "cpu");
    EXPECT_FALSE(report.start.moved_at_run);
    EXPECT_TRUE(report.start.is_settled);
    EXPECT_THAT(report.start.reason, HasSubstr("the GPU fell off the bus"));
    EXPECT_EQ(report.warnings.size(), 1u);
  }
  EXPECT_GE(failures, 5);
}

TEST_F(HotStart, AStateThatTheDeviceDoesNotTakeKeepsTheSessionOnTheCpu) {
  const Model model = Sum();
  is_gated_ = true;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  gate_.Open();
  ASSERT_TRUE(session->WaitForDevice().ok());
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "the GPU fell off the bus"));
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_TRUE(fault_.Disarm());
  EXPECT_EQ(OutputOf(*session), 2.0f);
  EXPECT_EQ(session->report().device.id, "cpu");
  EXPECT_THAT(session->report().start.reason, HasSubstr("the GPU fell off the bus"));
}

TEST_F(HotStart, ASessionMayEndWhileItsDeviceIsMadeReady) {
  const Model model = Sum();
  for (int runs = 0; runs < 2; ++runs) {
    Result<Session> session = Start(model, Options("hot"));
    ASSERT_TRUE(session.ok()) << session.status().message();
    for (int run = 0; run < runs; ++run) ASSERT_TRUE(RunOnce(*session).ok());
  }
}

TEST_F(HotStart, ASessionThatEndsBeginsNoFurtherCallToTheDriver) {
  const Model model = Sum();
  SessionData data;
  data.options = Options("hot");
  data.model = &model;
  data.backends = FakeBackendRows();
  std::unique_ptr<SessionData> next = DataBeside(data);
  // Opening takes until the end is asked for.
  is_gated_ = true;
  before_gate_ = [&, &next = *next] {
    const std::stop_callback opens(next.stop, [&] { gate_.Open(); });
    gate_.Pass();
  };
  fault_.Arm(1, Status(StatusCode::kDeviceLost, "a call came"));
  { const DeviceBehind behind(std::move(next)); }
  EXPECT_FALSE(fault_.Disarm());
}

TEST_F(HotStart, ADeviceThatIsNotFasterIsLeftWithTheReason) {
  const Model model = Sum();
  rule_ = MoveRule::kWhenFaster;
  Result<Session> session = Start(model, Options("hot"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  ASSERT_TRUE(session->WaitForDevice().ok());
  EXPECT_THAT(session->report().start.reason, HasSubstr("too few to compare"));
  int runs = 1;
  while (!session->report().start.is_settled && runs < 100) {
    ASSERT_TRUE(RunOnce(*session).ok());
    ++runs;
  }
  const Report& report = session->report();
  EXPECT_LE(runs, 6);
  EXPECT_THAT(report.start.reason, HasSubstr("ms a run, the CPU"));
  EXPECT_EQ(report.device.id == "cpu", report.start.reason.find("stays on the CPU") != std::string::npos);
  EXPECT_EQ(report.device.id == "cpu", !report.start.moved_at_run.has_value());
}

TEST_F(HotStart, WhatTheDeviceBehindMadeIsStored) {
  const Model model = Sum();
  const auto store = std::make_shared<MemoryStore>();
  const auto start = [&](bool moves) {
    Result<Session> session = Start(model, Options("hot"), store);
    EXPECT_TRUE(session.ok() && RunOnce(*session).ok() && session->WaitForDevice().ok());
    if (!session.ok()) return -1;
    EXPECT_TRUE(!moves || RunOnce(*session).ok());
    return session->report().programs.compiled;
  };
  start(false);  // ready, but never moved to
  EXPECT_FALSE(store->entries().empty());
  start(true);  // the probe of read paths that was stored may have changed the plan
  EXPECT_EQ(start(true), 0);
}

TEST_F(HotStart, AutoStartsHotWhereTheCacheHasNothingOfTheModel) {
  const Model model = Sum();
  const auto store = std::make_shared<MemoryStore>();
  for (const char* mode : {"hot", "ready"}) {
    Result<Session> session = Start(model, Options("", "auto"), store);
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_EQ(session->report().start.mode, mode);
    ASSERT_TRUE(RunOnce(*session).ok());
    ASSERT_TRUE(session->WaitForDevice().ok());
    ASSERT_TRUE(RunOnce(*session).ok());
    EXPECT_EQ(session->report().device.id, "first:0");
    EXPECT_EQ(session->report().start.first_by, mode == std::string("hot") ? "cpu" : "first:0");
  }
}

TEST_F(HotStart, ANamedDeviceAndTheCpuStartReady) {
  const Model model = Sum();
  for (const auto& [start, device] : {std::pair("", "first"), std::pair("hot", "cpu"), std::pair("ready", "auto")}) {
    Result<Session> session = Start(model, Options(start, device));
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_EQ(session->report().start.mode, "ready") << device;
    EXPECT_TRUE(session->report().start.is_settled);
    EXPECT_FALSE(session->report().start.reason.empty());
    EXPECT_TRUE(session->WaitForDevice().ok());
  }
}

TEST_F(HotStart, ADeviceThatDoesNotExistIsToldBehindTheAnswer) {
  const Model model = Sum();
  Result<Session> session = Start(model, Options("hot", "no such device"));
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_EQ(session->WaitForDevice().code(), StatusCode::kUnavailable);
  EXPECT_THAT(session->report().start.reason, HasSubstr("no such device"));
}

TEST_F(HotStart, AWayToStartThatThereIsNotIsAnError) {
  const Model model = Sum();
  const Status status = Start(model, Options("warm")).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("there are ready and hot"));
}

TEST_F(HotStart, AMemoryLimitIsKeptOrRefusedWithTheBytesNeeded) {
  const Model model = Sum();
  SessionOptions options = Options("ready");
  options.max_in_flight = 1;
  Result<Session> session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const uint64_t needed = session->report().memory.needed_bytes;
  ASSERT_GT(needed, 0u);
  options.memory_limit_bytes = needed - 1;
  const Status refused = Start(model, options).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr(fmt::format("first:0 needs {} bytes", needed)));
  options.memory_limit_bytes = needed;
  session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  const Result<Ticket> ticket = session->Submit();  // needs memory of its own
  EXPECT_EQ(ticket.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(ticket.status().message(), HasSubstr("memory limit"));
}

TEST_F(HotStart, AMemoryLimitThatOnlyTheCpuFitsIsWhyTheSessionStaysThere) {
  const Model model = Sum();
  Result<Session> cpu = Start(model, Options("ready", "cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  SessionOptions options = Options("hot");
  options.memory_limit_bytes = cpu->report().memory.needed_bytes + 1;
  Result<Session> session = Start(model, options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(RunOnce(*session).ok());
  EXPECT_FALSE(session->WaitForDevice().ok());
  EXPECT_THAT(session->report().start.reason, HasSubstr("the memory limit leaves 1"));
}

}  // namespace
}  // namespace hearth
