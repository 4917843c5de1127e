// Layers of unusual sizes on the host: what they compute, and that their copies and lists take little memory. Workers
// that run out of memory.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "backends/cpu/cpu_executor.h"
#include "backends/cpu/host/worker_pool.h"
#include "backends/cpu/integer/matrix_kernel.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "tests/testing/child_process.h"
#include "tests/testing/host_graph.h"
#include "tests/testing/integer_graph.h"

namespace hearth {
namespace {

using testing::AllNodes;
using testing::ExitCodeInLittleMemory;
using testing::ExpectReferenceResult;
using testing::GraphUnderTest;
using testing::Grid;
using testing::IntegerGraph;
using testing::IntegerResults;
using testing::RunIntegers;
using testing::RunOnHost;

bool IsPrepared(Graph& graph) {
  if (!InferShapes(graph).ok()) return false;
  return MakeCpuExecutor()->Prepare(graph, AllNodes(graph), graph.outputs, 1).ok();
}

GraphUnderTest Convolution(const Window2D& window, const Shape& x, const Shape& filter) {
  GraphUnderTest test;
  Conv2D conv;
  conv.window = window;
  test.Add(conv, {test.Input(x), test.Constant(filter), test.Constant({filter[0]})});
  return test;
}

Window2D Spread(int32_t dilation) {
  return {1, 1, dilation, dilation, {PaddingMode::kSame}};
}

TEST(CpuUnusualSizes, ConvolutionsWhoseTapsAreFartherApartThanTheImageFollowTheReference) {
  for (const int32_t dilation : {20, 40, 5000}) {
    GraphUnderTest test = Convolution(Spread(dilation), {2, 24, 26, 16}, {5, 3, 3, 16});
    ExpectReferenceResult(test);
  }
}

TEST(CpuUnusualSizes, AConvolutionCopiesNoPaddingThatDilationMakes) {
  GraphUnderTest test = Convolution(Spread(1024), {1, 24, 24, 16}, {3, 3, 3, 16});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  EXPECT_EQ(ExitCodeInLittleMemory([&test] { return !RunOnHost(test.graph(), 1).empty(); }), 0);
}

TEST(CpuUnusualSizes, AConvolutionWhoseLastWindowEndsBeforeTheImageFollowsTheReference) {
  GraphUnderTest test =
      Convolution({1, 100, 1, 1, {PaddingMode::kExplicit, 0, 0, 2450, 0}}, {1, 2, 5, 1}, {2, 1, 1, 1});
  ExpectReferenceResult(test);
}

TEST(CpuUnusualSizes, ConvolutionsWithVeryLongWindowsFollowTheReference) {
  for (const int32_t width : {20, 30}) {
    GraphUnderTest test = Convolution(Spread(1), {1, 3, width, 1}, {2, 1, 300'001, 1});
    ExpectReferenceResult(test);
  }
}

TEST(CpuUnusualSizes, CopiesOfVeryLongWindowsTakeLittleMemory) {
  GraphUnderTest test = Convolution(Spread(1), {4, 1, 20, 1}, {1, 1, 600'001, 1});
  ASSERT_TRUE(InferShapes(test.graph()).ok());
  EXPECT_EQ(ExitCodeInLittleMemory([&test] { return !RunOnHost(test.graph(), 1).empty(); }), 0);
}

constexpr float kWeightScale = 0.0067f;

IntegerGraph Depthwise(int32_t width, int32_t taps) {
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 1, width, 2}, {DType::kInt8, {0.043f}, {-7}});
  const ValueId w = graph.Constant({1, 1, taps, 2}, {DType::kInt8, {kWeightScale}, {0}, 3});
  graph.Add(DepthwiseConv2D{Spread(1), Activation::kNone}, {x, w}, {DType::kInt8, {0.71f}, {11}});
  return graph;
}

IntegerGraph Grouped(int32_t groups) {
  IntegerGraph graph;
  const ValueId x = graph.Input({1, 4, 4, groups}, {DType::kInt8, {0.043f}, {-7}});
  const Grid by_channel{DType::kInt8, std::vector<float>(static_cast<size_t>(groups), kWeightScale), {}, 0};
  const ValueId w = graph.Constant({groups, 1, 1, 1}, by_channel);
  graph.Add(Conv2D{Spread(1), Activation::kNone}, {x, w}, {DType::kInt8, {0.043f}, {11}});
  return graph;
}

// Expects the reference's result, give or take a step, from the node's kernel for integers or from another one.
void ExpectSteps(IntegerGraph integers, bool in_integers) {
  const IntegerResults results = RunIntegers(integers.graph());
  ASSERT_EQ(results.kernels.size(), 1u);
  EXPECT_EQ(results.kernels[0] == "integer", in_integers) << results.kernels[0] << ToText(integers.graph());
  for (size_t k = 0; k < results.host.size(); ++k) {
    const int host = static_cast<int8_t>(results.host[k]), wanted = static_cast<int8_t>(results.reference[k]);
    ASSERT_LE(std::abs(host - wanted), 1) << "element " << k << " of\n" << ToText(integers.graph());
  }
}

TEST(CpuUnusualSizes, DepthwiseLayersOf8BitsWithTooManyTapsForAListRunInFloats) {
  if (BestIntegerSet() == IntegerSet::kNone) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  ExpectSteps(Depthwise(1000, 1000), true);
  ExpectSteps(Depthwise(2048, 1200), false);
}

TEST(CpuUnusualSizes, ListsOfTheTapsOfADepthwiseLayerTakeLittleMemory) {
  IntegerGraph graph = Depthwise(4096, 8192);
  EXPECT_EQ(ExitCodeInLittleMemory([&graph] { return IsPrepared(graph.graph()); }), 0);
}

TEST(CpuUnusualSizes, ConvolutionsOf8BitsWithThousandsOfGroupsAreTheReferences) {
  if (BestIntegerSet() == IntegerSet::kNone) GTEST_SKIP() << "this processor has no AVX2: layers run in floats";
  ExpectSteps(Grouped(1000), true);
  ExpectSteps(Grouped(5000), false);
}

TEST(CpuUnusualSizes, ALayerOfManyGroupsTakesLittleMemory) {
  IntegerGraph graph = Grouped(200'000);
  EXPECT_EQ(ExitCodeInLittleMemory([&graph] { return IsPrepared(graph.graph()); }), 0);
}

TEST(CpuUnusualSizes, PoolsWithWindowsFarLargerThanTheImageTakeLittleMemory) {
  for (const PoolKind kind : {PoolKind::kAverage, PoolKind::kMax}) {
    GraphUnderTest test;
    Pool2D pool{.kind = kind, .kernel_h = 5000, .kernel_w = 5000};
    pool.window.padding.mode = PaddingMode::kSame;
    test.Add(pool, {test.Input({1, 3, 4, 2})});
    EXPECT_EQ(ExitCodeInLittleMemory([&test] { return IsPrepared(test.graph()); }), 0);
    ExpectReferenceResult(test);
  }
}

TEST(CpuUnusualSizes, AnExceptionOfAWorkerReachesTheThreadThatWaits) {
  constexpr size_t kThreads = 3;
  WorkerPool pool(kThreads, kThreads);
  std::mutex mutex;
  std::condition_variable all_came;
  std::set<std::thread::id> threads;
  const std::thread::id caller = std::this_thread::get_id();
  const auto fail_in_workers = [&](int64_t) {
    {
      std::unique_lock<std::mutex> lock(mutex);  // until each thread has a piece
      threads.insert(std::this_thread::get_id());
      all_came.notify_all();
      all_came.wait(lock, [&] { return threads.size() == kThreads; });
    }
    if (std::this_thread::get_id() != caller) throw std::bad_alloc();
  };
  EXPECT_THROW(pool.ForEach(kThreads, fail_in_workers), std::bad_alloc);
  EXPECT_EQ(threads.size(), kThreads);
}

TEST(CpuUnusualSizes, AfterAnExceptionALoopOfTheSameThreadsRunsToItsEnd) {
  for (const int threads : {1, 2, 3}) {
    WorkerPool pool(threads, threads);
    for (int loop = 0; loop < 50; ++loop) {
      const auto fail = [](int64_t k) {
        if (k % 7 == 0) throw std::bad_alloc();
      };
      EXPECT_THROW(pool.ForEach(64, fail), std::bad_alloc);
      std::atomic<int> calls = 0;
      pool.ForEach(64, [&calls](int64_t) { ++calls; });
      ASSERT_EQ(calls, 64) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace hearth
