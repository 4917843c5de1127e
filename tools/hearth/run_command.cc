// hearth run MODEL: one inference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "tools/hearth/class_map.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/model_outputs.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::string SummaryText(std::span<const float> values) {
  if (values.empty()) return "empty";
  double sum = 0;
  float low = values[0], high = values[0];
  for (float value : values) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
    sum += value;
  }
  return fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}", low, sum / static_cast<double>(values.size()), high);
}

class RunCommand final : public Verb {
 public:
  RunCommand()
      : Verb({"run", "One inference",
              "hearth run mobilenet.tflite --device opencl --input photo.jpg --labels labels.txt --top 3"}) {}

  void AddOptions(CLI::App& app) override {
    session_flags_.AddOptions(app);
    input_options_.AddOptions(app);
    app.add_option("--output-dir", output_folder_, "Write each output to DIR/<index>_<name>.npy")->type_name("DIR");
    app.add_option("--top", top_, "Print the K highest scores of outputs that hold one score per class")
        ->type_name("K")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--labels", labels_path_, "Names of the classes, one a line, line 0 first; implies --top 5")
        ->type_name("FILE");
    app.add_option("--picture", picture_path_, "Draw a segmentation result (an output [1,H,W,classes]) into a PNG file")
        ->type_name("FILE");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(PrepareLabels());
    WarningPrinter warnings(output_);
    HEARTH_ASSIGN(Session session, session_flags_.Open(input_options_));
    warnings.PrintNew(session.report());
    HEARTH_ASSIGN(const auto inputs, LoadInputs(input_options_, session.inputs()));
    HEARTH_TRY(SetInputs(session, inputs));
    HEARTH_TRY(session.Run());

    HEARTH_ASSIGN(const Json outputs, HandOut(session));
    std::fflush(stdout);
    session.SaveToCache();  // not on the way to the first result
    warnings.PrintNew(session.report());
    HEARTH_TRY(output_.WriteJson(ReportJson(session.report(), outputs)));
    return ExitCode::kFine;
  }

 private:
  // Before the slow part, so that a wrong path is told at once.
  Status PrepareLabels() {
    if (labels_path_.empty()) return Status::Ok();
    HEARTH_ASSIGN(labels_, ReadLabels(labels_path_));
    if (top_ == 0) top_ = 5;
    return Status::Ok();
  }

  // Writes and prints the outputs; gives the report's "outputs".
  Result<Json> HandOut(const Session& session) {
    const Report& report = session.report();
    output_.PrintText(DeviceText(report));
    output_.PrintText(fmt::format(
        "ready after {:.1f} ms (start {:.1f}, first run {:.1f}); {} programs compiled, {} loaded\n", report.ready_ms,
        report.init_ms.total, report.first_run_ms, report.programs.compiled, report.programs.loaded));
    Json outputs = Json::array();
    for (size_t k = 0; k < session.outputs().size(); ++k) {
      HEARTH_ASSIGN(Json output, HandOutOne(k, session.outputs()[k], session.output(k)));
      outputs.push_back(std::move(output));
    }
    if (!picture_path_.empty()) HEARTH_TRY(DrawPicture(session));
    return outputs;
  }

  Result<Json> HandOutOne(size_t index, const TensorInfo& info, std::span<const std::byte> bytes) {
    Json json = {{"name", info.name}, {"dtype", info.dtype}, {"shape", info.shape}};
    HEARTH_ASSIGN(const std::vector<float> values, OutputAsFloats(info, bytes));
    output_.PrintText(fmt::format("output {} '{}' {}[{}]: {}\n", index, info.name, info.dtype, ShapeText(info.shape),
                                  SummaryText(values)));
    if (!output_folder_.empty()) {
      HEARTH_ASSIGN(const std::string path, WriteOutput(output_folder_, index, info, bytes));
      json["file"] = path;
      output_.PrintText(fmt::format("  written to {}\n", path));
    }
    if (top_ > 0 && HoldsClassScores(info)) json["top"] = PrintTop(values);
    return json;
  }

  Json PrintTop(std::span<const float> scores) const {
    if (!labels_.empty() && labels_.size() != scores.size()) {
      output_.PrintWarning(
          fmt::format("{} holds {} labels, the output has {} classes", labels_path_, labels_.size(), scores.size()));
    }
    TextTable table({{"  class", TextTable::Align::kRight}, {"score", TextTable::Align::kRight}, {"label"}});
    Json top = Json::array();
    for (const TopEntry& entry : TopEntries(scores, static_cast<size_t>(top_), labels_)) {
      table.AddRow({std::to_string(entry.index), fmt::format("{:.6f}", entry.score), entry.label});
      top.push_back({{"index", entry.index}, {"label", entry.label}, {"score", entry.score}});
    }
    output_.PrintText(table.ToString());
    return top;
  }

  Status DrawPicture(const Session& session) const {
    const auto& outputs = session.outputs();
    const auto found = std::find_if(outputs.begin(), outputs.end(), IsClassMap);
    if (found == outputs.end()) {
      output_.PrintWarning(fmt::format("no output is a class map [1,H,W,classes]; {} is not written", picture_path_));
      return Status::Ok();
    }
    Image picture;
    if (const std::string path = FirstPicture(input_options_, session.inputs()); !path.empty()) {
      HEARTH_ASSIGN(picture, ReadImage(path, 3));
    }
    HEARTH_ASSIGN(const std::vector<float> scores, OutputAsFloats(*found, session.output(found - outputs.begin())));
    HEARTH_TRY(WritePng(picture_path_, DrawClassMap(*found, scores, picture)));
    output_.PrintText(fmt::format("the result's picture is {}\n", picture_path_));
    return Status::Ok();
  }

  SessionFlags session_flags_;
  InputOptions input_options_;
  OutputOptions output_;
  std::string output_folder_, labels_path_, picture_path_;
  int top_ = 0;
  std::vector<std::string> labels_;
};

}  // namespace

std::unique_ptr<Verb> MakeRunCommand() {
  return std::make_unique<RunCommand>();
}

}  // namespace hearth
