#include "conformance/suite.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "backends/cpu/cpu_executor.h"
#include "conformance/case_result.h"
#include "conformance/expectations.h"
#include "conformance/failed_case.h"
#include "conformance/tolerance.h"
#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/emit/arithmetic.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/quantize.h"
#include "core/lowering/lower.h"
#include "core/plan/storage.h"
#include "hal/device/stopwatch.h"
#include "hal/run/plan_runs.h"
#include "runtime/devices/read_path_probe.h"

namespace hearth::conformance {
namespace {

using CaseList = std::vector<const ConformanceCase*>;

Result<CaseBatch> BuildBatch(const CaseList& cases, StorageType real) {
  CaseBatch batch;
  for (const ConformanceCase* test : cases) {
    const std::string id = test->id();
    CaseGraph graph(batch, id, real);
    batch.graph.outputs.push_back(test->build(graph));
  }
  HEARTH_TRY(InferShapes(batch.graph));
  HEARTH_TRY(batch.graph.Validate());
  return batch;
}

// Host memory of tensors, one buffer each, as PlanRunner takes it.
using Bytes = std::vector<std::byte>;

Result<std::vector<Bytes>> InputsOf(const CaseBatch& batch) {
  std::vector<Bytes> inputs;
  for (size_t k = 0; k < batch.inputs.size(); ++k) {
    const TensorDesc& desc = batch.graph.value(batch.graph.inputs[k]).desc;
    inputs.emplace_back(desc.size_bytes());
    HEARTH_TRY(ReferenceToBytes(batch.inputs[k], desc, inputs.back()));
  }
  return inputs;
}

std::vector<Bytes> OutputsOf(const CaseBatch& batch) {
  std::vector<Bytes> outputs;
  for (ValueId output : batch.graph.outputs) outputs.emplace_back(batch.graph.value(output).desc.size_bytes());
  return outputs;
}

std::string ShortNumber(double number) {
  return fmt::format("{:.3g}", number);
}

// Finds the case of a dispatch by the dispatch's label.
class CaseNames {
 public:
  explicit CaseNames(const Graph& graph) {
    for (const Node& node : graph.nodes()) case_of_label_[NodeLabel(node)] = node.name;
  }
  // A dispatch with fused nodes has all their names; they belong to one case.
  std::string Of(const std::string& label) const {
    const auto found = case_of_label_.find(label.substr(0, label.find(" + ")));
    return found == case_of_label_.end() ? std::string() : found->second;
  }

 private:
  std::map<std::string, std::string> case_of_label_;
};

// For each case that adds products in 16 bits, the largest number of products in one such sum.
std::map<std::string, int> HalfProductsOfCases(const Plan& plan, const Graph& graph) {
  const CaseNames names(graph);
  std::map<std::string, int> most;
  for (const Dispatch& dispatch : plan.dispatches) {
    int& of_case = most[names.Of(dispatch.label)];
    of_case = std::max(of_case, HalfProductsOf(plan.kernels[dispatch.kernel]));
  }
  return most;
}

struct Configuration {
  std::optional<AccessPath> path;  // nothing: on the CPU
  Precision precision = Precision::kFp32;
  bool runs_all = true;                     // false: only the cases that ask for every path
  std::optional<Rule> rule = std::nullopt;  // one that is off unless it is forced
};

std::string NameOf(Rule rule) {
  return std::string(std::ranges::find(DeviceRules(), rule, &DeviceRule::rule)->name);
}

DeviceInfo InfoFor(DeviceInfo info, const Configuration& configuration) {
  if (configuration.rule) info.forced_rules = ForcedRulesFromText("+" + NameOf(*configuration.rule)).value();
  return info;
}

class PathRun {
 public:
  // `device_id` and `run` must outlive it.
  PathRun(const std::string& device_id, Device& device, const DeviceInfo& info, const Configuration& configuration,
          const RunOptions& run)
      : device_id_(device_id),
        device_(device),
        run_(run),
        info_(InfoFor(info, configuration)),
        real_(RealStorage(configuration.precision, info)),
        host_(MakeCpuExecutor()) {
    options_.read_path = configuration.path;
    options_.precision = configuration.precision;
    path_name_ = configuration.path ? std::string(AccessPathName(*configuration.path)) : "host";
    if (configuration.precision != Precision::kFp32)
      path_name_ += fmt::format(" {}", PrecisionName(options_.precision));
    if (configuration.rule) path_name_ += fmt::format(" {}", NameOf(*configuration.rule));
  }

  const std::string& path_name() const { return path_name_; }

  void Run(const CaseList& family, std::vector<CaseResult>& results) {
    CaseList together;
    for (const ConformanceCase* test : family) {
      const Journal::Word last = run_.journal ? run_.journal->LastOf(KeyOf(*test)) : Journal::Word::kRan;
      if (last == Journal::Word::kPassed || last == Journal::Word::kAlone) {
        results.push_back(NewResult(*test));
        if (last == Journal::Word::kAlone) Fail(results.back(), std::string(kDied));
      } else if (std::optional<CaseResult> result = CheckPlacement(*test)) {
        results.push_back(std::move(*result));
      } else if (last == Journal::Word::kTogether) {
        RunNoted({test}, results);
      } else {
        together.push_back(test);
      }
    }
    if (!together.empty()) RunNoted(together, results);
  }

 private:
  std::string KeyOf(const ConformanceCase& test) const { return JournalKey(device_id_, info_, path_name_, test.id()); }

  void RunNoted(const CaseList& cases, std::vector<CaseResult>& results) {
    const size_t first = results.size();
    const Journal::Word begin = cases.size() == 1 ? Journal::Word::kAlone : Journal::Word::kTogether;
    for (const ConformanceCase* test : cases) {
      if (run_.journal != nullptr) run_.journal->Note(begin, KeyOf(*test));
    }
    RunTogether(cases, results);
    for (size_t k = 0; run_.journal != nullptr && k < cases.size(); ++k)
      run_.journal->Note(WordOf(results[first + k]), KeyOf(*cases[k]));
  }

  void RunTogether(const CaseList& cases, std::vector<CaseResult>& results) {
    const size_t first = results.size();
    const Result<std::string> too_large = RunBatch(cases, results);
    if (too_large.ok() && too_large->empty()) return;
    results.resize(first);
    if (cases.size() == 1) {
      CaseResult result = NewResult(*cases[0]);
      if (too_large.ok()) {
        result.outcome = Outcome::kUnsupported;
        result.detail = *too_large;
      } else {
        Fail(result, too_large.status().message());
        Write(*cases[0], result, {}, {});
      }
      results.push_back(std::move(result));
      return;
    }
    // After a failure cases run one by one. If the family was too large, most cases fit in halves.
    const size_t part = too_large.ok() ? (cases.size() + 1) / 2 : 1;
    for (size_t k = 0; k < cases.size(); k += part)
      RunTogether({cases.begin() + k, cases.begin() + std::min(k + part, cases.size())}, results);
  }

  CaseResult NewResult(const ConformanceCase& test) const {
    CaseResult result;
    result.op = test.op;
    result.name = test.name;
    result.path = path_name_;
    return result;
  }

  // Records a failure unless it is listed.
  void Fail(CaseResult& result, const std::string& why) const {
    const Expectation* expected = ExpectedFailureOf(result.id());
    result.outcome = expected != nullptr ? Outcome::kExpectedFailure : Outcome::kFailed;
    result.detail = expected != nullptr ? fmt::format("{} ({})", why, expected->reason) : why;
  }

  // The result of a case that can't run: lowering leaves it to the host, or its graph is invalid.
  std::optional<CaseResult> CheckPlacement(const ConformanceCase& test) const {
    if (info_.is_host()) return std::nullopt;
    CaseResult result = NewResult(test);
    const Result<CaseBatch> batch = BuildBatch({&test}, real_);
    if (!batch.ok()) {
      Fail(result, batch.status().message());
      return result;
    }
    const Expectation* listed = FindExpectation(Unsupported(info_.backend), test.id(), info_.name, path_name_);
    for (const Placement& placement : PlaceNodes(batch->graph, info_, options_)) {
      if (placement.on_device) continue;
      result.outcome = Outcome::kUnsupported;
      result.detail = placement.reason;
      if (listed == nullptr) Fail(result, "runs on the host and is not listed as unsupported: " + placement.reason);
      return result;
    }
    if (listed == nullptr) return std::nullopt;
    Fail(result, fmt::format("is listed as unsupported ({}) but runs: take it off the list", listed->reason));
    return result;
  }

  // Returns why the device can't hold the cases, of which none ran then; nothing if they ran.
  Result<std::string> RunBatch(const CaseList& cases, std::vector<CaseResult>& results) {
    HEARTH_ASSIGN(const CaseBatch batch, BuildBatch(cases, real_));
    HEARTH_ASSIGN(const std::vector<ReferenceTensor> references, EvaluateGraph(batch.graph, batch.inputs));
    HEARTH_ASSIGN(Plan plan, Lower(batch.graph, info_, options_));
    // The device's kernels support all nodes (CheckPlacement), so a node on the host exceeds the device's limits.
    if (!plan.fallbacks.empty()) return plan.fallbacks.front().reason;
    std::map<std::string, int> half_products = HalfProductsOfCases(plan, batch.graph);
    const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    HEARTH_ASSIGN(const ReadyPlan ready,
                  MakePlanReady(std::move(plan),
                                {.device = &device_, .graph = &batch.graph, .host = host_.get(), .threads = threads}));

    HEARTH_ASSIGN(const std::vector<Bytes> inputs, InputsOf(batch));
    std::vector<Bytes> outputs = OutputsOf(batch);
    const std::vector<std::span<const std::byte>> input_bytes(inputs.begin(), inputs.end());
    const std::vector<std::span<std::byte>> output_bytes(outputs.begin(), outputs.end());
    HEARTH_TRY(ready.runs->Run(input_bytes, output_bytes));

    for (size_t k = 0; k < cases.size(); ++k) {
      const TensorDesc& desc = batch.graph.value(batch.graph.outputs[k]).desc;
      HEARTH_ASSIGN(const ReferenceTensor result, ReferenceFromBytes(desc, outputs[k]));
      results.push_back(Judged(*cases[k], desc, references[k].values, result.values, half_products[cases[k]->id()]));
      Write(*cases[k], results.back(), references[k].values, result.values);
    }
    HEARTH_TRY(AddTimes(*ready.runs, batch.graph, input_bytes, output_bytes,
                        {results.end() - static_cast<int64_t>(cases.size()), results.end()}));
    return std::string();
  }

  CaseResult Judged(const ConformanceCase& test, const TensorDesc& desc, std::span<const double> reference,
                    std::span<const double> result_values, int half_products) const {
    CaseResult result = NewResult(test);
    const StorageType real = desc.dtype == DType::kFloat16 ? StorageType::kFloat16 : real_;
    const ResultFormat format{real, IsQuantized(desc) ? desc.quantization->scales[0] : 0.0, half_products};
    const Judgement judgement = Judge(test.exactness, reference, result_values, format);
    result.judged = true;
    result.worst_error = judgement.worst_error;
    result.tolerance = judgement.tolerance;
    if (!judgement.ok()) {
      Fail(result, fmt::format("{} of {} elements are wrong; element {} is {}, expected {}: off by {}, allowed {}",
                               judgement.wrong_elements, reference.size(), judgement.worst_index,
                               result_values[judgement.worst_index], reference[judgement.worst_index],
                               ShortNumber(judgement.worst_error), ShortNumber(judgement.tolerance)));
    } else if (const Expectation* expected = ExpectedFailureOf(test.id())) {
      FailAsPassed(result, *expected);
    }
    return result;
  }

  // Writes a failed case's files, if they are wanted.
  void Write(const ConformanceCase& test, CaseResult& result, std::span<const double> expected,
             std::span<const double> found) const {
    if (run_.failures_folder.empty() || result.outcome != Outcome::kFailed) return;
    const auto write = [&]() -> Result<std::string> {
      HEARTH_ASSIGN(const CaseBatch batch, BuildBatch({&test}, real_));
      HEARTH_ASSIGN(const Plan plan, Lower(batch.graph, info_, options_));
      return WriteFailedCase(run_.failures_folder,
                             {device_id_, test.id(), path_name_, result.detail, info_, batch, plan, expected, found});
    };
    const Result<std::string> written = write();
    result.detail += written.ok() ? "; its files are in " + *written : "; not written: " + written.status().message();
  }

  // Runs again with times per dispatch: the first run of a program may compile.
  Status AddTimes(PlanRuns& runs, const Graph& graph, std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs, std::span<CaseResult> results) {
    if (info_.is_host()) return Status::Ok();
    std::vector<ProfileRow> rows;
    HEARTH_TRY(runs.Run(inputs, outputs, {.profile = &rows}));
    const CaseNames names(graph);
    std::map<std::string, double> milliseconds;
    for (const ProfileRow& row : rows) milliseconds[names.Of(row.label)] += row.milliseconds;
    for (CaseResult& result : results) result.milliseconds = milliseconds[result.id()];
    return Status::Ok();
  }

  const Expectation* ExpectedFailureOf(const std::string& id) const {
    const Expectation* known = FindExpectation(ExpectedFailures(info_.backend), id, info_.name, path_name_);
    return known != nullptr ? known : FindExpectation(run_.waivers, id, info_.name, path_name_);
  }

  const std::string& device_id_;
  Device& device_;
  const RunOptions& run_;
  DeviceInfo info_;
  StorageType real_;
  LowerOptions options_;
  std::string path_name_;
  std::unique_ptr<HostExecutor> host_;
};

std::vector<Configuration> ConfigurationsOf(const DeviceInfo& info) {
  if (info.is_host()) return {{}};
  const AccessPath standard = DefaultReadPath(info);
  std::vector<Configuration> configurations = {{standard, Precision::kFp32, true}};
  if (info.fp16_storage) configurations.push_back({standard, Precision::kFp16, true});
  for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
    for (const Rule rule : {Rule::kHalfArithmetic, Rule::kCooperativeMatrices}) {
      const Configuration forced{standard, precision, false, rule};
      const bool is_of_gpus = rule == Rule::kHalfArithmetic;
      if (!(is_of_gpus && info.is_software()) && Applies(rule, InfoFor(info, forced))) configurations.push_back(forced);
    }
  }
  if (info.max_texel_elements > 0) {
    const AccessPath other = standard == AccessPath::kBuffer ? AccessPath::kTexelBuffer : AccessPath::kBuffer;
    configurations.push_back({other, Precision::kFp32, false});
  }
  return configurations;
}

CaseList CasesOf(const Configuration& configuration, std::span<const ConformanceCase> cases) {
  CaseList wanted;
  for (const ConformanceCase& test : cases) {
    if (configuration.runs_all || test.every_path) wanted.push_back(&test);
  }
  return wanted;
}

}  // namespace

int DeviceResults::Count(Outcome outcome) const {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(), [&](const CaseResult& result) { return result.outcome == outcome; }));
}

DeviceResults RunCases(std::string device_id, Device& device, const DeviceInfo& info,
                       std::span<const ConformanceCase> cases, const RunOptions& options) {
  const Stopwatch watch;
  DeviceResults results;
  results.device = std::move(device_id);
  results.info = info;
  const std::vector<Configuration> configurations = ConfigurationsOf(info);
  size_t& total = results.cases_total;
  for (const Configuration& configuration : configurations) total += CasesOf(configuration, cases).size();
  for (const Configuration& configuration : configurations) {
    if (!configuration.runs_all && configuration.path == AccessPath::kTexelBuffer) {
      if (const Status status = TryTexelReads(device); !status.ok()) {
        results.notes.push_back("not run with texel buffers, which the driver promises but refuses: " +
                                status.message());
        total -= CasesOf(configuration, cases).size();
        continue;
      }
    }
    PathRun run(results.device, device, info, configuration, options);
    const CaseList wanted = CasesOf(configuration, cases);
    for (auto begin = wanted.begin(); begin != wanted.end();) {
      if (options.is_stopped && options.is_stopped()) {
        results.was_stopped = true;
        break;
      }
      const auto end = std::find_if(begin, wanted.end(),
                                    [&](const ConformanceCase* test) { return test->family != (*begin)->family; });
      if (options.observer) {
        options.observer(results.cases.size(), total, fmt::format("{}, {}", (*begin)->family, run.path_name()));
      }
      run.Run(CaseList(begin, end), results.cases);
      begin = end;
    }
  }
  if (options.observer) options.observer(total, total, "");
  results.milliseconds = watch.milliseconds();
  return results;
}

}  // namespace hearth::conformance
