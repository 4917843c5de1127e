#include "runtime/devices/read_path_probe.h"

#include <gtest/gtest.h>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::MemoryStore;

CacheKey KeyOfAnswer(const DeviceInfo& info) {
  return KeyOf(ReadPathRequest{&info});
}

// Stores what a probe on the null device would have measured, by overwriting its answer.
void StoreAnswer(MemoryStore& store, double buffer_ms, double texel_ms, const CacheKey& key) {
  const double answer[2] = {buffer_ms, texel_ms};
  const testing::PutRequest put{&key, std::as_bytes(std::span(answer)), 1};
  store.Put({&put, 1});
}

DeviceInfo InfoWithTexels() {
  DeviceInfo info = NullDeviceInfo();
  info.max_texel_elements = 1u << 20;
  return info;
}

TEST(ReadPathProbe, HasNoAnswerBeforeItRan) {
  MemoryStore store;
  EXPECT_EQ(KnownReadPath().LookUp(InfoWithTexels(), store), std::nullopt);
}

TEST(ReadPathProbe, NeedsTwiceTheSpeedToChooseAPath) {
  MemoryStore store;
  const DeviceInfo info = InfoWithTexels();
  StoreAnswer(store, 19.0, 10.0, KeyOfAnswer(info));
  EXPECT_EQ(KnownReadPath().LookUp(info, store), std::nullopt);
  StoreAnswer(store, 21.0, 10.0, KeyOfAnswer(info));
  EXPECT_EQ(KnownReadPath().LookUp(info, store), AccessPath::kTexelBuffer);
  StoreAnswer(store, 10.0, 21.0, KeyOfAnswer(info));
  EXPECT_EQ(KnownReadPath().LookUp(info, store), AccessPath::kBuffer);
}

TEST(ReadPathProbe, IsAskedAgainAfterADriverUpdate) {
  MemoryStore store;
  DeviceInfo info = InfoWithTexels();
  StoreAnswer(store, 21.0, 10.0, KeyOfAnswer(info));
  info.driver_version += ", updated";
  EXPECT_EQ(KnownReadPath().LookUp(info, store), std::nullopt);
}

TEST(ReadPathProbe, IsNotRunWhereThereAreNoTexelBuffers) {
  MemoryStore store;
  DeviceInfo info = NullDeviceInfo();
  info.max_texel_elements = 0;
  NullDevice device(info);
  KnownReadPath().Probe(device, device.info(), store);
  EXPECT_FALSE(store.Get(KeyOfAnswer(info)).has_value());
}

TEST(ReadPathProbe, LeavesAForcedRuleAlone) {
  MemoryStore store;
  DeviceInfo info = InfoWithTexels();
  StoreAnswer(store, 21.0, 10.0, KeyOfAnswer(info));
  info.forced_rules = *ForcedRulesFromText("-texel_reads");
  EXPECT_EQ(KnownReadPath().LookUp(info, store), std::nullopt);
}

TEST(ReadPathProbe, LeavesSoftwareDriversAndSimulatedDevicesToTheRule) {
  DeviceInfo software = InfoWithTexels();
  software.type = DeviceType::kCpu;
  for (const DeviceInfo& info : {software, Simulated(software, **FindDeviceProfile("navi21"))}) {
    SCOPED_TRACE(info.name);
    MemoryStore store;
    NullDevice device(info);
    KnownReadPath().Probe(device, device.info(), store);
    EXPECT_FALSE(store.Get(KeyOfAnswer(info)).has_value());
    StoreAnswer(store, 21.0, 10.0, KeyOfAnswer(info));
    EXPECT_EQ(KnownReadPath().LookUp(info, store), std::nullopt);
  }
}

// A start asks when it requests its plan, perhaps more than once, and before its first plan.
TEST(ReadPathProbe, IsLookedUpOnceForAnOpenedDevice) {
  MemoryStore store;
  NullDevice device(InfoWithTexels());
  StoreAnswer(store, 21.0, 10.0, KeyOfAnswer(device.info()));
  KnownReadPath known;
  for (int k = 0; k < 2; ++k) EXPECT_EQ(known.LookUp(device.info(), store), AccessPath::kTexelBuffer);
  EXPECT_EQ(known.Probe(device, device.info(), store), AccessPath::kTexelBuffer);
  EXPECT_EQ(store.counters().hits, 1u);
  EXPECT_EQ(device.counts().programs_compiled, 0);
}

TEST(ReadPathProbe, IsLookedUpOnceWhereItHasToRun) {
  MemoryStore store;
  NullDevice device(InfoWithTexels());
  KnownReadPath known;
  EXPECT_EQ(known.LookUp(device.info(), store), std::nullopt);
  known.Probe(device, device.info(), store);
  EXPECT_EQ(store.counters().misses, 1u);
  const int64_t compilations = device.counts().programs_compiled;
  EXPECT_GT(compilations, 0);
  known.Probe(device, device.info(), store);
  EXPECT_EQ(device.counts().programs_compiled, compilations);
  EXPECT_EQ(store.counters().misses + store.counters().hits, 1u);
}

TEST(ReadPathProbe, RunsOnceAndKeepsItsAnswer) {
  MemoryStore store;
  NullDevice device(InfoWithTexels());
  KnownReadPath().Probe(device, device.info(), store);
  ASSERT_TRUE(store.Get(KeyOfAnswer(device.info())).has_value());
  const int64_t compilations = device.counts().programs_compiled;
  KnownReadPath().Probe(device, device.info(), store);
  EXPECT_EQ(device.counts().programs_compiled, compilations);
}

// Without its compiler, for example, a device reads neither way.
TEST(ReadPathProbe, StoresNothingAfterAnErrorThatHasNothingToDoWithTexels) {
  MemoryStore store;
  NullDevice null(InfoWithTexels());
  testing::CallFault fault;
  testing::FailingDevice device(null, fault);
  fault.Arm(1, Status(StatusCode::kUnavailable, "no compiler"));
  EXPECT_EQ(KnownReadPath().Probe(device, device.info(), store), std::nullopt);
  EXPECT_TRUE(fault.Disarm());
  EXPECT_FALSE(store.Get(KeyOfAnswer(device.info())).has_value());
}

TEST(ReadPathProbe, CallsOnlyWhatFailsByTexelsAloneARefusalOfTexels) {
  NullDevice null(InfoWithTexels());
  testing::CallFault fault;
  testing::FailingDevice device(null, fault);
  fault.Arm(1, Status(StatusCode::kResourceExhausted, "no texels"));
  EXPECT_EQ(TryTexelReads(device).message(), "no texels");

  DeviceInfo without_memory = InfoWithTexels();
  without_memory.max_buffer_bytes = 1024;
  NullDevice full(without_memory);
  EXPECT_TRUE(TryTexelReads(full).ok());
}

}  // namespace
}  // namespace hearth
