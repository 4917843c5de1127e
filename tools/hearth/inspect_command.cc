// hearth inspect MODEL: the model's contents, and where its operators would run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/types.h"
#include "hearth/model.h"
#include "runtime/devices/device_choice.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/advice.h"
#include "tools/hearth/files.h"
#include "tools/hearth/pictures/graph_picture.h"
#include "tools/hearth/pictures/memory_picture.h"
#include "tools/hearth/placement_report.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::string TensorText(const std::string& role, size_t index, const TensorInfo& info) {
  std::string text = fmt::format("{} {} '{}' {}[{}]", role, index, info.name, info.dtype, ShapeText(info.shape));
  if (!info.alias.empty() && info.alias != info.name) text += fmt::format(" also called '{}'", info.alias);
  if (info.declared_shape.empty() && !info.shape.empty()) text += ", without a shape in the file";
  if (!info.declared_shape.empty() && info.declared_shape != info.shape) {
    text += fmt::format(", in the file [{}]", DeclaredText(info));
  }
  if (info.scales.size() == 1 && info.zero_points.size() == 1) {
    text += fmt::format(" scale {:.6g} zero point {}", info.scales[0], info.zero_points[0]);
  }
  if (info.decides_shapes) text += ", decides shapes: fix it with --constant, or give its file";
  return text + "\n";
}

Json JsonOf(const TensorInfo& info) {
  return {{"name", info.name},
          {"alias", info.alias},
          {"dtype", info.dtype},
          {"shape", info.shape},
          {"declared_shape", info.declared_shape},
          {"dimensions", info.dimensions},
          {"size_bytes", info.size_bytes},
          {"scales", info.scales},
          {"zero_points", info.zero_points},
          {"decides_shapes", info.decides_shapes}};
}

// Warnings about the placement: one per reason, and one if the graph splits into many pieces.
std::vector<std::string> WarningsOf(const PlacementReport& report, const DeviceInfo& device) {
  if (device.is_host()) return {};
  std::vector<Fallback> fallbacks;
  for (const OperatorPlacement& op : report.operators) {
    if (op.where == RunsOn::kCpu) fallbacks.push_back({op.index, op.op, op.reason});
  }
  return PlacementWarnings(fallbacks, 1);  // the number of pieces is part of the advice
}

std::string OperatorsText(const std::vector<OperatorPlacement>& operators) {
  TextTable table({">op", "name", "runs on", "output", "why not on the device"});
  for (const OperatorPlacement& op : operators) {
    table.AddRow({std::to_string(op.index), op.op, std::string(RunsOnName(op.where)), op.output_type, op.reason});
  }
  return table.ToString();
}

std::map<std::string, int> CountByName(const std::vector<OperatorPlacement>& operators) {
  std::map<std::string, int> counts;
  for (const OperatorPlacement& op : operators) ++counts[op.op];
  return counts;
}

class InspectCommand final : public Verb {
 public:
  InspectCommand()
      : Verb({"inspect", "Inputs, outputs and operations of a model, and where each would run",
              "hearth inspect mobilenet.tflite --device opencl --graph mobilenet.dot"}) {}

  void AddOptions(CLI::App& app) override {
    model_flags_.AddOptions(app);
    AddDeviceOption(app, device_);
    AddSimulateOption(app, simulate_);
    AddCpuOpsOption(app, options_.cpu_ops);
    app.add_option(
           "--graph", graph_path_,
           "Write the rewritten network: .txt its text, .svg, .png or .pdf a picture (by Graphviz), .dot or .gv "
           "what Graphviz reads")
        ->type_name("FILE")
        ->check(WhyNoGraphFile);
    app.add_option("--passes", passes_folder_, "Draw the network as in the file, and after every pass that changed it")
        ->type_name("DIR");
    app.add_option("--memory", memory_path_, "Write the memory plan as a picture: steps against offsets, as SVG")
        ->type_name("FILE");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(output_.CheckJson());
    if (!graph_path_.empty()) HEARTH_TRY(CheckWritable(graph_path_));
    if (!memory_path_.empty()) HEARTH_TRY(CheckPictureWritable(memory_path_, ".svg"));
    HEARTH_ASSIGN(const ModelOptions model_options, model_flags_.Options(nullptr));
    HEARTH_ASSIGN(const Model model, Model::FromFile(model_flags_.path(), model_options));
    HEARTH_ASSIGN(const OpenedDevice opened, OpenDeviceAs(device_, simulate_));
    for (const std::string& warning : opened.warnings) output_.PrintWarning(warning);
    Result<PlacementReport> placed = Place(model.data().graph, opened.info);
    if (!placed.ok()) return placed.status().Within(model_flags_.path());
    const PlacementReport& report = placed.value();
    if (report.Count(RunsOn::kNowhere) == 0) {
      Graph graph = model.data().graph.Clone();
      if (const Status runs = InferShapes(graph); !runs.ok())
        output_.PrintWarning(fmt::format("this model can't run: {}", runs.message()));
    }

    const std::vector<Advice> advice = AdviceOn(report.rewritten, report.placements, opened.info);
    for (const std::string& warning : WarningsOf(report, opened.info)) output_.PrintWarning(warning);
    for (const std::string& warning : UnknownCpuOpsWarnings(model.data().graph, options_.cpu_ops)) {
      output_.PrintWarning(warning);
    }
    Print(model, opened, report, advice);
    if (!graph_path_.empty()) {
      HEARTH_TRY(WriteGraph(graph_path_, report.rewritten, report.placements));
      output_.PrintText(fmt::format("the network is in {}\n", graph_path_));
    }
    if (!memory_path_.empty()) {
      HEARTH_TRY(WriteMemory(report, opened));
      output_.PrintText(fmt::format("the memory plan is in {}\n", memory_path_));
    }
    if (!passes_folder_.empty()) output_.PrintText(fmt::format("the passes' pictures are in {}\n", passes_folder_));
    HEARTH_TRY(output_.WriteJson(ReportAsJson(model, opened, report, advice)));
    return ExitCode::kFine;
  }

 private:
  Result<PlacementReport> Place(const Graph& graph, const DeviceInfo& device) const {
    if (passes_folder_.empty()) return PlaceOperators(graph, device, options_);
    PassPictures pictures(passes_folder_, device, options_);
    pictures.Add("file", graph);
    Result<PlacementReport> placed = PlaceOperators(graph, device, options_, &pictures);
    HEARTH_TRY(pictures.status());
    return placed;
  }

  void Print(const Model& model, const OpenedDevice& opened, const PlacementReport& report,
             const std::vector<Advice>& advice) const {
    std::string text = fmt::format("{} (fingerprint {})\n", model.path(), model.fingerprint());
    for (size_t k = 0; k < model.inputs().size(); ++k) text += TensorText("input", k, model.inputs()[k]);
    for (size_t k = 0; k < model.outputs().size(); ++k) text += TensorText("output", k, model.outputs()[k]);
    if (model.signatures().size() > 1) {
      text += fmt::format("signature '{}' of {}\n", model.signature(), fmt::join(model.signatures(), ", "));
    }
    text += fmt::format("device {} ({}): {}\n\n", opened.id, opened.info.name, opened.reason);
    text += OperatorsText(report.operators);
    text += fmt::format(
        "\n{} operations: {} on the device, {} on the CPU, {} merged into others, {} that nothing here can run\n",
        report.operators.size(), report.Count(RunsOn::kDevice), report.Count(RunsOn::kCpu),
        report.Count(RunsOn::kMerged), report.Count(RunsOn::kNowhere));
    std::vector<std::string> counts;
    for (const auto& [name, count] : CountByName(report.operators)) counts.push_back(fmt::format("{} {}", name, count));
    text += fmt::format("{}\n", fmt::join(counts, ", "));
    if (!advice.empty()) text += "\nadvice\n";
    for (const Advice& item : advice) text += fmt::format("- {}\n", item.text);
    output_.PrintText(text);
  }

  Json ReportAsJson(const Model& model, const OpenedDevice& opened, const PlacementReport& report,
                    const std::vector<Advice>& advice) const {
    Json json = {{"model", {{"path", model.path()}, {"fingerprint", model.fingerprint()}}},
                 {"device",
                  {{"id", opened.id},
                   {"backend", opened.info.backend},
                   {"name", opened.info.name},
                   {"driver", opened.info.driver_version},
                   {"reason", opened.reason},
                   {"simulates", opened.info.simulates}}},
                 {"signature", model.signature()},
                 {"signatures", model.signatures()},
                 {"inputs", Json::array()},
                 {"outputs", Json::array()},
                 {"ops",
                  {{"total", report.operators.size()},
                   {"on_device", report.Count(RunsOn::kDevice)},
                   {"on_cpu", report.Count(RunsOn::kCpu)},
                   {"merged", report.Count(RunsOn::kMerged)},
                   {"unknown", report.Count(RunsOn::kNowhere)},
                   {"counts", CountByName(report.operators)},
                   {"list", Json::array()}}}};
    for (const TensorInfo& info : model.inputs()) json["inputs"].push_back(JsonOf(info));
    for (const TensorInfo& info : model.outputs()) json["outputs"].push_back(JsonOf(info));
    for (const OperatorPlacement& op : report.operators) {
      json["ops"]["list"].push_back({{"index", op.index},
                                     {"op", op.op},
                                     {"runs_on", RunsOnName(op.where)},
                                     {"output", op.output_type},
                                     {"reason", op.reason}});
    }
    json["advice"] = Json::array();
    for (const Advice& item : advice) {
      json["advice"].push_back({{"kind", item.kind}, {"text", item.text}, {"numbers", item.numbers}});
    }
    return json;
  }

  Status WriteMemory(const PlacementReport& report, const OpenedDevice& opened) const {
    ArenaPicture picture;
    if (opened.info.is_host()) {
      picture = HostArenaOf(report.rewritten);
    } else {
      HEARTH_ASSIGN(const Plan plan, Lower(report.rewritten, opened.info, options_));
      picture = ArenaOf(plan);
    }
    return WriteFile(memory_path_, MemorySvg(picture, fmt::format("{} on {}", model_flags_.path(), opened.id)));
  }

  ModelFlags model_flags_;
  std::string simulate_;
  std::string device_ = "auto", graph_path_, passes_folder_, memory_path_;
  LowerOptions options_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeInspectCommand() {
  return std::make_unique<InspectCommand>();
}

}  // namespace hearth
