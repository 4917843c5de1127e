#include "tools/hearth/pictures/graph_picture.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/graph/op_text.h"
#include "tools/hearth/files.h"
#include "tools/hearth/placement_report.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

std::string_view ColourOf(RunsOn where) {
  switch (where) {
    case RunsOn::kDevice: return "#c6e5c3";
    case RunsOn::kCpu: return "white";
    case RunsOn::kMerged: return "white";
    case RunsOn::kNowhere: return "#f4a9a0";
  }
  return "white";
}

// White for no time, orange for the longest.
std::string ColourOfShare(double share) {
  return fmt::format("#ff{:02x}{:02x}", static_cast<int>(255 - 100 * share), static_cast<int>(255 - 200 * share));
}

std::string ContentsOf(std::FILE* file) {
  std::string text;
  std::array<char, 1 << 16> chunk;
  std::rewind(file);
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file)) text.append(chunk.data(), count);
  return text;
}

struct DotRun {
  bool is_started = false;
  int status = 0;  // of waitpid
  std::string output;
};

// Runs `dot` with this argument and `input` as its standard input.
DotRun RunDot(const char* argument, std::string_view input) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::tmpfile(), std::fclose),
      out(std::tmpfile(), std::fclose);
  DotRun run;
  if (in == nullptr || out == nullptr || std::fwrite(input.data(), 1, input.size(), in.get()) != input.size()) {
    return run;
  }
  std::rewind(in.get());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::array<const char*, 3> arguments{"dot", argument, nullptr};
  pid_t child = -1;
  const int failure =
      ::posix_spawnp(&child, "dot", &actions, nullptr, const_cast<char* const*>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0 || ::waitpid(child, &run.status, 0) != child) return run;
  run.is_started = !(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 127);
  run.output = ContentsOf(out.get());
  return run;
}

// A name in Graphviz's quotes, with a text behind it. Graphviz reads "&lt;" as "<", and has no room for very long
// lines.
std::string Label(std::string_view text, std::string_view behind = "") {
  constexpr size_t kMostBytes = 200;
  std::string shown = Printable(ValidUtf8(text.substr(0, kMostBytes)), '?');
  if (text.size() > kMostBytes) shown += "...";
  std::string escaped;
  for (const char c : shown) {
    escaped += c;
    if (c == '&') escaped += "amp;";
  }
  return Quoted(escaped.append(behind));
}

// Graphviz input: device nodes are filled, CPU nodes white, unknown ones red, or all by their times. `placements` are
// of the graph's nodes.
std::string DotText(const Graph& graph, std::span<const Placement> placements,
                    const std::map<int, double>& milliseconds) {
  const std::vector<int> producers = graph.Producers();
  double longest_ms = 0;
  for (const auto& [index, time_ms] : milliseconds) longest_ms = std::max(longest_ms, time_ms);
  std::string text =
      fmt::format("digraph {} {{\n  node [shape=box, style=filled, fontname=sans];\n", Label(graph.name));
  for (ValueId input : graph.inputs) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white];\n", input,
                        Label(graph.value(input).name, " " + TypeText(graph, input)));
  }
  for (const StatePair& state : graph.states) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white, style=dashed];\n", state.read,
                        Label("state " + graph.value(state.read).name, " " + TypeText(graph, state.read)));
    text += fmt::format("  n{} -> v{} [style=dashed];\n", producers[state.written], state.read);
  }
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    std::string label = fmt::format("{} {}", node.source_index, OpName(node.op));
    std::string colour(ColourOf(WhereOf(node, placements[k])));
    if (longest_ms > 0) {
      const auto timed = milliseconds.find(node.source_index);
      const double time_ms = timed == milliseconds.end() ? 0 : timed->second;
      if (time_ms > 0) label += fmt::format(" {:.3g} ms", time_ms);
      colour = ColourOfShare(time_ms / longest_ms);
    }
    text += fmt::format("  n{} [label={}, fillcolor={}];\n", k, Quoted(label), Quoted(colour));
    for (ValueId input : node.inputs) {
      if (input == kNoValue || graph.IsConstant(input)) continue;
      const int producer = producers[input];
      text += fmt::format("  {}{} -> n{} [label={}];\n", producer < 0 ? "v" : "n", producer < 0 ? input : producer, k,
                          Quoted(TypeText(graph, input)));
    }
  }
  for (ValueId output : graph.outputs) {
    const int producer = producers[output];
    if (producer < 0) continue;
    text += fmt::format("  o{} [label={}, shape=oval, fillcolor=white];\n  n{} -> o{};\n", output,
                        Label(graph.value(output).name, " " + TypeText(graph, output)), producer, output);
  }
  return text + "}\n";
}

// Whether Graphviz's program `dot` can be started.
bool HasGraphviz() {
  const DotRun run = RunDot("-V", "");
  return run.is_started && run.status == 0;
}

}  // namespace

std::string WhyNoGraphFile(const std::string& path) {
  const std::string ending = EndingOf(path);
  for (const char* known : {".txt", ".svg", ".png", ".pdf", ".dot", ".gv"}) {
    if (ending == known) return "";
  }
  return fmt::format("{}: the name must end in .txt, .svg, .png, .pdf, .dot or .gv", path);
}

std::string DescribeGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements,
                          const std::map<int, double>& milliseconds) {
  return EndingOf(path) == ".txt" ? ToText(graph) : DotText(graph, placements, milliseconds);
}

Status WriteDescribed(const std::string& path, const std::string& description) {
  const std::string ending = EndingOf(path);
  if (ending != ".svg" && ending != ".png" && ending != ".pdf") return WriteFile(path, description);
  const std::string format = "-T" + ending.substr(1);
  const DotRun run = RunDot(format.c_str(), description);
  if (!run.is_started) {
    return Error(StatusCode::kIoError,
                 "{} is drawn by Graphviz, which is not installed: install graphviz, or write "
                 "a .dot file",
                 path);
  }
  if (WIFSIGNALED(run.status)) {
    return Error(StatusCode::kIoError, "Graphviz could not draw {} (it was ended by signal {})", path,
                 WTERMSIG(run.status));
  }
  if (run.status != 0 || run.output.empty()) {
    return Error(StatusCode::kIoError, "Graphviz could not draw {} (exit code {})", path, WEXITSTATUS(run.status));
  }
  return WriteFile(path, run.output);
}

Status WriteGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements) {
  return WriteDescribed(path, DescribeGraph(path, graph, placements));
}

PassPictures::PassPictures(std::string folder, const DeviceInfo& device, const LowerOptions& options)
    : folder_(std::move(folder)), device_(device), options_(options), ending_(HasGraphviz() ? ".svg" : ".dot") {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) status_ = Error(StatusCode::kIoError, "can't make the folder {}: {}", folder_, error.message());
}

void PassPictures::Add(std::string_view name, const Graph& graph) {
  if (!status_.ok()) return;
  const std::string file = fmt::format("{}/{:02}_{}{}", folder_, count_++, name, ending_);
  status_ = WriteGraph(file, graph, PlaceNodes(graph, device_, options_));
}

void PassPictures::AfterPass(std::string_view name, Verdict verdict, const Graph& graph) {
  if (verdict == Verdict::kChanged) Add(name, graph);
}

}  // namespace hearth
