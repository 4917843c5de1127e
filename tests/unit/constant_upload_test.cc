#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/graph/block_scales.h"
#include "core/plan/plan.h"
#include "hal/run/resident_constants.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::MemoryStore;

const std::vector<float>& ModelFloats() {
  static const std::vector<float> floats = {1, 2, 3, 4, 5};
  return floats;
}

std::span<const std::byte> ModelBytes() {
  return std::as_bytes(std::span(ModelFloats()));
}

CacheKey PackedWeightsKey(const PlanConstant& constant, std::span<const std::byte> source) {
  return KeyOf(WeightsRequest{{source}, constant.recipe});
}

// One constant of five floats that lies in the model's bytes.
Plan PlanWithOneConstant() {
  Plan plan;
  plan.buffers = {{BufferRole::kConstants, 32}};
  PlanConstant constant;
  constant.range = {0, 0, 32};
  constant.recipe = {PackLayout::kLinear, {DType::kFloat32, {5}, {}}, 4, {5, 1, 1, 1}};
  constant.source.size_bytes = ModelBytes().size();
  plan.constants.push_back(constant);
  return plan;
}

PlacedConstants Placed(Device& device, const Plan& plan, const ResidentConstants* held = nullptr) {
  return PlaceConstants(device, plan, held).value();
}

std::vector<std::byte> ContentsOf(Device& device, const Buffer& buffer) {
  std::vector<std::byte> contents;
  EXPECT_TRUE(device
                  .Read(buffer, 0, buffer.size_bytes(),
                        [&](std::span<const std::byte> memory) {
                          contents.assign(memory.begin(), memory.end());
                          return Status::Ok();
                        })
                  .ok());
  return contents;
}

TEST(ConstantUpload, GivesTheSameBytesFromTheCacheAsFromPacking) {
  NullDevice device(NullDeviceInfo());
  MemoryStore store;
  Plan plan = PlanWithOneConstant();
  const PlacedConstants packed = Placed(device, plan);
  ASSERT_TRUE(UploadConstants(device, packed, plan, {ModelBytes()}, &store).ok());
  plan.constants[0].is_kept = true;
  const CacheKey key = PackedWeightsKey(plan.constants[0], ModelBytes());
  const std::vector<std::byte> bytes = ContentsOf(device, *packed.made[0]);
  testing::PutOne(store, key, bytes, 1);
  const PlacedConstants read = Placed(device, plan);
  ASSERT_TRUE(UploadConstants(device, read, plan, {ModelBytes()}, &store).ok());
  EXPECT_EQ(store.counters().hits, 1u);
  EXPECT_EQ(ContentsOf(device, *read.made[0]), ContentsOf(device, *packed.made[0]));
}

TEST(ConstantUpload, SaysWhichBytesOfTheModelItHasRead) {
  NullDevice device(NullDeviceInfo());
  const PlacedConstants placed = Placed(device, PlanWithOneConstant());
  std::vector<std::pair<const std::byte*, size_t>> read;
  const auto done = [&](std::span<const std::byte> bytes) { read.emplace_back(bytes.data(), bytes.size()); };
  ASSERT_TRUE(UploadConstants(device, placed, PlanWithOneConstant(), {ModelBytes()}, nullptr, done).ok());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0], std::pair(ModelBytes().data(), ModelBytes().size()));
}

// Whether the bytes were in the device's memory when they had just been packed.
bool ArePackedInPlace(const DeviceInfo& info) {
  NullDevice device(info);
  const Plan plan = PlanWithOneConstant();
  const PlacedConstants placed = Placed(device, plan);
  std::vector<std::byte> when_packed;
  const auto done = [&](std::span<const std::byte>) { when_packed = ContentsOf(device, *placed.made[0]); };
  EXPECT_TRUE(UploadConstants(device, placed, plan, {ModelBytes()}, nullptr, done).ok());
  const std::vector<float> packed = {1, 2, 3, 4, 5, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(packed));
  const std::vector<std::byte> expected(bytes.begin(), bytes.end());
  EXPECT_EQ(ContentsOf(device, *placed.made[0]), expected);
  return when_packed == expected;
}

// A mapping may be uncached, where packing, which reads what it wrote, would crawl. Only Vulkan tells.
TEST(ConstantUpload, PacksInMappedMemoryOnlyWhereTheHostReadsItFast) {
  DeviceInfo info = NullDeviceInfo();
  for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kVulkan, Dialect::kGles}) {
    SCOPED_TRACE(DialectName(dialect));
    info.dialect = dialect;
    info.unified_memory = true;
    info.type = DeviceType::kIntegratedGpu;
    EXPECT_EQ(ArePackedInPlace(info), dialect == Dialect::kOpenCl);
    info.is_cached_by_host = dialect == Dialect::kVulkan;
    EXPECT_EQ(ArePackedInPlace(info), dialect != Dialect::kGles);
    info.is_cached_by_host = false;
    info.type = DeviceType::kCpu;
    EXPECT_TRUE(ArePackedInPlace(info));
    info.unified_memory = false;
    EXPECT_FALSE(ArePackedInPlace(info));
  }
}

TEST(ConstantUpload, PacksBesideTheMemoryOfASimulatedGpuOfOpenGlEs) {
  DeviceInfo driver = NullDeviceInfo();
  driver.dialect = Dialect::kGles;
  driver.type = DeviceType::kCpu;
  EXPECT_TRUE(ArePackedInPlace(driver));
  EXPECT_FALSE(ArePackedInPlace(Simulated(driver, **FindDeviceProfile("adreno640"))));
}

TEST(ConstantUpload, PacksWhenTheCacheHandsOutGarbage) {
  NullDevice device(NullDeviceInfo());
  MemoryStore store;
  Plan plan = PlanWithOneConstant();
  plan.constants[0].is_kept = true;
  const std::vector<std::byte> anything(32);
  const CacheKey key = PackedWeightsKey(plan.constants[0], ModelBytes());
  testing::PutOne(store, key, anything, 1);
  store.garble_reads = true;
  const PlacedConstants placed = Placed(device, plan);
  ASSERT_TRUE(UploadConstants(device, placed, plan, {ModelBytes()}, &store).ok());
  const std::vector<float> expected = {1, 2, 3, 4, 5, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(expected));
  EXPECT_EQ(ContentsOf(device, *placed.made[0]), std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// One constant of 512 KiB.
Plan PlanWithPlainConstant(StorageType storage, std::span<const std::byte> floats) {
  const auto count = static_cast<int32_t>(floats.size() / sizeof(float));
  Plan plan;
  PlanConstant constant;
  constant.recipe = {PackLayout::kLinear, {DType::kFloat32, {count}, {}}, 4, {count, 1, 1, 1}, storage};
  constant.source = {0, 0, floats.size()};
  constant.range = {0, 0, constant.recipe.packed_size_bytes()};
  plan.constants = {constant};
  return plan;
}

TEST(ConstantUpload, KeepsWhatIsCostlyToPackHoweverLongItTook) {
  const std::vector<std::byte> floats(512 << 10);
  for (const double took_ms : {0.001, 5000.0}) {
    MemoryStore store;
    Plan halves = PlanWithPlainConstant(StorageType::kFloat16, floats);
    Plan plain = PlanWithPlainConstant(StorageType::kFloat32, floats);
    for (Plan* plan : {&halves, &plain}) StoreCostlyConstants(*plan, std::vector{took_ms}, {floats}, store);
    EXPECT_TRUE(halves.constants[0].is_kept) << took_ms;
    EXPECT_FALSE(plain.constants[0].is_kept) << took_ms;
  }
}

TEST(ConstantUpload, KeepsNothingThatThisStartDidNotPack) {
  const std::vector<std::byte> floats(512 << 10);
  MemoryStore store;
  Plan halves = PlanWithPlainConstant(StorageType::kFloat16, floats);
  StoreCostlyConstants(halves, std::vector{0.0}, {floats}, store);
  EXPECT_FALSE(halves.constants[0].is_kept);
}

TEST(ConstantUpload, RefusesAPlanThatNamesBytesBehindTheModelsEnd) {
  NullDevice device(NullDeviceInfo());
  Plan plan = PlanWithOneConstant();
  plan.constants[0].source.offset_bytes = 4;
  const PlacedConstants placed = Placed(device, plan);
  EXPECT_EQ(UploadConstants(device, placed, plan, {ModelBytes()}, nullptr).status().code(),
            StatusCode::kMalformedInput);
}

TEST(ConstantUpload, TakesEachConstantFromItsOwnFile) {
  NullDevice device(NullDeviceInfo());
  Plan plan = PlanWithOneConstant();
  plan.constants[0].source.file = 1;
  const PlacedConstants placed = Placed(device, plan);
  const std::vector<std::byte> graph_file(3);
  ASSERT_TRUE(UploadConstants(device, placed, plan, {graph_file, ModelBytes()}, nullptr).ok());
  const std::vector<float> expected = {1, 2, 3, 4, 5, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(expected));
  EXPECT_EQ(ContentsOf(device, *placed.made[0]), std::vector<std::byte>(bytes.begin(), bytes.end()));
}

TEST(ConstantUpload, RefusesAPlanThatNamesAFileWhichTheModelLacks) {
  NullDevice device(NullDeviceInfo());
  Plan plan = PlanWithOneConstant();
  plan.constants[0].source.file = 1;
  const PlacedConstants placed = Placed(device, plan);
  const Status status = UploadConstants(device, placed, plan, {ModelBytes()}, nullptr).status();
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_EQ(status.message(), "the plan refers to file 1 of a model with 1 files");
}

// A row of four integers of a file, 0 to 255, in blocks of two, and at its end a scale for each block.
struct BlocksInFile {
  BlocksInFile() {
    const std::array<float, 2> scales = {0.5f, 2};
    std::memcpy(&bytes[4], scales.data(), sizeof scales);
    BlockScales blocks{.size = 2, .zero = 1};
    blocks.scales = {DType::kFloat32, {}, 2, 1, FileRange{0, 4, 8}};
    plan = PlanWithOneConstant();
    plan.constants[0].recipe = {
        PackLayout::kLinear, {DType::kUInt8, {1, 4}, GridOf(std::move(blocks))}, 4, {4, 1, 1, 1}};
    plan.constants[0].range.size_bytes = 16;
    plan.constants[0].source = {0, 0, 4};
  }
  std::array<std::byte, 12> bytes = {std::byte{1}, std::byte{3}, std::byte{5}, std::byte{255}};
  Plan plan;
};

TEST(ConstantUpload, ReadsTheScalesOfBlocksFromTheModelsFile) {
  const BlocksInFile file;
  const Result<Plan> plan = DeserializePlan(SerializePlan(file.plan));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(*plan, file.plan);
  NullDevice device(NullDeviceInfo());
  const PlacedConstants placed = Placed(device, *plan);
  ASSERT_TRUE(UploadConstants(device, placed, *plan, {file.bytes}, nullptr).ok());
  const std::vector<std::byte> made = ContentsOf(device, *placed.made[0]);
  const std::array<float, 4> expected = {0, 1, 8, 508};
  EXPECT_EQ(std::memcmp(made.data(), expected.data(), sizeof expected), 0);
}

TEST(ConstantUpload, RefusesBlocksWithoutAScaleForEach) {
  NullDevice device(NullDeviceInfo());
  const BlocksInFile file;
  for (const auto& [size, row_step, scale_bytes] :
       {std::tuple<int32_t, int64_t, uint64_t>{1, 2, 8}, {0, 2, 8}, {2, -1, 8}, {2, 2, 4}, {2, 2, 16}}) {
    Plan plan = file.plan;
    BlockScales blocks = *BlocksOf(plan.constants[0].recipe.source);
    blocks.size = size;
    blocks.scales.row_step = row_step;
    blocks.scales.source->size_bytes = scale_bytes;
    plan.constants[0].recipe.source.quantization = GridOf(std::move(blocks));
    const PlacedConstants placed = Placed(device, plan);
    EXPECT_EQ(UploadConstants(device, placed, plan, {file.bytes}, nullptr).status().code(), StatusCode::kMalformedInput)
        << size << ' ' << row_step << ' ' << scale_bytes;
  }
}

TEST(WeightsRequest, HasAKeyThatChangesWithTheContentAndTheLayout) {
  const Plan plan = PlanWithOneConstant();
  const std::vector<float> other = {1, 2, 3, 4, 6};
  PlanConstant wider = plan.constants[0];
  wider.recipe.width = 16;
  const Fingerprint base = PackedWeightsKey(plan.constants[0], ModelBytes()).digest();
  EXPECT_NE(base, PackedWeightsKey(plan.constants[0], std::as_bytes(std::span(other))).digest());
  EXPECT_NE(base, PackedWeightsKey(wider, ModelBytes()).digest());
}

}  // namespace
}  // namespace hearth
