#include "tests/conformance/suite.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "backends/cpu/cpu_executor.h"
#include "core/error.h"
#include "core/lower.h"
#include "core/op_text.h"
#include "hal/plan_runner.h"
#include "hal/stopwatch.h"
#include "tests/conformance/expectations.h"
#include "tests/conformance/tolerance.h"

namespace hearth::conformance {
namespace {

using CaseList = std::vector<const ConformanceCase*>;

Result<CaseBatch> BuildBatch(const CaseList& cases) {
  CaseBatch batch;
  for (const ConformanceCase* test : cases) {
    const std::string id = test->id();
    CaseGraph graph(batch, id);
    batch.graph.outputs.push_back(test->build(graph));
  }
  HEARTH_TRY(InferShapes(batch.graph));
  HEARTH_TRY(batch.graph.Validate());
  return batch;
}

// Host memory of tensors: one buffer each, as PlanRunner takes them.
std::vector<std::vector<float>> InputsOf(const CaseBatch& batch) {
  std::vector<std::vector<float>> inputs;
  for (const ReferenceTensor& input : batch.inputs) inputs.emplace_back(input.values.begin(), input.values.end());
  return inputs;
}

std::vector<std::vector<float>> OutputsOf(const CaseBatch& batch) {
  std::vector<std::vector<float>> outputs;
  for (ValueId output : batch.graph.outputs) {
    outputs.emplace_back(static_cast<size_t>(batch.graph.value(output).desc.shape.element_count()));
  }
  return outputs;
}

std::string ShortNumber(double number) {
  return fmt::format("{:.3g}", number);
}

class PathRun {
 public:
  PathRun(Device* device, const DeviceInfo& info, std::optional<AccessPath> path)
      : device_(device), info_(info), host_(MakeCpuExecutor()) {
    options_.read_path = path;
    path_name_ = path ? std::string(AccessPathName(*path)) : "host";
  }

  void Run(const CaseList& family, std::vector<CaseResult>& results) {
    CaseList supported;
    for (const ConformanceCase* test : family) {
      if (std::optional<CaseResult> result = CheckPlacement(*test)) {
        results.push_back(std::move(*result));
      } else {
        supported.push_back(test);
      }
    }
    if (supported.empty()) return;
    const size_t first = results.size();
    const Status status = RunBatch(supported, results);
    if (status.ok()) return;
    results.resize(first);
    if (supported.size() == 1) {
      CaseResult result = NewResult(*supported[0]);
      Fail(result, status.message());
      results.push_back(std::move(result));
      return;
    }
    for (const ConformanceCase* test : supported) Run({test}, results);
  }

 private:
  CaseResult NewResult(const ConformanceCase& test) const {
    CaseResult result;
    result.op = test.op;
    result.name = test.name;
    result.path = path_name_;
    return result;
  }

  // A failure, unless it is listed.
  void Fail(CaseResult& result, const std::string& why) const {
    const Expectation* expected = FindExpectation(ExpectedFailures(info_.backend), result.id());
    result.outcome = expected != nullptr ? Outcome::kExpectedFailure : Outcome::kFailed;
    result.detail = expected != nullptr ? fmt::format("{} ({})", why, expected->reason) : why;
  }

  // A result for a case that is not to be run: lowering leaves it to the host, or it is no valid graph.
  std::optional<CaseResult> CheckPlacement(const ConformanceCase& test) const {
    if (device_ == nullptr) return std::nullopt;
    CaseResult result = NewResult(test);
    const Result<CaseBatch> batch = BuildBatch({&test});
    if (!batch.ok()) {
      Fail(result, batch.status().message());
      return result;
    }
    const Expectation* listed = FindExpectation(Unsupported(info_.backend), test.id());
    for (const Placement& placement : PlaceNodes(batch->graph, info_, options_)) {
      if (placement.on_device) continue;
      result.outcome = listed != nullptr ? Outcome::kUnsupported : Outcome::kFailed;
      result.detail = placement.reason;
      if (listed == nullptr) result.detail = "runs on the host and is not listed as unsupported: " + placement.reason;
      return result;
    }
    if (listed == nullptr) return std::nullopt;
    Fail(result, fmt::format("is listed as unsupported ({}) but runs: take it off the list", listed->reason));
    return result;
  }

  Status RunBatch(const CaseList& cases, std::vector<CaseResult>& results) {
    HEARTH_ASSIGN(const CaseBatch batch, BuildBatch(cases));
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> references, EvaluateGraph(batch.graph, batch.inputs));
    HEARTH_ASSIGN(Plan plan, Lower(batch.graph, info_, options_));
    RunnerParts parts;
    parts.device = device_;
    parts.graph = &batch.graph;
    parts.host = host_.get();
    parts.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    HEARTH_ASSIGN(const std::unique_ptr<PlanRunner> runner, PlanRunner::Create(std::move(plan), parts));

    const std::vector<std::vector<float>> inputs = InputsOf(batch);
    std::vector<std::vector<float>> outputs = OutputsOf(batch);
    std::vector<std::span<const std::byte>> input_bytes;
    for (const std::vector<float>& input : inputs) input_bytes.push_back(std::as_bytes(std::span(input)));
    std::vector<std::span<std::byte>> output_bytes;
    for (std::vector<float>& output : outputs) output_bytes.push_back(std::as_writable_bytes(std::span(output)));
    HEARTH_TRY(runner->Run(input_bytes, output_bytes));

    for (size_t k = 0; k < cases.size(); ++k) results.push_back(Judged(*cases[k], references[k].values, outputs[k]));
    return AddTimes(*runner, batch.graph, input_bytes, output_bytes,
                    {results.end() - static_cast<int64_t>(cases.size()), results.end()});
  }

  CaseResult Judged(const ConformanceCase& test, std::span<const double> reference,
                    std::span<const float> result_values) const {
    CaseResult result = NewResult(test);
    const Judgement judgement = Judge(test.exactness, reference, result_values);
    result.judged = true;
    result.worst_error = judgement.worst_error;
    result.tolerance = judgement.tolerance;
    if (!judgement.ok()) {
      Fail(result, fmt::format("element {} is {}, expected {}: off by {}, allowed {}", judgement.worst_index,
                               result_values[judgement.worst_index], reference[judgement.worst_index],
                               ShortNumber(judgement.worst_error), ShortNumber(judgement.tolerance)));
    } else if (const Expectation* expected = FindExpectation(ExpectedFailures(info_.backend), test.id())) {
      result.outcome = Outcome::kFailed;
      result.detail =
          fmt::format("is listed as an expected failure ({}) but passes: take it off the list", expected->reason);
    }
    return result;
  }

  // A second run, timed by dispatch: the first one of a program may compile.
  Status AddTimes(PlanRunner& runner, const Graph& graph, std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs, std::span<CaseResult> results) {
    if (device_ == nullptr) return Status::Ok();
    HEARTH_ASSIGN(const std::vector<ProfileRow> rows, runner.RunProfiled(inputs, outputs));
    std::map<std::string, std::string> case_of_label;
    for (const Node& node : graph.nodes()) case_of_label[NodeLabel(node)] = node.name;
    std::map<std::string, double> milliseconds;
    for (const ProfileRow& row : rows) milliseconds[case_of_label[row.label]] += row.milliseconds;
    for (CaseResult& result : results) result.milliseconds = milliseconds[result.id()];
    return Status::Ok();
  }

  Device* device_;
  const DeviceInfo& info_;
  LowerOptions options_;
  std::string path_name_;
  std::unique_ptr<HostExecutor> host_;
};

// The default path first: it runs all cases, a further one those that ask for it.
std::vector<std::optional<AccessPath>> PathsOf(const Device* device, const DeviceInfo& info) {
  if (device == nullptr) return {std::nullopt};
  const AccessPath standard = DefaultReadPath(info);
  if (info.max_texel_elements == 0) return {standard};
  return {standard, standard == AccessPath::kBuffer ? AccessPath::kTexelBuffer : AccessPath::kBuffer};
}

}  // namespace

int DeviceResults::Count(Outcome outcome) const {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(), [&](const CaseResult& result) { return result.outcome == outcome; }));
}

DeviceResults RunCases(std::string device_id, Device* device, const DeviceInfo& info,
                       std::span<const ConformanceCase> cases) {
  const Stopwatch watch;
  DeviceResults results{std::move(device_id), info, {}, 0};
  const std::vector<std::optional<AccessPath>> paths = PathsOf(device, info);
  for (size_t p = 0; p < paths.size(); ++p) {
    PathRun run(device, info, paths[p]);
    for (size_t begin = 0; begin < cases.size();) {
      CaseList family;
      size_t end = begin;
      for (; end < cases.size() && cases[end].family == cases[begin].family; ++end) {
        if (p == 0 || cases[end].every_path) family.push_back(&cases[end]);
      }
      run.Run(family, results.cases);
      begin = end;
    }
  }
  results.milliseconds = watch.milliseconds();
  return results;
}

}  // namespace hearth::conformance
