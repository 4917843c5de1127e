#include "frontends/api/session_report.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/model_data.h"
#include "frontends/engine/placement_warnings.h"

namespace hearth {
namespace {

// The process's peak resident memory (VmHWM); 0 if /proc does not tell.
uint64_t PeakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

void CountOperators(SessionData& data) {
  const Plan& plan = data.runner->plan();
  Report& report = data.report;
  report.ops.total = plan.source_op_count;
  report.ops.fallbacks.clear();
  std::set<int32_t> told;  // an operator can be several nodes
  for (const Fallback& fallback : plan.fallbacks) {
    if (fallback.source_index >= 0 && !told.insert(fallback.source_index).second) continue;
    report.ops.fallbacks.push_back({fallback.source_index, fallback.op, fallback.reason});
  }
  const bool is_cpu = data.opened.device == nullptr;
  const int on_cpu = std::min(report.ops.total, static_cast<int>(report.ops.fallbacks.size()));
  report.ops.on_cpu = is_cpu ? report.ops.total : on_cpu;
  report.ops.on_device = report.ops.total - report.ops.on_cpu;
  const std::vector<std::string> warnings = PlacementWarnings(plan.fallbacks, PiecesOf(plan));
  report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
  const std::vector<std::string> mistakes = UnknownCpuOpsWarnings(data.model->data().graph, data.options.cpu_ops);
  report.warnings.insert(report.warnings.end(), mistakes.begin(), mistakes.end());
}

}  // namespace

void FillReport(SessionData& data) {
  const Plan& plan = data.runner->plan();
  Report& report = data.report;
  report.model_path = data.model->path();
  report.model_fingerprint = data.model->fingerprint();
  report.device.id = data.opened.id;
  report.device.backend = data.opened.info.backend;
  report.device.name = data.opened.info.name;
  report.device.driver = data.opened.info.driver_version;
  report.device.reason = data.opened.reason;
  report.device.simulates = data.opened.info.simulates;
  report.init_ms.read_model = data.model->data().read_ms;
  report.init_ms.rewrite = data.made.rewrite_ms;
  report.init_ms.lower = data.made.lower_ms;
  report.init_ms.programs = data.runner->times().programs_ms;
  report.init_ms.weights = data.runner->times().weights_ms;
  const LoadedPrograms& programs = data.runner->programs();
  report.programs.distinct = static_cast<int>(plan.kernels.size());
  report.programs.compiled = programs.compiled;
  report.programs.spirv_compiled = programs.spirv_compiled;
  report.programs.loaded = programs.loaded;
  report.programs.storable = data.opened.device == nullptr || data.opened.device->takes_binaries();
  report.programs.dispatches = static_cast<int>(plan.dispatch_count());
  const MemoryFigures host = data.runner->host_memory();
  report.memory.arena_bytes = plan.memory.arena_bytes + host.arena_bytes;
  report.memory.naive_bytes = plan.memory.naive_bytes + host.naive_bytes;
  report.memory.lower_bound_bytes = plan.memory.lower_bound_bytes + host.lower_bound_bytes;
  report.memory.weights_bytes = plan.memory.weights_bytes + host.weights_bytes;
  report.threads = data.threads;
  for (const PlanTensor& input : plan.inputs)
    report.transfers.to_device_bytes += input.on_device ? input.transfer.range.size_bytes : 0;
  for (const PlanTensor& output : plan.outputs)
    report.transfers.to_host_bytes += output.on_device ? output.transfer.range.size_bytes : 0;
  for (const Step& step : plan.steps) {
    if (const auto* host = std::get_if<HostStep>(&step)) {
      for (const HostTransfer& read : host->reads) report.transfers.to_host_bytes += read.range.size_bytes;
      for (const HostTransfer& write : host->writes) report.transfers.to_device_bytes += write.range.size_bytes;
    }
  }
  CountOperators(data);
}

std::string StartText(const Report& report) {
  const auto& times = report.init_ms;
  return fmt::format(
      "start {:.1f} ms: device {:.1f}, cache {:.1f}, model {:.1f}, rewrite {:.1f}, lower {:.1f}, programs {:.1f} ({} "
      "distinct, {} compiled, {} loaded), weights {:.1f}; {} dispatches, {} operations on the device, {} on the CPU",
      times.total, times.open_device, times.open_cache, times.read_model, times.rewrite, times.lower, times.programs,
      report.programs.distinct, report.programs.compiled, report.programs.loaded, times.weights,
      report.programs.dispatches, report.ops.on_device, report.ops.on_cpu);
}

void NoteCache(const SessionData& data) {
  if (data.store == nullptr) return;
  Report& report = data.report;
  const StoreCounters counters = data.store->counters();
  report.cache.hits = counters.hits;
  report.cache.misses = counters.misses;
  report.cache.rejected = counters.rejected;
  report.cache.put_errors = counters.put_errors;
  report.cache.bytes_read = counters.bytes_read;
  report.cache.bytes_written = counters.bytes_written;
  report.cache.waited_ms = data.waits->others.waited_ms();
  report.cache.waited_for_makers_ms = data.waits->makers.waited_ms();
  for (std::string& warning : data.store->TakeWarnings()) report.warnings.push_back("cache: " + warning);
}

const Report& Session::report() const {
  static const Report none{};  // for a session that was moved from
  if (data_ == nullptr) return none;
  Report& report = data_->report;
  report.memory.peak_rss_bytes = PeakResidentBytes();
  if (data_->runner != nullptr)
    report.programs.compiled = data_->runner->programs().compiled + data_->runner->more_programs_compiled();
  NoteCache(*data_);
  NoteBehind(*data_);
  data_->LogNewWarnings();
  return report;
}

}  // namespace hearth
