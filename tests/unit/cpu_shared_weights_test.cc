// What host nodes pack of constants, and who reads the same copy.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/shared_weights.h"
#include "backends/cpu/host/vectorized.h"
#include "backends/cpu/integer/layer.h"
#include "core/base/fingerprint.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "tests/testing/host_graph.h"

namespace hearth {
namespace {

using testing::GraphUnderTest;

constexpr uint64_t kPackedBytes = 16 * 9 * 8 * sizeof(float);

// A convolution of 16 channels of 3x3x8 weights, twice with the same ones where `again`.
void AddConvolutions(GraphUnderTest& test, bool again) {
  const ValueId weights = test.Constant({16, 3, 3, 8});
  const ValueId x = test.Input({1, 6, 6, 8});
  const ValueId first = test.Add(Conv2D{}, {x, weights});
  if (again) test.Add(Binary{BinaryKind::kAdd}, {first, test.Add(Conv2D{}, {x, weights})});
  EXPECT_TRUE(InferShapes(test.graph()).ok());
}

// A convolution whose weights lie in a model's file from a byte on.
Graph GraphOfFile(const std::vector<float>& weights, uint64_t offset_bytes) {
  Graph graph;
  const ValueId x = graph.AddValue({"x", {DType::kFloat32, Shape{1, 6, 6, 8}}});
  const auto bytes = std::as_bytes(std::span(weights));
  const ConstantId constant = graph.BorrowConstant(bytes, FileRange{0, offset_bytes, bytes.size()});
  const ValueId w = graph.AddValue({"w", {DType::kFloat32, Shape{16, 3, 3, 8}}, constant});
  const ValueId y = graph.AddValue({"y", {}});
  graph.AddNode({Conv2D{}, {x, w}, {y}});
  graph.inputs = {x};
  graph.outputs = {y};
  EXPECT_TRUE(InferShapes(graph).ok());
  return graph;
}

std::unique_ptr<HostProgram> Prepared(HostExecutor& executor, const Graph& graph) {
  auto program = executor.Prepare(graph, testing::AllNodes(graph), graph.outputs, 1);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(program).value();
}

class CpuSharedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BestVectorSet() == VectorSet::kBase) GTEST_SKIP() << "without AVX2 XNNPACK packs the weights";
  }
  std::unique_ptr<HostExecutor> executor_ = MakeCpuExecutor();
};

TEST_F(CpuSharedWeights, NodesWithTheSameWeightsReadOneCopy) {
  GraphUnderTest test;
  AddConvolutions(test, true);
  const std::unique_ptr<HostProgram> program = Prepared(*executor_, test.graph());
  EXPECT_EQ(program->shared_weights_bytes(), kPackedBytes);
  EXPECT_EQ(program->weights_bytes(), kPackedBytes);
  EXPECT_EQ(program->found_weights_bytes(), 0u);
}

TEST_F(CpuSharedWeights, AnExecutorBesideFindsThemWhileAProgramIsAlive) {
  GraphUnderTest test;
  AddConvolutions(test, false);
  const Graph copy = test.graph().Clone();
  const std::unique_ptr<HostExecutor> beside = executor_->Beside();
  std::unique_ptr<HostProgram> first = Prepared(*executor_, test.graph());
  std::unique_ptr<HostProgram> second = Prepared(*beside, copy);
  EXPECT_EQ(second->found_weights_bytes(), kPackedBytes);
  EXPECT_EQ(beside->live_weights_bytes(), kPackedBytes) << "one copy";
  first.reset();
  EXPECT_EQ(executor_->live_weights_bytes(), kPackedBytes) << "of the second";
  second.reset();
  EXPECT_EQ(executor_->live_weights_bytes(), 0u);
  EXPECT_EQ(Prepared(*executor_, test.graph())->found_weights_bytes(), 0u);
}

TEST_F(CpuSharedWeights, MuchMemoryOfAProgramIsOneBlock) {
  SharedWeights shared;
  ProgramWeights little(shared, 1 << 20), much(shared, 16 << 20);
  EXPECT_EQ(little.Allocate(100).use_count(), 1) << "memory of its own";
  const std::shared_ptr<std::byte[]> first = much.Allocate(100), second = much.Allocate(8 << 20);
  EXPECT_EQ(first.get() + 128, second.get());
  EXPECT_EQ(much.Allocate(8 << 20).use_count(), 1) << "beyond the block";
  for (const auto& memory : {first, second}) EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
}

// Whole pages of this memory that take memory of the machine.
size_t ResidentPages(std::span<const std::byte> memory) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t first = RoundUp(begin, page_bytes), last = (begin + memory.size()) / page_bytes * page_bytes;
  std::vector<unsigned char> pages((last - first) / page_bytes);
  EXPECT_EQ(::mincore(reinterpret_cast<void*>(first), last - first, pages.data()), 0);
  return static_cast<size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST_F(CpuSharedWeights, APackingThatNobodyHoldsTakesNoMemoryOfItsBlock) {
  constexpr size_t kBytes = (4 << 20) + 64;
  SharedWeights shared;
  std::optional<ProgramWeights> weights(std::in_place, shared, 16 << 20);
  std::vector<std::shared_ptr<std::byte[]>> packings;
  for (int k = 0; k < 3; ++k) {
    packings.push_back(weights->Allocate(kBytes));
    std::fill_n(packings.back().get(), kBytes, std::byte{7});
  }
  weights.reset();
  const std::span<const std::byte> first(packings[0].get(), kBytes), second(packings[1].get(), kBytes);
  EXPECT_GT(ResidentPages(second), 0u);
  packings[1].reset();
  EXPECT_EQ(ResidentPages(second), 0u);
  for (const auto& kept : {first, std::span<const std::byte>(packings[2].get(), kBytes)})
    EXPECT_TRUE(std::ranges::all_of(kept, [](std::byte byte) { return byte == std::byte{7}; }));
}

TEST_F(CpuSharedWeights, ConstantsOfTheModelAreToldOnceTheyArePacked) {
  GraphUnderTest test;
  AddConvolutions(test, false);
  std::vector<std::span<const std::byte>> read;
  const auto note = [&](std::span<const std::byte> bytes) { read.push_back(bytes); };
  const auto prepare = [&](const Graph& graph) {
    EXPECT_TRUE(executor_->Prepare(graph, testing::AllNodes(graph), graph.outputs, 1, note).ok());
  };
  prepare(test.graph());
  EXPECT_TRUE(read.empty()) << "Hearth's own constants lie in no file";
  const std::vector<float> weights(16 * 3 * 3 * 8, 1.0f);
  const Graph from_file = GraphOfFile(weights, 0);
  prepare(from_file);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(static_cast<const void*>(read[0].data()), weights.data());
}

TEST_F(CpuSharedWeights, SessionsOfTheSameFilesFindEachOthersWhereverTheyMappedThem) {
  const std::vector<float> mapped(16 * 3 * 3 * 8, 1.0f), mapped_again = mapped;
  const Graph one = GraphOfFile(mapped, 64), same = GraphOfFile(mapped_again, 64), behind = GraphOfFile(mapped, 128);
  const auto other = MakeCpuExecutor(), stranger = MakeCpuExecutor();
  executor_->ShareWeightsOf(FingerprintOf(BytesOf("a file")));
  other->ShareWeightsOf(FingerprintOf(BytesOf("a file")));
  stranger->ShareWeightsOf(FingerprintOf(BytesOf("another file")));
  std::unique_ptr<HostProgram> first = Prepared(*executor_, one);
  const std::unique_ptr<HostProgram> second = Prepared(*other, same);
  EXPECT_EQ(second->found_weights_bytes(), kPackedBytes);
  EXPECT_EQ(Prepared(*other, behind)->found_weights_bytes(), 0u) << "other bytes of the file";
  EXPECT_EQ(Prepared(*stranger, one)->found_weights_bytes(), 0u);
  first.reset();
  EXPECT_EQ(Prepared(*MakeCpuExecutor(), one)->found_weights_bytes(), 0u) << "it was told of no file";
  EXPECT_EQ(Prepared(*executor_->Beside(), one)->found_weights_bytes(), kPackedBytes) << "of the second";
}

// Many nodes, each with the same constant.
uint64_t SharedBytesOf(const Op& op, DType dtype) {
  Graph graph;
  const TensorDesc desc{dtype, Shape{64, 64}};
  ValueId value = graph.AddValue({"x", desc});
  graph.inputs = {value};
  const ValueId w = graph.AddConstantValue("w", desc, std::vector<std::byte>(desc.size_bytes()));
  for (int k = 0; k < 20; ++k) {
    const ValueId y = graph.AddValue({"y", {}});
    graph.AddNode({op, {w, value}, {y}});
    value = y;
  }
  graph.outputs = {value};
  EXPECT_TRUE(InferShapes(graph).ok());
  return Prepared(*MakeCpuExecutor(), graph)->shared_weights_bytes();
}

TEST(SharedWeights, NodesShareTheFormInWhichTheyReadAConstant) {
  EXPECT_EQ(SharedBytesOf(BatchMatMul{}, DType::kFloat32), 64 * 64 * sizeof(float));
  EXPECT_EQ(SharedBytesOf(Binary{BinaryKind::kMul}, DType::kInt16), 64 * 64 * sizeof(double)) << "for the reference";
}

TEST(SharedWeights, AForkedChildHasItsOwnOnes) {
  const Fingerprint files = FingerprintOf(BytesOf("a file"));
  const std::shared_ptr<SharedWeights> own = SharedWeights::Of(files);
  EXPECT_EQ(SharedWeights::Of(files), own);
  const pid_t child = fork();
  if (child == 0) {
    const std::shared_ptr<SharedWeights> of_child = SharedWeights::Of(files);
    _exit(of_child != own && SharedWeights::Of(files) == of_child ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(CpuSharedWeights, ConstantsOfOtherContentAreOthers) {
  GraphUnderTest one, other;
  other.Constant({1});  // the next constant is random in another way
  AddConvolutions(one, false);
  AddConvolutions(other, false);
  const std::unique_ptr<HostProgram> first = Prepared(*executor_, one.graph());
  EXPECT_EQ(Prepared(*executor_, other.graph())->found_weights_bytes(), 0u);
}

TEST(WeightsKey, AnIntegerLayerOfAnotherGridIsAnother) {
  GraphUnderTest test;
  const ValueId weights = test.Constant({4});
  IntegerLayer layer;
  layer.multipliers = {0.5f, 0.25f};
  const Fingerprint before = KeyOf("matrix", layer, test.graph(), weights).digest();
  EXPECT_EQ(KeyOf("matrix", layer, test.graph(), weights).digest(), before);
  EXPECT_NE(KeyOf("depthwise", layer, test.graph(), weights).digest(), before);
  layer.multipliers[1] = 0.125f;
  EXPECT_NE(KeyOf("matrix", layer, test.graph(), weights).digest(), before);
}

}  // namespace
}  // namespace hearth
