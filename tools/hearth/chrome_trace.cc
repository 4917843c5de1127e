#include "tools/hearth/chrome_trace.h"

#include <algorithm>

#include "tools/hearth/printing.h"

namespace hearth {
namespace {

enum class Line : int { kMain = 1, kBeside = 2, kSteps = 3 };

class TraceEvents {
 public:
  // Returns the end of the event in milliseconds.
  double Add(Line line, const std::string& category, const std::string& name, double begin_ms, double duration_ms,
             Json details = Json::object()) {
    events_.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", begin_ms * 1000},
                       {"dur", duration_ms * 1000},
                       {"pid", 1},
                       {"tid", static_cast<int>(line)},
                       {"args", std::move(details)}});
    return begin_ms + duration_ms;
  }

  void NameLine(Line line, const std::string& name) {
    events_.push_back({{"name", "thread_name"},
                       {"ph", "M"},
                       {"pid", 1},
                       {"tid", static_cast<int>(line)},
                       {"args", {{"name", name}}}});
  }

  Json TakeAll() { return std::move(events_); }

 private:
  Json events_ = Json::array();
};

}  // namespace

std::string ChromeTrace(const Report& report, const std::vector<ProfileEntry>& profile) {
  TraceEvents events;
  events.NameLine(Line::kMain, "session");
  events.NameLine(Line::kBeside, "beside it");
  events.NameLine(Line::kSteps, "steps of a run");
  const auto& init = report.init_ms;

  double at = events.Add(Line::kMain, "start", "read model", 0, init.read_model);
  at = events.Add(Line::kMain, "start", "open cache", at, init.open_cache);
  at = std::max(at, events.Add(Line::kBeside, "start", "open device", 0, init.open_device));
  at = events.Add(Line::kMain, "start", "rewrite", at, init.rewrite);
  at = events.Add(Line::kMain, "start", "lower", at, init.lower);
  events.Add(Line::kBeside, "start", "weights", at, init.weights);
  events.Add(Line::kMain, "start", "programs", at, init.programs);

  at = events.Add(Line::kMain, "run", "first run", init.total, report.first_run_ms);
  at = events.Add(Line::kMain, "cache", "save to cache", at, report.save_ms);
  for (const ProfileEntry& entry : profile) {
    at = events.Add(Line::kSteps, "step", entry.node.empty() ? entry.kernel : entry.node, at, entry.milliseconds,
                    {{"kernel", entry.kernel}});
  }
  const Json trace = {{"traceEvents", events.TakeAll()}, {"displayTimeUnit", "ms"}};
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hearth
