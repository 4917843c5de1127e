// Sessions that the CPU answers until a fake device is ready, which opens when the test says so.
#ifndef HEARTH_TESTS_TESTING_HOT_START_H_
#define HEARTH_TESTS_TESTING_HOT_START_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/next_device.h"
#include "hearth/graph_builder.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/fake_backends.h"
#include "tests/testing/memory_store.h"

namespace hearth::testing {

// Elements of the model's output.
constexpr int kHotStartCount = 8;

inline Model ModelOf(GraphBuilder builder) {
  Result<Model> model = std::move(builder).Build();
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

// y = x + the sum of all earlier x.
inline Model SumModel() {
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

class HotStartTest : public ::testing::Test {
 protected:
  ~HotStartTest() override { TheFakeBackends() = {}; }

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
                                  // How fast texels are read is measured behind a first run, and changes later plans.
                                  info.max_texel_elements = 0;
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
    const std::vector<float> ones(kHotStartCount, 1.0f);
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

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_HOT_START_H_
