// Which of its two cached forms a program is made from, and when it is compiled.
#include "hal/load_or_compile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/null/device.h"
#include "core/base/split_program.h"
#include "core/emit/kernel_library.h"
#include "hal/program_parts.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::CallFault;
using testing::FailingDevice;
using testing::MemoryStore;

// One start on a device with this driver; programs made from source and loaded, in that order.
std::pair<int64_t, int64_t> StartOnce(const std::string& driver, const std::string& compiler, MemoryStore& store) {
  NullDevice null_device(NullDeviceInfo());
  DeviceInfo info = NullDeviceInfo();
  info.driver_version = driver;
  CallFault fault;
  FailingDevice device(null_device, fault, info, compiler);
  const std::vector<KernelSource> sources = {*LoadKernel("softmax"), *LoadKernel("probe_read")};
  auto programs = LoadOrCompile(device, sources, &store, 2);
  EXPECT_TRUE(programs.ok());
  EXPECT_TRUE(StoreFreshPrograms(*programs, store).empty());
  return {null_device.counts().programs_compiled, null_device.counts().programs_loaded};
}

using MadeAndLoaded = std::pair<int64_t, int64_t>;

TEST(LoadOrCompile, ADriverUpdateCostsOnlyTheNativeForm) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  const size_t entries = store.entries().size();
  EXPECT_EQ(StartOnce("1.1", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.entries().size(), entries + entries / 2) << "the portable form is stored once";
  EXPECT_EQ(StartOnce("1.1", "compiler 2", store), MadeAndLoaded(0, 2)) << "a fitting binary needs no compiler";
  EXPECT_EQ(StartOnce("1.2", "compiler 2", store), MadeAndLoaded(2, 0)) << "another compiler's text is not taken";
}

TEST(LoadOrCompile, WithoutAPortableFormADriverUpdateCompilesAgain) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(StartOnce("1.1", "", store), MadeAndLoaded(2, 0));
}

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

TEST(LoadOrCompile, APortableFormThatTheDriverRefusesIsRejectedAndCompiled) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  for (auto& [digest, entry] : store.entries()) entry.bytes.push_back(std::byte{0});
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(store.counters().rejected, 4u) << "both forms of two programs";
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
}

std::vector<MemoryStore::Entry> EntriesOf(BlobKind kind, MemoryStore& store) {
  std::vector<MemoryStore::Entry> found;
  for (const auto& [digest, entry] : store.entries()) {
    if (entry.kind == BlobKindName(kind)) found.push_back(entry);
  }
  return found;
}

TEST(LoadOrCompile, AProgramNamesThePortablePartInsteadOfHoldingIt) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  StartOnce("1.1", "compiler 1", store);
  const std::vector<MemoryStore::Entry> sources = EntriesOf(BlobKind::kSource, store);
  const std::vector<MemoryStore::Entry> programs = EntriesOf(BlobKind::kProgram, store);
  EXPECT_EQ(sources.size(), 2u);
  ASSERT_EQ(programs.size(), 4u);
  for (const MemoryStore::Entry& program : programs) {
    const Result<SplitProgram> split = SplitProgramFrom(program.bytes);
    ASSERT_TRUE(split.ok()) << split.status().message();
    EXPECT_EQ(std::ranges::count(sources, split->source.material(), &MemoryStore::Entry::material), 1);
    EXPECT_EQ(split->driver_part.size(), 3u) << "the driver's version, and nothing else";
  }
  store.ResetCounters();
  EXPECT_EQ(StartOnce("1.1", "", store), MadeAndLoaded(0, 2)) << "the compiler's name is not needed";
  EXPECT_EQ(store.counters().hits, 4u);
  EXPECT_EQ(store.counters().misses, 0u);
}

TEST(LoadOrCompile, AProgramWithoutItsPortablePartIsMadeAgainWithBoth) {
  for (const char* compiler : {"compiler 1", "compiler 2"}) {
    MemoryStore store;
    StartOnce("1.0", "compiler 1", store);
    std::erase_if(store.entries(), [](const auto& entry) { return entry.second.kind == "source"; });
    EXPECT_EQ(StartOnce("1.0", compiler, store), MadeAndLoaded(2, 0));
    EXPECT_EQ(store.counters().rejected, 2u);
    const std::vector<std::string> warnings = store.TakeWarnings();
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_NE(warnings[0].find("lacks the source entry"), std::string::npos) << warnings[0];
    EXPECT_EQ(StartOnce("1.0", compiler, store), MadeAndLoaded(0, 2));
    EXPECT_EQ(store.counters().rejected, 2u);
  }
}

// Appends a byte to each entry of the kind.
void Spoil(BlobKind kind, MemoryStore& store) {
  for (auto& [digest, entry] : store.entries()) {
    if (entry.kind == BlobKindName(kind)) entry.bytes.push_back(std::byte{0});
  }
}

TEST(LoadOrCompile, ADamagedPortablePartCostsOneCompilation) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  Spoil(BlobKind::kSource, store);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
}

TEST(LoadOrCompile, ADriversPartThatTheDriverRefusesIsMadeFromThePortablePart) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  Spoil(BlobKind::kProgram, store);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 2u);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 2u);
}

// A store that refuses portable parts, as one does for which they are too large.
class SmallStore final : public MemoryStore {
 public:
  void Put(std::span<const PutRequest> requests) override {
    for (const PutRequest& request : requests) {
      if (request.key->kind() != BlobKind::kSource) MemoryStore::Put({&request, 1});
    }
  }
};

TEST(LoadOrCompile, WhereThePortablePartIsNotKeptEachStartCompiles) {
  SmallStore store;
  for (int start = 0; start < 3; ++start) EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(EntriesOf(BlobKind::kProgram, store).size(), 2u);
}

TEST(LoadOrCompile, AnEntryThatHoldsTheWholeBinaryIsTaken) {
  MemoryStore store;
  StartOnce("1.0", "", store);
  for (const MemoryStore::Entry& program : EntriesOf(BlobKind::kProgram, store)) {
    EXPECT_FALSE(IsSplitProgram(program.bytes)) << "a device without portable parts";
  }
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_TRUE(store.TakeWarnings().empty());
}

TEST(LoadOrCompile, BothEntriesOfAProgramAreNamedToBeRejectedTogether) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  NullDevice null_device(NullDeviceInfo());
  DeviceInfo info = NullDeviceInfo();
  info.driver_version = "1.0";
  CallFault fault;
  FailingDevice device(null_device, fault, info, "compiler 1");
  const auto programs = LoadOrCompile(device, std::vector{*LoadKernel("softmax")}, &store, 1);
  ASSERT_TRUE(programs.ok()) << programs.status().message();
  ASSERT_EQ(programs->loaded_keys.size(), 2u);
  EXPECT_EQ(programs->loaded_keys[0].kind(), BlobKind::kProgram);
  EXPECT_EQ(programs->loaded_keys[1].kind(), BlobKind::kSource);
}

// One start of a plan with these kernels, which share one program on the device.
MadeAndLoaded StartSet(const std::vector<std::string>& names, MemoryStore& store, bool all_anew = false,
                       const std::vector<GridClasses>& grids = {}) {
  DeviceInfo info = NullDeviceInfo();
  info.compile_grouping = CompileGrouping::kTogether;
  NullDevice null_device(NullDeviceInfo());
  CallFault fault;
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
  return std::ranges::count_if(store.entries(), [](const auto& entry) { return !IsProgramParts(entry.second.bytes); });
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
    return !IsProgramParts(entry.second.bytes) && entry.second.material.find("probe_read") != std::string::npos;
  });
}

TEST(LoadOrCompile, KernelsWhoseBinaryIsGoneAreCompiledAgain) {
  MemoryStore store;
  LoseTheBinaryOfSoftmax(store);
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(1, 1));
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
  EXPECT_EQ(StartSet({"softmax", "cumsum"}, store), MadeAndLoaded(0, 2)) << "another plan finds the new one";
}

// A store in which somebody else was making what is asked for, and has made none of it.
class BusyStore final : public MemoryStore {
 public:
  MakingTurn TakeMakingTurn(const CacheKey&) override { return {nullptr, true}; }
};

TEST(LoadOrCompile, WhatIsLoadedBeforeAndBehindAWaitIsListedOnce) {
  BusyStore store;
  LoseTheBinaryOfSoftmax(store);
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(1, 1));
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 0u);
}

TEST(LoadOrCompile, ListsOfProgramsAreNotTheFirstToMakeRoom) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  for (const auto& [digest, entry] : store.entries()) {
    if (IsProgramParts(entry.bytes)) {
      EXPECT_GE(entry.cost_ms, 1);
    }
  }
}

TEST(LoadOrCompile, AnEntryThatDoesNotSayWhereProgramsAreIsRejected) {
  MemoryStore store;
  StartSet({"softmax", "probe_read"}, store);
  StartSet({"cumsum"}, store);
  StartSet({"cumsum", "softmax"}, store);
  for (auto& [digest, entry] : store.entries()) {
    if (IsProgramParts(entry.bytes)) entry.bytes.push_back(std::byte{0});
  }
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(2, 0));
  EXPECT_EQ(store.counters().rejected, 2u);
  EXPECT_EQ(StartSet({"cumsum", "softmax"}, store), MadeAndLoaded(0, 2));
}

TEST(SplitProgram, IsReadAsItWasWrittenAndRefusedWhereItsKeyIsCut) {
  CacheKey source(BlobKind::kSource);
  source.Add("compiler", "1").Add("kernel", "softmax");
  const std::vector<std::byte> driver_part(5, std::byte{7});
  const std::vector<std::byte> bytes = MakeSplitProgram({source, driver_part});
  const Result<SplitProgram> split = SplitProgramFrom(bytes);
  ASSERT_TRUE(split.ok()) << split.status().message();
  EXPECT_EQ(split->source.digest(), source.digest());
  EXPECT_TRUE(std::ranges::equal(split->driver_part, driver_part));
  for (size_t size = 0; size < bytes.size() - driver_part.size(); ++size) {
    EXPECT_FALSE(SplitProgramFrom(std::span(bytes).first(size)).ok()) << size << " bytes";
  }
  EXPECT_FALSE(IsProgramParts(bytes));
  EXPECT_FALSE(IsSplitProgram(ToBytes({{CacheKey(BlobKind::kProgram)}, {0}})));
}

TEST(ProgramParts, AreReadAsTheyWereWrittenAndRefusedWhereAByteIsMissing) {
  CacheKey one(BlobKind::kProgram), other(BlobKind::kProgram);
  one.Add("kernel", "softmax");
  other.Add("kernel", "cumsum").Add("text", "abc");
  const std::vector<std::byte> bytes = ToBytes({{one, other}, {1, 0, 1}});
  const Result<ProgramParts> parts = ProgramPartsFrom(bytes, 3);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ(parts->binaries[1].digest(), other.digest());
  EXPECT_EQ(parts->binary_of, (std::vector<uint32_t>{1, 0, 1}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ProgramPartsFrom(std::span(bytes).first(size), 3).ok()) << size << " bytes";
  }
  EXPECT_FALSE(ProgramPartsFrom(bytes, 2).ok());
  EXPECT_FALSE(ProgramPartsFrom(bytes, 4).ok());
  EXPECT_FALSE(ProgramPartsFrom(ToBytes({{one}, {1}}), 1).ok()) << "a binary that the list does not name";
}

}  // namespace
}  // namespace hearth
