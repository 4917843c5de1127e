// Sessions that the CPU serves until a fake device is ready, which opens when the test says so.
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

#include "core/base/error.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/session_cache.h"

namespace hearth::testing {

// Elements of the model's output.
constexpr int kHotStartCount = 8;

// Opening waits here until the test opens the gate.
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

// The fake GPU opens when the gate lets it.
class HotStartTest : public FakeGpuTest {
 protected:
  Status BeforeOpening(DeviceInfo& info) override {
    if (before_gate_) before_gate_();
    if (is_gated_) gate_.Pass();
    // Without texel reads the probe, which runs after a first run, changes no later plan.
    info.max_texel_elements = 0;
    return open_status_;
  }

  SessionOptions Options(const std::string& start, const std::string& device = "first") const {
    SessionOptions options{.device = device, .use_cache = false, .max_in_flight = 3, .start = start};
    return options;
  }

  Result<Session> Start(const Model& model, const SessionOptions& options,
                        const std::shared_ptr<ResultCache>& store = {}) {
    SessionRequest request;
    request.options = options;
    request.cache = testing::CacheOf(store);
    request.trusts_devices = true;
    request.move_rule = rule_;
    request.backends = FakeBackendRows();
    return CreateSession(model, std::move(request));
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

  // On the device no numbers are compared: the null device computes nothing.
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
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_HOT_START_H_
