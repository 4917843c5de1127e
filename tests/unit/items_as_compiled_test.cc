// Devices whose driver compiles kernels for fewer work items in a group than the device takes, and says so only then.
#include "runtime/plans/items_as_compiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device/group_size.h"
#include "hal/programs/smaller_groups.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/session_cache.h"

namespace hearth {
namespace {

constexpr int kTexelsOfRows = 40;

// Sums over channels, which the items of a group share, and elementwise work.
Model SharedSums() {
  GraphBuilder builder("shared sums");
  const auto x = builder.Input("x", {1, 5, 3, 4 * kTexelsOfRows});
  builder.Output(builder.Softmax(builder.Unary("neg", x)), "y");
  return testing::ModelOf(std::move(builder));
}

class ItemsAsCompiled : public testing::FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    if (!Computes()) GTEST_SKIP() << "no software driver is usable";
  }

  // Kernels of this name, or all of them, run in groups of at most `items`.
  void CompileFor(uint32_t items, std::string name = "") {
    fault_.items_as_compiled = [this, items, name = std::move(name)](const KernelSource& source) {
      const uint32_t asked = source.local_size[0] * source.local_size[1] * source.local_size[2];
      if (!name.empty() && source.name.find(name) == std::string::npos) return asked;
      if (asked > items) ++refused_;
      return items;
    };
  }

  Result<Session> Start(const std::string& device = "first", bool tests_devices = true) {
    SessionRequest request;
    request.options.device = device;
    request.options.start = "ready";
    request.options.max_in_flight = 2;
    request.cache = testing::CacheOf(store_);
    request.options.use_cache = false;  // the store stays
    request.backends = testing::FakeBackendRows();
    request.trusts_devices = !tests_devices;
    return CreateSession(model_, std::move(request));
  }

  static std::vector<float> Picture(int seed) {
    std::vector<float> picture(size_t{5} * 3 * 4 * kTexelsOfRows);
    for (size_t k = 0; k < picture.size(); ++k)
      picture[k] = static_cast<float>((k * 37 + static_cast<size_t>(seed)) % 19) / 8;
    return picture;
  }

  static std::vector<float> Output(const Session& session) {
    std::vector<float> numbers(session.output(0).size() / sizeof(float));
    std::memcpy(numbers.data(), session.output(0).data(), session.output(0).size());
    return numbers;
  }

  static std::vector<float> Answer(Session& session) {
    const std::vector<float> picture = Picture(0);
    EXPECT_TRUE(session.SetInput(0, std::as_bytes(std::span(picture))).ok());
    const Status ran = session.Run();
    EXPECT_TRUE(ran.ok()) << ran.message();
    return Output(session);
  }

  // What a start of the model plans for.
  uint32_t StoredItems() {
    const testing::FailingDevice device(*inner_, fault_);
    DeviceInfo info = device.info();
    info.type = DeviceType::kDiscreteGpu;
    LimitItemsAsCompiled(model_.fingerprint(), device, info, *store_);
    return info.max_local_invocations;
  }

  void ExpectGivesTheCpusAnswer() {
    Result<Session> limited = Start(), cpu = Start("cpu");
    ASSERT_TRUE(limited.ok()) << limited.status().message();
    ASSERT_TRUE(cpu.ok()) << cpu.status().message();
    EXPECT_EQ(limited->report().device.id, "first:0");
    EXPECT_TRUE(limited->report().ops.fallbacks.empty());
    EXPECT_THAT(Answer(*limited), ::testing::Pointwise(::testing::FloatNear(1e-5f), Answer(*cpu)));
  }

  const Model model_ = SharedSums();
  std::shared_ptr<testing::MemoryStore> store_ = std::make_shared<testing::MemoryStore>();
  std::atomic<int> refused_ = 0;
};

TEST_F(ItemsAsCompiled, OfOneKernelLimitTheGroupsOfAPlan) {
  CompileFor(2, "softmax");
  ExpectGivesTheCpusAnswer();
  EXPECT_GT(refused_, 0);
}

TEST_F(ItemsAsCompiled, MayBeOneForEveryKernel) {
  CompileFor(1);
  ExpectGivesTheCpusAnswer();
  EXPECT_GT(refused_, 0);
}

TEST_F(ItemsAsCompiled, LimitTheKernelsOfRunsInFlightToo) {
  CompileFor(4);
  Result<Session> session = Start(), cpu = Start("cpu");
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  for (int seed = 0; seed < 2; ++seed) {
    const std::vector<float> picture = Picture(seed);
    for (Session* each : {&*session, &*cpu}) {
      ASSERT_TRUE(each->SetInput(0, std::as_bytes(std::span(picture))).ok());
      const Result<Ticket> ticket = each->Submit();
      ASSERT_TRUE(ticket.ok()) << ticket.status().message();
      const Status waited = each->Wait(*ticket);
      ASSERT_TRUE(waited.ok()) << waited.message();
    }
    EXPECT_THAT(Output(*session), ::testing::Pointwise(::testing::FloatNear(1e-5f), Output(*cpu)));
  }
}

TEST_F(ItemsAsCompiled, AreKnownToTheNextStart) {
  CompileFor(4);
  {
    Result<Session> cold = Start();
    ASSERT_TRUE(cold.ok()) << cold.status().message();
    Answer(*cold);
    cold->SaveToCache();
  }
  EXPECT_GT(refused_.exchange(0), 0);
  EXPECT_EQ(StoredItems(), 4u);
  store_->ResetCounters();
  const Result<Session> warm = Start();
  ASSERT_TRUE(warm.ok()) << warm.status().message();
  EXPECT_EQ(refused_, 0);
  EXPECT_EQ(warm->report().programs.compiled, 0);
  EXPECT_EQ(store_->counters().misses, 0u);
  EXPECT_EQ(store_->counters().rejected, 0u);
}

// Pruned, damaged or left out of a bundle, while the plan for fewer items is there.
TEST_F(ItemsAsCompiled, AreStoredAgainWhereTheyWereLost) {
  CompileFor(4);
  const auto start = [&] {
    Result<Session> session = Start();
    ASSERT_TRUE(session.ok()) << session.status().message();
    Answer(*session);
    session->SaveToCache();
  };
  start();
  std::vector<CacheKey> probes;
  store_->ForEach(CacheKey(BlobKind::kGroupLimit), [&](const CacheKey& key, auto) { probes.push_back(key); });
  for (const CacheKey& key : probes) store_->Reject(key, "the test loses it");
  EXPECT_EQ(StoredItems(), inner_->info().max_local_invocations);
  start();
  EXPECT_EQ(StoredItems(), 4u);
}

TEST_F(ItemsAsCompiled, OfADeviceThatRefusesNothingAreNotStored) {
  {
    Result<Session> session = Start();
    ASSERT_TRUE(session.ok()) << session.status().message();
    Answer(*session);
    session->SaveToCache();
  }
  EXPECT_EQ(StoredItems(), inner_->info().max_local_invocations);
}

TEST_F(ItemsAsCompiled, AreStoredForAModelAndADriver) {
  CompileFor(4);
  testing::FailingDevice device(*inner_, fault_);
  DeviceInfo limited = device.info();
  limited.type = DeviceType::kDiscreteGpu;
  const uint32_t all = limited.max_local_invocations;
  limited.max_local_invocations = 4;
  StoreItemsAsCompiled("a model", device, limited, 1, *store_);
  const auto known = [&](const std::string& model, const std::string& driver) {
    DeviceInfo info = limited;
    info.max_local_invocations = all;
    info.driver_version = driver;
    LimitItemsAsCompiled(model, device, info, *store_);
    return info.max_local_invocations;
  };
  EXPECT_EQ(known("a model", limited.driver_version), 4u);
  EXPECT_EQ(known("another model", limited.driver_version), all);
  EXPECT_EQ(known("a model", "the next driver"), all);
}

TEST_F(ItemsAsCompiled, AreTriedUntilTheDriverTakesThem) {
  testing::FailingDevice device(*inner_, fault_);
  // In smaller groups a kernel may be compiled for fewer items still.
  fault_.items_as_compiled = [](const KernelSource& source) { return source.local_size[0] > 16 ? 16u : 3u; };
  KernelSource source;
  source.name = "nothing";
  source.tensors = {{.name = "y", .direction = ArgDirection::kWrite}};
  source.body = "y_store(GID(0), splat4(0.0f));\n";
  DeviceInfo info = device.info();
  std::vector<uint32_t> tried;
  const Status made = MakeInSmallerGroups(device, info, [&] {
    source.local_size = FittingGroup({64, 1, 1}, info);
    tried.push_back(source.local_size[0]);
    return device.Compile({&source, 1}).status();
  });
  EXPECT_TRUE(made.ok()) << made.message();
  EXPECT_THAT(tried, ::testing::ElementsAre(64u, 16u, 2u));
  EXPECT_EQ(info.max_local_invocations, 3u);
}

TEST_F(ItemsAsCompiled, ThatAreNotToBlameChangeNothing) {
  testing::FailingDevice device(*inner_, fault_);
  DeviceInfo info = device.info();
  int calls = 0;
  const Status made = MakeInSmallerGroups(device, info, [&] {
    ++calls;
    return Status(StatusCode::kResourceExhausted, "no memory");
  });
  EXPECT_EQ(made.message(), "no memory");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(info.max_local_invocations, device.info().max_local_invocations);
}

}  // namespace
}  // namespace hearth
