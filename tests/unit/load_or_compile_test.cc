// What programs are made from if several share one binary, and when they are compiled.
#include "hal/programs/load_or_compile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/null/device.h"
#include "core/emit/kernel_library.h"
#include "hal/programs/program_set.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::CallFault;
using testing::FailingDevice;
using testing::MemoryStore;

using MadeAndLoaded = std::pair<int64_t, int64_t>;

TEST(LoadOrCompile, ADriverWithoutBinariesIsToldOfOnceHoweverManyProgramsThereAre) {
  class WithoutBinary final : public ProgramGroup {
    std::span<const std::unique_ptr<Program>> programs() const override { return {}; }
    Result<std::vector<std::byte>> Binary() override { return Status(StatusCode::kUnsupported, "has none"); }
  } without_binary;
  NullDevice device(NullDeviceInfo());
  MemoryStore store;
  auto programs = LoadOrCompile(device, std::vector{*LoadKernel("softmax"), *LoadKernel("probe_read")}, &store, 1);
  ASSERT_TRUE(programs.ok());
  ASSERT_EQ(programs->fresh.size(), 2u);
  for (FreshGroup& fresh : programs->fresh) fresh.group = &without_binary;
  EXPECT_EQ(StoreFreshPrograms(*programs, store), std::vector<std::string>{"programs are not kept: has none"});
}

// As PoCL while kernels run.
TEST(LoadOrCompile, ABinaryThatCannotBeReadNowIsStoredByTheNextCall) {
  class BusyAtFirst final : public ProgramGroup {
    std::span<const std::unique_ptr<Program>> programs() const override { return {}; }
    Result<std::vector<std::byte>> Binary() override {
      if (calls_++ == 0) return Status(StatusCode::kUnavailable, "busy");
      return std::vector<std::byte>(8);
    }
    int calls_ = 0;
  } busy;
  NullDevice device(NullDeviceInfo());
  MemoryStore store;
  auto programs = LoadOrCompile(device, std::vector{*LoadKernel("softmax")}, &store, 1);
  ASSERT_TRUE(programs.ok());
  ASSERT_EQ(programs->fresh.size(), 1u);
  programs->fresh[0].group = &busy;
  EXPECT_EQ(StoreFreshPrograms(*programs, store), std::vector<std::string>{"programs are not kept: busy"});
  EXPECT_TRUE(StoreFreshPrograms(*programs, store).empty());
  EXPECT_TRUE(programs->fresh.empty());
}

// One start of a plan with these kernels, which share one program on the device.
MadeAndLoaded StartSet(const std::vector<std::string>& names, MemoryStore& store, bool all_anew = false,
                       const std::vector<GridClasses>& grids = {}, bool takes_binaries = true) {
  DeviceInfo info = NullDeviceInfo();
  info.compile_grouping = CompileGrouping::kTogether;
  NullDevice null_device(NullDeviceInfo());
  CallFault fault;
  fault.takes_binaries = takes_binaries;
  FailingDevice device(null_device, fault, info, "");
  std::vector<KernelSource> sources;
  for (const std::string& name : names) sources.push_back(*LoadKernel(name));
  auto programs = LoadOrCompile(device, sources, &store, 2, {}, nullptr, all_anew, grids);
  EXPECT_TRUE(programs.ok());
  for (size_t k = 0; k < names.size(); ++k) EXPECT_EQ(programs->by_kernel[k]->source().name, names[k]);
  const MadeAndLoaded counts(programs->compiled, programs->loaded);
  EXPECT_EQ(MadeAndLoaded(null_device.counts().programs_compiled, null_device.counts().programs_loaded), counts);
  EXPECT_TRUE(StoreFreshPrograms(*programs, store).empty());
  return counts;
}

// The binaries are for processes in which the driver takes them.
TEST(LoadOrCompile, ADeviceThatTakesNoBinariesLeavesTheStoredOnesAsTheyAreAndHasNothingToSay) {
  MemoryStore store;
  const std::vector<std::string> names = {"softmax", "probe_read"};
  EXPECT_EQ(StartSet(names, store), MadeAndLoaded(2, 0));
  store.ResetCounters();
  const size_t stored = store.entries().size(), uses = store.uses();
  EXPECT_EQ(StartSet(names, store, false, {}, false), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartSet({"cumsum"}, store, false, {}, false), MadeAndLoaded(1, 0));
  EXPECT_EQ(store.counters().hits + store.counters().misses + store.counters().rejected, 0u);
  EXPECT_EQ(store.entries().size(), stored);
  EXPECT_EQ(store.uses(), uses);
  EXPECT_TRUE(store.TakeWarnings().empty());
  EXPECT_EQ(StartSet(names, store), MadeAndLoaded(0, 2));
}

// A binary lacks the machine code of grids that were not run, and nothing that is made later gets into it.
TEST(LoadOrCompile, ProgramsThatRanInOtherGridsAreNotTaken) {
  MemoryStore store;
  const std::vector<std::string> first = {"softmax", "probe_read", "concat_channels"};
  EXPECT_EQ(StartSet(first, store, false, {kSmallGrids, kSmallGrids, kSmallGrids}), MadeAndLoaded(3, 0));
  EXPECT_EQ(StartSet(first, store, false, {kSmallGrids, kSmallGrids, kLargeGrids}), MadeAndLoaded(1, 2));
  EXPECT_EQ(StartSet(first, store, false, {kSmallGrids, kSmallGrids, kLargeGrids}), MadeAndLoaded(0, 3));
  EXPECT_EQ(StartSet(first, store, false, {kSmallGrids, kSmallGrids, kSmallGrids}), MadeAndLoaded(0, 3));
  EXPECT_EQ(StartSet({"arg_reduce", "softmax", "probe_read"}, store, false, {kSmallGrids, kSmallGrids, kLargeGrids}),
            MadeAndLoaded(3, 0))
      << "a binary for one kernel is not worth loading";
}

// Without those that say where a binary is.
size_t BinariesIn(MemoryStore& store) {
  return std::ranges::count_if(store.entries(), [](const auto& entry) { return entry.second.kind == "program"; });
}

TEST(LoadOrCompile, OfKernelsThatShareAProgramOnlyThoseThatNoOtherPlanHasAreCompiled) {
  MemoryStore store;
  EXPECT_EQ(StartSet({"softmax", "probe_read", "concat_channels"}, store), MadeAndLoaded(3, 0));
  EXPECT_EQ(StartSet({"arg_reduce", "concat_channels", "softmax", "cumsum"}, store), MadeAndLoaded(2, 2));
  EXPECT_EQ(BinariesIn(store), 2u);
  store.ResetCounters();
  EXPECT_EQ(StartSet({"arg_reduce", "concat_channels", "softmax", "cumsum"}, store), MadeAndLoaded(0, 4));
  EXPECT_EQ(store.counters().misses, 0u);
  EXPECT_EQ(store.counters().hits, 3u) << "where the programs are, and the two binaries";
}

TEST(LoadOrCompile, APlanWhoseKernelsAllLieInOtherPlansProgramsCompilesNothing) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  StartSet({"cumsum"}, store);
  StartSet({"arg_reduce", "concat_channels"}, store);
  EXPECT_EQ(StartSet({"concat_channels", "cumsum", "softmax"}, store), MadeAndLoaded(0, 3));
  EXPECT_EQ(BinariesIn(store), 3u);
  store.ResetCounters();
  EXPECT_EQ(StartSet({"concat_channels", "cumsum", "softmax"}, store), MadeAndLoaded(0, 3));
  EXPECT_EQ(store.counters().misses, 0u);
  EXPECT_EQ(StartSet({"probe_read"}, store), MadeAndLoaded(0, 1));
}

TEST(LoadOrCompile, WhoWantsAllAnewGetsOneBinaryWhichLaterStartsLoad) {
  MemoryStore store;
  StartSet({"softmax", "probe_read", "concat_channels"}, store);
  EXPECT_EQ(StartSet({"concat_channels", "softmax", "cumsum"}, store), MadeAndLoaded(1, 2));
  EXPECT_EQ(StartSet({"concat_channels", "softmax", "cumsum"}, store, true), MadeAndLoaded(3, 0));
  EXPECT_EQ(StartSet({"concat_channels", "softmax", "cumsum"}, store, true), MadeAndLoaded(0, 3));
  store.ResetCounters();
  EXPECT_EQ(StartSet({"concat_channels", "softmax", "cumsum"}, store), MadeAndLoaded(0, 3));
  EXPECT_EQ(store.counters().hits, 1u) << "the list of binaries is replaced by the binary";
  EXPECT_EQ(StartSet({"softmax", "probe_read", "concat_channels"}, store), MadeAndLoaded(0, 3));
}

TEST(LoadOrCompile, ForOneKernelNoBinaryIsLoadedWhereOthersAreCompiledAnyway) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  EXPECT_EQ(StartSet({"softmax", "cumsum"}, store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartSet({"softmax", "cumsum", "arg_reduce"}, store), MadeAndLoaded(1, 2)) << "the binary that holds most";
}

TEST(LoadOrCompile, NoPlanIsLoadedFromMoreThanThreeBinariesOfOthers) {
  MemoryStore store;
  const std::vector<std::string> kernels = {"softmax", "probe_read", "cumsum", "arg_reduce"};
  for (const std::string& kernel : kernels) StartSet({kernel}, store);
  EXPECT_EQ(StartSet({"softmax", "probe_read", "cumsum"}, store), MadeAndLoaded(0, 3));
  EXPECT_EQ(StartSet(kernels, store), MadeAndLoaded(4, 0));
}

// Leaves a plan of "cumsum" and "softmax" whose second kernel's binary is gone.
void LoseTheBinaryOfSoftmax(MemoryStore& store) {
  StartSet({"softmax", "probe_read"}, store);
  StartSet({"cumsum"}, store);
  StartSet({"cumsum", "softmax"}, store);
  std::erase_if(store.entries(), [](const auto& entry) {
    return entry.second.kind == "program" && entry.second.material.find("probe_read") != std::string::npos;
  });
}

TEST(LoadOrCompile, KernelsWhoseBinaryIsGoneAreCompiledAgain) {
  MemoryStore store;
  LoseTheBinaryOfSoftmax(store);
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
  EXPECT_EQ(StartSet({"softmax", "cumsum"}, store), MadeAndLoaded(0, 2)) << "another plan finds the new one";
}

TEST(LoadOrCompile, WhatIsLoadedBeforeAndBehindAWaitIsListedOnce) {
  MemoryStore store;
  LoseTheBinaryOfSoftmax(store);
  store.has_waited = true;
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 0u);
}

TEST(LoadOrCompile, ListsOfProgramsAreNotTheFirstToMakeRoom) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  double program_ms = 0;
  for (const auto& [digest, entry] : store.entries()) {
    if (entry.kind == "program") program_ms = entry.cost_ms;
  }
  EXPECT_GT(program_ms, 0);
  for (const auto& [digest, entry] : store.entries()) EXPECT_EQ(entry.cost_ms, program_ms) << entry.kind;
}

TEST(LoadOrCompile, AnEntryThatDoesNotSayWhereProgramsAreIsRejected) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  StartSet({"cumsum"}, store);
  StartSet({"cumsum", "softmax"}, store);
  for (auto& [digest, entry] : store.entries()) {
    if (entry.kind == "program-list") entry.bytes.push_back(std::byte{0});
  }
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(2, 0));
  EXPECT_EQ(store.counters().rejected, 2u);
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
}

TEST(ProgramList, IsReadAsItWasWrittenAndRefusedWhereAByteIsMissing) {
  CacheKey one(BlobKind::kProgram), other(BlobKind::kProgram);
  one.Add("kernel", "softmax");
  other.Add("kernel", "cumsum").Add("text", "abc");
  const std::vector<std::byte> bytes = ToBytes(ProgramList{{one, other}, {1, 0, 1}});
  const Result<ProgramList> parts = ProgramListFrom(bytes, 3);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ(parts->binaries[1].digest(), other.digest());
  EXPECT_EQ(parts->binary_of, (std::vector<uint32_t>{1, 0, 1}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ProgramListFrom(std::span(bytes).first(size), 3).ok()) << size << " bytes";
  }
  EXPECT_FALSE(ProgramListFrom(bytes, 2).ok());
  EXPECT_FALSE(ProgramListFrom(bytes, 4).ok());
  EXPECT_FALSE(ProgramListFrom(ToBytes(ProgramList{{one}, {1}}), 1).ok()) << "a binary that the list does not name";
}

}  // namespace
}  // namespace hearth
