// Programs whose portable part is an entry of its own: which of the two a start uses, and what it does without one.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/null/device.h"
#include "core/emit/kernel_library.h"
#include "core/store/entry_links.h"
#include "hal/programs/load_or_compile.h"
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

TEST(PortablePrograms, ADriverUpdateCostsOnlyTheNativeForm) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  const size_t entries = store.entries().size();
  EXPECT_EQ(StartOnce("1.1", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.entries().size(), entries + entries / 2) << "the portable form is stored once";
  EXPECT_EQ(StartOnce("1.1", "compiler 2", store), MadeAndLoaded(0, 2)) << "a fitting binary needs no compiler";
  EXPECT_EQ(StartOnce("1.2", "compiler 2", store), MadeAndLoaded(2, 0)) << "another compiler's text is not taken";
}

TEST(PortablePrograms, WithoutAPortableFormADriverUpdateCompilesAgain) {
  MemoryStore store;
  EXPECT_EQ(StartOnce("1.0", "", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(StartOnce("1.1", "", store), MadeAndLoaded(2, 0));
}

TEST(PortablePrograms, APortableFormThatTheDriverRefusesIsRejectedAndCompiled) {
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

TEST(PortablePrograms, AProgramNamesThePortablePartInsteadOfHoldingIt) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  StartOnce("1.1", "compiler 1", store);
  const std::vector<MemoryStore::Entry> sources = EntriesOf(BlobKind::kSource, store);
  const std::vector<MemoryStore::Entry> programs = EntriesOf(BlobKind::kProgram, store);
  EXPECT_EQ(sources.size(), 2u);
  ASSERT_EQ(programs.size(), 4u);
  for (const MemoryStore::Entry& program : programs) {
    const Result<LinkedEntry> split = LinkedEntryFrom(program.bytes);
    ASSERT_TRUE(split.ok()) << split.status().message();
    ASSERT_EQ(split->links.size(), 1u);
    EXPECT_EQ(std::ranges::count(sources, split->links[0].material(), &MemoryStore::Entry::material), 1);
    EXPECT_EQ(split->rest.size(), 3u) << "the driver's version, and nothing else";
  }
  store.ResetCounters();
  EXPECT_EQ(StartOnce("1.1", "", store), MadeAndLoaded(0, 2)) << "the compiler's name is not needed";
  EXPECT_EQ(store.counters().hits, 4u);
  EXPECT_EQ(store.counters().misses, 0u);
}

TEST(PortablePrograms, AProgramWithoutItsPortablePartIsMadeAgainWithBoth) {
  for (const char* compiler : {"compiler 1", "compiler 2"}) {
    MemoryStore store;
    StartOnce("1.0", "compiler 1", store);
    std::erase_if(store.entries(), [](const auto& entry) { return entry.second.kind == "source"; });
    EXPECT_EQ(StartOnce("1.0", compiler, store), MadeAndLoaded(2, 0));
    EXPECT_EQ(store.counters().rejected, 2u);
    const std::vector<std::string> warnings = store.TakeWarnings();
    ASSERT_EQ(warnings.size(), 1u) << "of one kind";
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

TEST(PortablePrograms, ADamagedPortablePartCostsOneCompilation) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  Spoil(BlobKind::kSource, store);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
}

TEST(PortablePrograms, ADriversPartThatTheDriverRefusesIsMadeFromThePortablePart) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  Spoil(BlobKind::kProgram, store);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 2u);
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_EQ(store.counters().rejected, 2u);
}

TEST(PortablePrograms, AProgramMadeFromALayersPortablePartIsStoredWithIt) {
  auto layer = std::make_unique<testing::MemorySource>();
  testing::MemorySource& below = *layer;
  MemoryStore maker, store(std::move(layer));
  StartOnce("1.0", "compiler 1", maker);
  below.entries = maker.entries();
  std::erase_if(below.entries, [](const auto& entry) { return entry.second.kind == "program"; });
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  below.entries.clear();
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2)) << "without the layer";
  EXPECT_EQ(store.counters().rejected, 0u);
}

// What a start saves counts once.
TEST(PortablePrograms, EachPartHasTheCostOfMakingIt) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  for (const MemoryStore::Entry& program : EntriesOf(BlobKind::kProgram, store)) {
    const CacheKey source = LinkedEntryFrom(program.bytes)->links[0];
    EXPECT_GT(program.cost_ms, 0);
    EXPECT_EQ(store.entries().at(source.digest()).cost_ms, testing::FailingDevice::kPortableMs);
  }
}

// The first run may fail for reasons of its own, and other drivers' programs need the portable parts too.
TEST(PortablePrograms, AProgramIsBlamedWithoutItsPortablePart) {
  MemoryStore store;
  StartOnce("1.0", "compiler 1", store);
  NullDevice null_device(NullDeviceInfo());
  DeviceInfo info = NullDeviceInfo();
  info.driver_version = "1.0";
  CallFault fault;
  FailingDevice device(null_device, fault, info, "compiler 1");
  const auto programs = LoadOrCompile(device, std::vector{*LoadKernel("softmax")}, &store, 1);
  ASSERT_TRUE(programs.ok());
  ASSERT_EQ(programs->loaded_keys.size(), 1u);
  EXPECT_EQ(programs->loaded_keys[0].kind(), BlobKind::kProgram);
}

TEST(PortablePrograms, WhereThePortablePartIsNotKeptEachStartCompiles) {
  MemoryStore store;
  store.refuses_kinds = {BlobKind::kSource};
  for (int start = 0; start < 3; ++start) EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(2, 0));
  EXPECT_EQ(EntriesOf(BlobKind::kProgram, store).size(), 2u);
}

TEST(PortablePrograms, AnEntryThatHoldsTheWholeBinaryIsTaken) {
  MemoryStore store;
  StartOnce("1.0", "", store);
  for (const MemoryStore::Entry& program : EntriesOf(BlobKind::kProgram, store)) {
    EXPECT_FALSE(HasLinks(program.bytes)) << "a device without portable parts";
  }
  EXPECT_EQ(StartOnce("1.0", "compiler 1", store), MadeAndLoaded(0, 2));
  EXPECT_TRUE(store.TakeWarnings().empty());
}

TEST(LinkedEntry, IsReadAsItWasWrittenAndRefusedWhereItsKeyIsCut) {
  CacheKey source(BlobKind::kSource);
  source.Add("compiler", "1").Add("kernel", "softmax");
  const std::vector<std::byte> driver_part(5, std::byte{7});
  const std::vector<std::byte> bytes = ToBytes(LinkedEntry{{source}, driver_part});
  const Result<LinkedEntry> linked = LinkedEntryFrom(bytes);
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_EQ(linked->links[0].digest(), source.digest());
  EXPECT_TRUE(std::ranges::equal(linked->rest, driver_part));
  for (size_t size = 0; size < bytes.size() - driver_part.size(); ++size) {
    EXPECT_FALSE(LinkedEntryFrom(std::span(bytes).first(size)).ok()) << size << " bytes";
  }
  EXPECT_EQ(NeededBy(CacheKey(BlobKind::kProgram), bytes)->digest(), source.digest());
  EXPECT_FALSE(NeededBy(CacheKey(BlobKind::kProgramList), bytes)) << "a list is of use while one binary is there";
}

}  // namespace
}  // namespace hearth
