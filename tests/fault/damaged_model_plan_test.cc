// Damaged copies of models all the way to a plan: reading, shapes, passes, lowering for a GPU and for the CPU. Each is
// one clear error or a plan, never a crash. Meant to be run with the sanitizers too.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "backends/cpu/cpu_executor.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/reader.h"
#include "hearth/session.h"
#include "tests/testing/described_gpu.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

constexpr int kCopies = 60;
constexpr int kFlipsPerCopy = 3;

std::vector<std::max_align_t> ReadAligned(const std::filesystem::path& path, size_t& size_bytes) {
  size_bytes = std::filesystem::file_size(path);
  std::vector<std::max_align_t> storage(size_bytes / sizeof(std::max_align_t) + 1);
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(storage.data()), static_cast<std::streamsize>(size_bytes));
  return storage;
}

// What a session does up to the driver. Damage is an input's fault, so no other error may come out.
void ExpectErrorOrPlan(std::span<const std::byte> bytes, const DeviceInfo& device) {
  const auto make = [&]() -> Result<Plan> {
    Result<Graph> graph = ReadTfliteModel(bytes);
    if (!graph.ok()) return graph.status();
    if (const Status status = InferShapes(*graph); !status.ok()) return status;
    if (const Status status = RunPasses(*graph, device, {}); !status.ok()) return status;
    return Lower(*graph, device, {});
  };
  const Result<Plan> plan = make();
  if (plan.ok()) return;
  const StatusCode code = plan.status().code();
  EXPECT_TRUE(code == StatusCode::kMalformedInput || code == StatusCode::kUnsupported ||
              code == StatusCode::kResourceExhausted)
      << StatusCodeName(code) << ": " << plan.status().message();
  EXPECT_FALSE(plan.status().message().empty());
}

class DamagedModelPlan : public ::testing::TestWithParam<const char*> {};

TEST_P(DamagedModelPlan, IsAnErrorOrAPlan) {
  const auto path = std::string(GetParam()) == "demo"
                        ? SourceFolder() / "tools" / "demo" / "shapes_f32.tflite"
                        : SharedFolder() / "models" / (std::string(GetParam()) + ".tflite");
  HEARTH_SKIP_WITHOUT(path);
  size_t size_bytes = 0;
  std::vector<std::max_align_t> storage = ReadAligned(path, size_bytes);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(storage)).first(size_bytes);
  constexpr uint32_t kSeed = 20250101;
  std::mt19937 random(kSeed);
  for (int copy = 0; copy < testing::SanitizersRounds(kCopies, 4); ++copy) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", copy " << copy);
    std::vector<std::pair<size_t, std::byte>> undo;
    for (int flip = 0; flip < kFlipsPerCopy; ++flip) {
      // Tables, options and shapes lie in the file's first and last kilobytes more than between the weights.
      const size_t near_end = std::min<size_t>(size_bytes, 40000);
      const size_t at = flip == 0 ? random() % size_bytes : size_bytes - 1 - random() % near_end;
      undo.emplace_back(at, bytes[at]);
      bytes[at] ^= static_cast<std::byte>(1u << random() % 8);
    }
    ExpectErrorOrPlan(bytes, testing::DescribedGpu(copy % 2 == 0 ? Dialect::kOpenCl : Dialect::kVulkan));
    ExpectErrorOrPlan(bytes, CpuDeviceInfo());
    for (auto at = undo.rbegin(); at != undo.rend(); ++at) bytes[at->first] = at->second;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DamagedModelPlan,
                         ::testing::Values("demo", "mobilenet_v1_0.25_224_f32", "mobilenet_v1_1.0_224_f32_dequant",
                                           "posenet_mobilenet_v1_100_257x257_f32_dequant", "deeplabv3_257_mv_gpu"));

TEST(DamagedModelRun, ADamagedDemoModelIsAnErrorOrRunsOnTheCpu) {
  const auto path = SourceFolder() / "tools" / "demo" / "shapes_f32.tflite";
  size_t size_bytes = 0;
  const std::vector<std::max_align_t> storage = ReadAligned(path, size_bytes);
  constexpr uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  SessionOptions options{.device = "cpu", .use_cache = false};
  for (int copy = 0; copy < 20; ++copy) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", copy " << copy);
    std::vector<std::byte> bytes(size_bytes);
    std::memcpy(bytes.data(), storage.data(), size_bytes);
    bytes[random() % size_bytes] ^= static_cast<std::byte>(1u << random() % 8);
    Result<Model> model = Model::FromMemory(bytes);
    if (!model.ok()) continue;
    Result<Session> session = Session::Create(*model, options);
    if (!session.ok()) continue;
    for (size_t k = 0; k < session->inputs().size(); ++k) {
      ASSERT_TRUE(session->SetInput(k, std::vector<std::byte>(session->inputs()[k].size_bytes)).ok());
    }
    EXPECT_TRUE(session->Run().ok());
  }
}

}  // namespace
}  // namespace hearth
