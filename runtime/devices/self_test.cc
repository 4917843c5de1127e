#include "runtime/devices/self_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "core/plan/key_fields.h"
#include "hal/programs/smaller_groups.h"
#include "hal/run/plan_runs.h"

namespace hearth {

extern const std::string_view kSelfTestSources;  // a fingerprint: frontends/CMakeLists.txt lists the files

namespace {

constexpr double kTolerance = 1e-4;  // relative to the largest element, as for models
constexpr std::string_view kPassed = "passed";

std::vector<float> TestNumbers(const Shape& shape, size_t step) {
  std::vector<float> numbers(static_cast<size_t>(shape.element_count()));
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(k * step % 101) / 50.0f - 1.0f;
  return numbers;
}

// One dispatch reads what an earlier one wrote; there are sums over channels and windows, an exponential and a
// reduction. 4 does not divide the channels, and no work group divides the sizes.
Graph TestNetwork() {
  Graph graph;
  const auto value = [&](const char* name, const Shape& shape) {
    return graph.AddValue({name, {DType::kFloat32, shape, {}}, {}});
  };
  const auto constant = [&](const char* name, const Shape& shape, size_t step) {
    return graph.AddFloatConstant(name, shape, TestNumbers(shape, step));
  };
  const auto node = [&](const char* name, Op op, std::vector<ValueId> inputs) {
    graph.outputs.push_back(value(name, {}));
    graph.AddNode({std::move(op), std::move(inputs), {graph.outputs.back()}, ""});
    return graph.outputs.back();
  };
  const Window2D same{.padding = {PaddingMode::kSame}};
  const ValueId x = value("x", {1, 7, 9, 8});
  graph.inputs = {x};
  const ValueId sum = node("elementwise", Binary{BinaryKind::kAdd, Activation::kRelu}, {x, x});
  const ValueId wide = node("convolution", Conv2D{.window = same},
                            {sum, constant("filter", {10, 3, 3, 8}, 29), constant("bias", {10}, 41)});
  const ValueId pointwise = node("pointwise convolution", Conv2D{.window = same},
                                 {wide, constant("pointwise filter", {13, 1, 1, 10}, 53), kNoValue});
  node("softmax", Softmax{}, {pointwise});
  return graph;
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
  test.graph = TestNetwork();
  HEARTH_TRY(InferShapes(test.graph));
  const TensorDesc& desc = test.graph.value(test.graph.inputs[0]).desc;
  test.input = TestNumbers(desc.shape, 37);
  HEARTH_ASSIGN(const ReferenceTensor input, ReferenceFromBytes(desc, std::as_bytes(std::span(test.input))));
  HEARTH_ASSIGN(test.expected, EvaluateGraph(test.graph, {&input, 1}));
  return test;
}

Result<std::vector<std::vector<float>>> RunBy(AccessPath path, const SelfTest& test, Device& device,
                                              const std::stop_token& stop) {
  LowerOptions options;
  options.read_path = path;
  const std::unique_ptr<HostExecutor> host = MakeCpuExecutor();
  ReadyPlan ready;
  DeviceInfo info = device.info();
  HEARTH_TRY(MakeInSmallerGroups(device, info, [&]() -> Status {
    HEARTH_ASSIGN(Plan plan, Lower(test.graph, info, options));
    HEARTH_ASSIGN(ready, MakePlanReady(std::move(plan),
                                       {.device = &device, .graph = &test.graph, .host = host.get(), .stop = stop}));
    return Status::Ok();
  }));
  std::vector<std::vector<float>> results;
  for (const ReferenceTensor& reference : test.expected)
    results.emplace_back(reference.values.size(), std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(test.input))};
  std::vector<std::span<std::byte>> outputs;
  for (std::vector<float>& result : results) outputs.push_back(std::as_writable_bytes(std::span(result)));
  HEARTH_TRY(ready.runs->Run(inputs, outputs));
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
