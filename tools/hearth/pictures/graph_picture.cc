#include "tools/hearth/pictures/graph_picture.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "core/base/error.h"
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

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Runs `dot` with these arguments and `input` as its standard input. Returns its exit code; -1 if it can't be started.
int RunDot(std::vector<const char*> arguments, std::string_view input) {
  const std::unique_ptr<std::FILE, FileCloser> in(std::tmpfile());
  if (in == nullptr || std::fwrite(input.data(), 1, input.size(), in.get()) != input.size()) return -1;
  std::rewind(in.get());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  arguments.insert(arguments.begin(), "dot");
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failure =
      ::posix_spawnp(&child, "dot", &actions, nullptr, const_cast<char* const*>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failure != 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

// Graphviz input: device nodes are filled, CPU nodes white, unknown ones red, or all by their times. `placements` are
// of the graph's nodes.
std::string DotText(const Graph& graph, std::span<const Placement> placements,
                    const std::map<int, double>& milliseconds) {
  const std::vector<int> producers = graph.Producers();
  double longest_ms = 0;
  for (const auto& [index, time_ms] : milliseconds) longest_ms = std::max(longest_ms, time_ms);
  std::string text =
      fmt::format("digraph {} {{\n  node [shape=box, style=filled, fontname=sans];\n", Quoted(graph.name));
  for (ValueId input : graph.inputs) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white];\n", input,
                        Quoted(graph.value(input).name + " " + TypeText(graph, input)));
  }
  for (const StatePair& state : graph.states) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white, style=dashed];\n", state.read,
                        Quoted("state " + graph.value(state.read).name + " " + TypeText(graph, state.read)));
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
                        Quoted(graph.value(output).name + " " + TypeText(graph, output)), producer, output);
  }
  return text + "}\n";
}

// Whether Graphviz's program `dot` can be started.
bool HasGraphviz() {
  return RunDot({"-V"}, "") == 0;
}

}  // namespace

std::string WhyNoGraphFile(const std::string& path) {
  const std::string ending = EndingOf(path);
  for (const char* known : {".txt", ".svg", ".png", ".pdf", ".dot", ".gv"}) {
    if (ending == known) return "";
  }
  return fmt::format("{}: the name must end in .txt, .svg, .png, .pdf, .dot or .gv", path);
}

Status WriteGraph(const std::string& path, const Graph& graph, std::span<const Placement> placements,
                  const std::map<int, double>& milliseconds) {
  const std::string ending = EndingOf(path);
  if (ending == ".txt") return WriteFile(path, ToText(graph));
  const std::string text = DotText(graph, placements, milliseconds);
  if (ending != ".svg" && ending != ".png" && ending != ".pdf") return WriteFile(path, text);
  HEARTH_TRY(WriteFile(path, ""));  // reports the reason if it can't be written
  const std::string format = "-T" + ending.substr(1);
  const int code = RunDot({format.c_str(), "-o", path.c_str()}, text);
  if (code == 0) return Status::Ok();
  std::filesystem::remove(path);
  if (code < 0) {
    return Error(StatusCode::kIoError,
                 "{} is drawn by Graphviz, which is not installed: install graphviz, or write "
                 "a .dot file",
                 path);
  }
  return Error(StatusCode::kIoError, "Graphviz could not draw {} (exit code {})", path, code);
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
