// OpenCL is told that no kernel reads what it writes, but for those that say so: it has to be true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "backends/null/device.h"
#include "conformance/conformance_case.h"
#include "core/emit/emit.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "core/plan/plan.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool SaysInPlace(const KernelSource& kernel) {
  return std::ranges::any_of(kernel.defines,
                             [](const Define& define) { return define.name == kInPlace && define.value == "1"; });
}

// Whether an argument that is written is also another one.
bool WritesWhatItReads(const Dispatch& dispatch, const KernelSource& kernel) {
  for (size_t k = 0; k < kernel.tensors.size(); ++k) {
    if (kernel.tensors[k].direction != ArgDirection::kWrite) continue;
    for (size_t other = 0; other < kernel.tensors.size(); ++other)
      if (other != k && Overlap(dispatch.tensors[k], dispatch.tensors[other])) return true;
  }
  return false;
}

// The conformance cases, by family.
std::map<std::string, std::vector<conformance::ConformanceCase>> Families() {
  std::map<std::string, std::vector<conformance::ConformanceCase>> families;
  for (conformance::ConformanceCase& test : conformance::AllCases()) families[test.family].push_back(std::move(test));
  return families;
}

TEST(KernelsInPlace, AreThoseThatSaySo) {
  size_t dispatches = 0, in_place = 0;
  for (const auto& [family, cases] : Families()) {
    for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kVulkan}) {
      DeviceInfo device = NullDeviceInfo();
      device.dialect = dialect;
      device.type = dialect == Dialect::kOpenCl ? DeviceType::kCpu : DeviceType::kDiscreteGpu;
      conformance::CaseBatch batch;
      for (const conformance::ConformanceCase& test : cases) {
        const std::string id = test.id();
        conformance::CaseGraph graph(batch, id);
        batch.graph.outputs.push_back(test.build(graph));
      }
      ASSERT_TRUE(InferShapes(batch.graph).ok()) << family;
      const Result<Plan> plan = Lower(batch.graph, device, {});
      ASSERT_TRUE(plan.ok()) << family << ": " << plan.status().message();
      for (const Dispatch& dispatch : plan->dispatches) {
        const KernelSource& kernel = plan->kernels[dispatch.kernel];
        ++dispatches;
        in_place += WritesWhatItReads(dispatch, kernel) ? 1 : 0;
        EXPECT_EQ(WritesWhatItReads(dispatch, kernel), SaysInPlace(kernel)) << dispatch.label << ", " << kernel.name;
      }
    }
  }
  EXPECT_GT(dispatches, 1000u);
  EXPECT_GT(in_place, 0u);
}

TEST(KernelsInPlace, PromiseOpenClNothing) {
  KernelSource kernel;
  kernel.name = "copy";
  kernel.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  kernel.body = "y_store(0, x_load(0))\n";
  EXPECT_THAT(Emit(kernel, Dialect::kOpenCl), HasSubstr("__global const float4* px_alone px_x"));
  EXPECT_THAT(Emit(kernel, Dialect::kOpenCl), HasSubstr("__global float4* px_alone px_y"));
  kernel.defines = {{std::string(kInPlace), "1"}};
  EXPECT_THAT(Emit(kernel, Dialect::kOpenCl), Not(HasSubstr("px_alone px_")));
}

}  // namespace
}  // namespace hearth
