#include "frontends/engine/self_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "core/base/error.h"
#include "core/base/text_bytes.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/lowering/lower.h"
#include "core/plan/key_fields.h"
#include "hal/plan_runner.h"
#include "hal/smaller_groups.h"

namespace hearth {

extern const std::string_view kSelfTestSources;  // a fingerprint: frontends/CMakeLists.txt lists the files

namespace {

// One dispatch reads what an earlier one wrote; there are sums over channels and windows, an exponential and a
// reduction. 4 does not divide the channels, and no work group divides the sizes.
constexpr std::string_view kNetwork = R"(graph "self-test"
%0 = input : float32[1x7x9x8] "x"
%1 = constant : float32[10x3x3x8] "filter" = fill(pattern)
%2 = constant : float32[10] "bias" = fill(pattern)
%3 = constant : float32[13x1x1x10] "pointwise filter" = fill(pattern)
%4 = add(%0, %0) activation=relu : float32[1x7x9x8] "elementwise"
%5 = conv_2d(%4, %1, %2) padding=same : float32[1x7x9x10] "convolution"
%6 = conv_2d(%5, %3, none) padding=same : float32[1x7x9x13] "pointwise convolution"
%7 = softmax(%6) : float32[1x7x9x13] "softmax"
output %4
output %5
output %6
output %7
)";

constexpr double kTolerance = 1e-4;  // relative to the largest element, as for models
constexpr std::string_view kPassed = "passed";

std::vector<float> TestInput(size_t count) {
  std::vector<float> numbers(count);
  for (size_t k = 0; k < count; ++k) numbers[k] = static_cast<float>(k * 37 % 101) / 50.0f - 1.0f;
  return numbers;
}

Status Compare(std::span<const float> result, const ReferenceTensor& reference, std::string_view what) {
  double largest = 1.0;
  for (const double number : reference.values) largest = std::max(largest, std::fabs(number));
  for (size_t k = 0; k < result.size(); ++k) {
    const double difference = std::fabs(result[k] - reference.values[k]);
    if (difference <= kTolerance * largest) continue;  // false for NaN
    return Error(StatusCode::kUnavailable, "element {} of its {} is {:.6g} instead of {:.6g}", k, what, result[k],
                 reference.values[k]);
  }
  return Status::Ok();
}

struct SelfTest {
  Graph graph;
  std::vector<float> input;
  std::vector<ReferenceTensor> expected;
};

Result<SelfTest> MakeSelfTest() {
  SelfTest test;
  HEARTH_ASSIGN(test.graph, GraphFromText(kNetwork));
  HEARTH_TRY(InferShapes(test.graph));
  const TensorDesc& desc = test.graph.value(test.graph.inputs[0]).desc;
  test.input = TestInput(static_cast<size_t>(desc.shape.element_count()));
  HEARTH_ASSIGN(const ReferenceTensor input, ReferenceFromBytes(desc, std::as_bytes(std::span(test.input))));
  HEARTH_ASSIGN(test.expected, EvaluateGraph(test.graph, {&input, 1}));
  return test;
}

Result<std::vector<std::vector<float>>> RunBy(AccessPath path, const SelfTest& test, Device& device,
                                              const std::stop_token& stop) {
  LowerOptions options;
  options.read_path = path;
  const std::unique_ptr<HostExecutor> host = MakeCpuExecutor();
  RunnerParts parts;
  parts.device = &device;
  parts.graph = &test.graph;
  parts.host = host.get();
  parts.stop = stop;
  std::unique_ptr<PlanRunner> runner;
  DeviceInfo info = device.info();
  HEARTH_TRY(MakeInSmallerGroups(device, info, [&]() -> Status {
    HEARTH_ASSIGN(Plan plan, Lower(test.graph, info, options));
    HEARTH_ASSIGN(runner, PlanRunner::Create(std::move(plan), parts));
    return Status::Ok();
  }));
  std::vector<std::vector<float>> results;
  for (const ReferenceTensor& reference : test.expected)
    results.emplace_back(reference.values.size(), std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(test.input))};
  std::vector<std::span<std::byte>> outputs;
  for (std::vector<float>& result : results) outputs.push_back(std::as_writable_bytes(std::span(result)));
  HEARTH_TRY(runner->Run(inputs, outputs));
  return results;
}

Status TestPath(AccessPath path, const SelfTest& test, Device& device, const std::stop_token& stop) {
  const Result<std::vector<std::vector<float>>> results = RunBy(path, test, device, stop);
  // A driver may offer texel buffers and refuse to read through them; see read_path_probe.cc.
  const bool may_refuse = path == AccessPath::kTexelBuffer && results.status().code() != StatusCode::kDeviceLost;
  if (!results.ok()) return may_refuse && !stop.stop_requested() ? Status::Ok() : results.status();
  for (size_t k = 0; k < results->size(); ++k) {
    HEARTH_TRY(Compare((*results)[k], test.expected[k], test.graph.value(test.graph.outputs[k]).name)
                   .Within(fmt::format("its driver computes wrong results (update it, or see what fails with `hearth "
                                       "conformance`): read by {}",
                                       AccessPathName(path))));
  }
  return Status::Ok();
}

struct SelfTestRequest {
  static constexpr BlobKind kKind = BlobKind::kSelfTest;
  DeviceIdentity device;
  Field<kSelfTestSourcesField> sources = std::string(kSelfTestSources);
  Unkeyed<Device*> opened;  // it is that device
  Unkeyed<std::stop_token> stop;
};

Result<std::monostate> PassFrom(const SelfTestRequest& /*request*/, const StoredEntry& entry) {
  if (TextFrom(entry.bytes) == kPassed) return std::monostate();
  return Error(StatusCode::kMalformedInput, "it is not a pass");
}

Result<std::monostate> PassNow(const SelfTestRequest& request) {
  HEARTH_TRY(RunSelfTest(*request.opened.value, request.stop.value));
  return std::monostate();
}

}  // namespace

bool NeedsSelfTest(const DeviceInfo& info) {
  return !info.is_host() && !info.is_software();
}

Status RunSelfTest(Device& device, const std::stop_token& stop) {
  HEARTH_ASSIGN(const SelfTest test, MakeSelfTest());
  for (const AccessPath path : {AccessPath::kBuffer, AccessPath::kTexelBuffer}) {
    if (path == AccessPath::kTexelBuffer && device.info().max_texel_elements == 0) continue;
    const Status status = TestPath(path, test, device, stop);
    if (status.ok()) continue;
    if (stop.stop_requested()) return status;
    return Error(StatusCode::kUnavailable, "{} failed the self-test: {}", device.info().name, status.message());
  }
  return Status::Ok();
}

Status PassSelfTest(Device& device, const DeviceInfo& info, ResultCache* cache, const std::stop_token& stop) {
  const SelfTestRequest request{.device = &info, .opened = {&device}, .stop = {stop}};
  HEARTH_ASSIGN(const auto passed, GetOrMake(cache, request, PassFrom, PassNow));
  if (cache != nullptr && !passed.found_as) cache->Put(request, BytesOf(kPassed), passed.cost_ms);
  return Status::Ok();
}

}  // namespace hearth
