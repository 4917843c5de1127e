#include "tests/fault/driver_call_faults.h"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "hearth/graph_builder.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/sample.h"

namespace hearth::testing {
namespace {

constexpr int kRuns = 3, kSize = 6, kInputChannels = 4, kChannels = 8;
constexpr size_t kInputs = size_t{kSize} * kSize * kInputChannels, kOutputs = size_t{kSize} * kSize * kChannels;

std::vector<float> Numbers(size_t count, float step) {
  std::vector<float> numbers(count);
  for (size_t k = 0; k < count; ++k) numbers[k] = std::sin(step * static_cast<float>(k));
  return numbers;
}

// y = softmax(conv(x)) + the same of all earlier x.
const Model& TheModel() {
  static const Result<Model> model = [] {
    GraphBuilder builder("sums of a convolution");
    const auto x = builder.Input("x", {1, kSize, kSize, kInputChannels});
    const auto filter = builder.Constant("filter", {kChannels, 3, 3, kInputChannels},
                                         Numbers(size_t{kChannels} * 9 * kInputChannels, 0.7f));
    const auto sum = builder.State("sum", {1, kSize, kSize, kChannels});
    const auto next = builder.Binary("add", sum, builder.Softmax(builder.Conv2D(x, filter, {}, {})));
    builder.Update(sum, next);
    builder.Output(next, "y");
    return std::move(builder).Build();
  }();
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.value();
}

Status RunOnce(Session& session) {
  static const std::vector<float> input = Numbers(kInputs, 0.3f);
  HEARTH_TRY(session.SetInput(0, std::as_bytes(std::span(input))));
  return session.Run();
}

std::vector<float> OutputOf(const Session& session) {
  std::vector<float> output(kOutputs);
  std::memcpy(output.data(), session.output(0).data(), sizeof(float) * kOutputs);
  return output;
}

// What the CPU says to the first run.
const std::vector<float>& FirstAnswer() {
  static const std::vector<float> answer = [] {
    Result<Session> session = Session::Create(TheModel(), {.device = "cpu", .use_cache = false});
    EXPECT_TRUE(session.ok() && RunOnce(*session).ok());
    return OutputOf(*session);
  }();
  return answer;
}

Result<DeviceCandidate> FirstUsable(const BackendDef& backend) {
  std::string why = "no device";
  for (DeviceCandidate& candidate : backend.enumerate()) {
    if (candidate.usable) return std::move(candidate);
    why = candidate.unusable_reason;
  }
  return Status(StatusCode::kUnavailable, why);
}

Result<std::unique_ptr<Device>> OpenAsAGpu(const std::string& name) {
  const BackendDef* backend = FindGpuBackend(name);
  HEARTH_ASSIGN(DeviceCandidate candidate, FirstUsable(*backend));
  candidate.profile = *FindDeviceProfile("navi21");
  return backend->open(candidate);
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += text + "\n";
  return joined;
}

}  // namespace

std::string FaultName(const ::testing::TestParamInfo<DriverFault>& info) {
  return info.param == DriverFault::kLost          ? "Lost"
         : info.param == DriverFault::kOutOfMemory ? "OutOfMemory"
                                                   : "Refused";
}

DriverCallFaults::~DriverCallFaults() {
  TheFakeBackends() = {};
  TheDriverCalls().Stop();
}

void DriverCallFaults::Begin(const std::string& backend) {
  backend_ = backend;
  const Result<DeviceCandidate> usable = FirstUsable(*FindGpuBackend(backend));
  if (!usable.ok()) GTEST_SKIP() << usable.status().message();
  TheFakeBackends().first = {{"fake", DeviceType::kDiscreteGpu, "", [this] { return OpenAsAGpu(backend_); }}};
}

Result<Session> DriverCallFaults::Start(const std::string& device) const {
  SessionRequest request;
  request.options.device = device;
  request.options.start = "ready";
  request.options.use_cache = false;
  request.backends = FakeBackendRows();
  return CreateSession(TheModel(), std::move(request));
}

void DriverCallFaults::ExpectAnswer(const Session& session, int run) {
  const std::vector<float> output = OutputOf(session);
  for (size_t k = 0; k < kOutputs; ++k)
    ASSERT_NEAR(output[k], FirstAnswer()[k] * static_cast<float>(run), 1e-4) << "element " << k << ", run " << run;
}

std::vector<std::string> DriverCallFaults::CallsOfASession() {
  FirstAnswer();
  std::vector<std::string> calls;
  for (int start = 0; start < 2; ++start) {  // what is only done once in a process is not in the second
    TheDriverCalls().Start(0, DriverFault::kRefused);
    Result<Session> session = Start("auto");
    EXPECT_TRUE(session.ok()) << session.status().message();
    if (!session.ok()) return {};
    EXPECT_EQ(session->report().device.id, "first:0") << Joined(session->report().warnings);
    for (int run = 1; run <= kRuns; ++run) {
      EXPECT_TRUE(RunOnce(*session).ok());
      ExpectAnswer(*session, run);
    }
    calls = TheDriverCalls().Stop();
  }
  return calls;
}

std::vector<int> DriverCallFaults::Places(const std::vector<std::string>& calls) {
  std::map<std::string, std::vector<int>> by_name;
  for (size_t k = 0; k < calls.size(); ++k) by_name[calls[k]].push_back(static_cast<int>(k) + 1);
  std::set<int> places;
  for (const auto& [name, numbers] : by_name)
    places.insert({numbers.front(), numbers[numbers.size() / 2], numbers.back()});
  for (size_t k = 0; k < 20; ++k) places.insert(static_cast<int>(k * calls.size() / 20) + 1);
  size_t index = static_cast<size_t>(GetParam());
  std::erase_if(places, [&](int) { return !IsInSanitizersSample(index++, 6); });
  return {places.begin(), places.end()};
}

void DriverCallFaults::AtEachPlace(const std::function<void(int call)>& expect) {
  const std::vector<std::string> calls = CallsOfASession();
  ASSERT_FALSE(calls.empty()) << "the driver's functions were taken before: run this suite in its own process";
  for (const int place : Places(calls)) {
    SCOPED_TRACE("call " + std::to_string(place) + " of " + std::to_string(calls.size()) + ", " + calls[place - 1]);
    expect(place);
  }
}

void DriverCallFaults::ExpectTheRightAnswersElsewhere(int call) {
  const int held_before = TheDriverCalls().held_objects();
  {
    TheDriverCalls().Start(call, GetParam());
    Result<Session> session = Start("auto");
    ASSERT_TRUE(session.ok()) << session.status().message();
    for (int run = 1; run <= kRuns; ++run) {
      const Status status = RunOnce(*session);
      ASSERT_TRUE(status.ok()) << "run " << run << ": " << status.message();
      ExpectAnswer(*session, run);
    }
    const bool has_moved = session->report().device.id == "cpu";
    // What the backend survives, such as a second way to do it, is no news.
    EXPECT_EQ(session->report().warnings.size(), has_moved ? 1u : 0u) << Joined(session->report().warnings);
    const bool is_gone = GetParam() == DriverFault::kLost && TheDriverCalls().has_failed();
    EXPECT_TRUE(has_moved || !is_gone);
  }
  TheDriverCalls().Stop();
  EXPECT_EQ(TheDriverCalls().held_objects(), held_before) << "objects of the driver are left";
}

void DriverCallFaults::ExpectAnErrorOrTheRightAnswers(int call) {
  const int held_before = TheDriverCalls().held_objects();
  {
    TheDriverCalls().Start(call, GetParam());
    Result<Session> session = Start("first");
    Status status = session.status();
    for (int run = 1; run <= kRuns && status.ok(); ++run) {
      status = RunOnce(*session);
      if (status.ok()) ExpectAnswer(*session, run);
    }
    if (!status.ok()) {
      EXPECT_FALSE(status.message().empty());
      EXPECT_NE(status.code(), StatusCode::kInternal) << status.message();
    }
  }
  TheDriverCalls().Stop();
  EXPECT_EQ(TheDriverCalls().held_objects(), held_before) << "objects of the driver are left";
}

}  // namespace hearth::testing
