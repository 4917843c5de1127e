// A session's report.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/contains.h"
#include "core/base/log.h"
#include "runtime/model/model_data.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/session_data.h"

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

// A start's phases and the work that it did, for the log.
std::string StartText(const Report& report) {
  const auto& times = report.init_ms;
  return fmt::format(
      "start {:.1f} ms: device {:.1f}, cache {:.1f}, model {:.1f}, rewrite {:.1f}, lower {:.1f}, programs {:.1f} ({} "
      "distinct, {} compiled, {} loaded), weights {:.1f}; {} dispatches, {} operations on the device, {} on the CPU",
      times.total, times.open_device, times.open_cache, times.read_model, times.rewrite, times.lower, times.programs,
      report.programs.distinct, report.programs.compiled, report.programs.loaded, times.weights,
      report.programs.dispatches, report.ops.on_device, report.ops.on_cpu);
}

}  // namespace

void NoteStart(SessionData& data) {
  const Model& model = data.context->model();
  Report& report = data.report;
  report.model_path = model.path();
  report.model_fingerprint = model.fingerprint();
  if (data.cache != nullptr) report.cache.path = data.cache->path;
  ShowContext(data);
  auto& times = report.init_ms;
  const auto& of_context = data.context->prepared().report.init_ms;
  times.read_model = model.data().read_ms;
  times.rewrite = of_context.rewrite;
  times.lower = of_context.lower;
  times.programs = of_context.programs;
  times.weights = of_context.weights;
  times.total = data.since_asked.milliseconds();
  // Opening the device overlaps reading cache and model; uploading weights overlaps compiling programs.
  const double covered = std::max(times.open_device, times.open_cache + times.read_model) + times.rewrite +
                         times.lower + std::max(times.programs, times.weights);
  times.other = std::max(0.0, times.total - covered);
  report.start.first_by = report.device.id;
  Log(LogLevel::kDebug, StartText(report));
  data.LogNewWarnings();
}

void ShowContext(SessionData& data) {
  const Report& part = data.context->prepared().report;
  Report& report = data.report;
  const uint64_t both_live_bytes = report.memory.both_live_bytes;
  report.device = part.device;
  report.precision = part.precision;
  report.ops = part.ops;
  report.programs = part.programs;
  report.tuning = part.tuning;
  report.transfers = part.transfers;
  report.memory = part.memory;
  report.memory.both_live_bytes = both_live_bytes;
  report.threads = part.threads;
  // Preparing a device again repeats its warnings.
  const std::vector<std::string> known = report.warnings;
  for (const std::string& warning : part.warnings) {
    if (!Contains(known, warning)) report.warnings.push_back(warning);
  }
}

void NoteMove(SessionData& data) {
  Report& report = data.report;
  // In run 1 the device before has not answered anything yet, so this device is the first to answer.
  if (data.run_count <= 1) report.start.first_by = report.device.id;
  if (data.run_count > 1) report.start.moved_at_run = data.run_count;
}

void NoteCache(SessionData& data) {
  if (data.cache == nullptr) return;
  Report& report = data.report;
  const StoreCounters counters = data.cache->store->counters();
  report.cache.hits = counters.hits;
  report.cache.misses = counters.misses;
  report.cache.rejected = counters.rejected;
  report.cache.put_errors = counters.put_errors;
  report.cache.bytes_read = counters.bytes_read;
  report.cache.bytes_written = counters.bytes_written;
  report.cache.layer_hits = counters.layer_hits;
  report.cache.server_hits = counters.server_hits;
  report.cache.saved_ms = counters.milliseconds_saved;
  report.cache.waited_ms = data.cache->waits->others.waited_ms();
  report.cache.waited_for_makers_ms = data.cache->waits->makers.waited_ms();
  report.cache.model_known_by = data.cache->model_known_by;
  report.cache.model_hash_ms = data.cache->model_hash_ms;
  for (std::string& warning : data.cache->store->TakeWarnings()) report.warnings.push_back("cache: " + warning);
}

const Report& Session::report() const {
  static const Report none{};  // for a session that was moved from
  if (data_ == nullptr) return none;
  SessionData& data = *data_;
  Report& report = data.report;
  report.memory.peak_rss_bytes = PeakResidentBytes();
  if (data.context->has_device()) {
    report.memory.needed_bytes = NeededBytes(data);
    report.programs.compiled =
        data.context->prepared().report.programs.compiled + data.context->runs().more_programs().compiled();
  }
  NoteCache(data);
  const Status same = data.context->model().data().CheckFile();
  if (!same.ok() && !Contains(report.warnings, same.message())) report.warnings.push_back(same.message());
  NoteBackground(data);
  data.LogNewWarnings();
  return report;
}

}  // namespace hearth
