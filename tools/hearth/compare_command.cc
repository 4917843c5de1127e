// hearth compare MODEL: finds where two devices differ.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "runtime/devices/device_choice.h"
#include "runtime/results/drawing.h"
#include "tools/hearth/files.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/results/comparison.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr size_t kMostTableRows = 40;  // rows of the text's table of layers, around the first over tolerance

// Converters join the names of fused nodes; the first one identifies the layer.
std::string ShortName(const std::string& name) {
  constexpr size_t kMostLetters = 60;
  const std::string first = name.substr(0, name.find(';'));
  return first.size() <= kMostLetters ? first : "..." + first.substr(first.size() - kMostLetters);
}

std::string LayerText(const LayerComparison& row) {
  return fmt::format("{} ({}) '{}'", row.layer.index < 0 ? "-" : fmt::format("op {}", row.layer.index), row.layer.op,
                     ShortName(row.layer.name));
}

Json JsonOf(const TensorComparison& output) {
  return {
      {"name", output.info.name},
      {"dtype", output.info.dtype},
      {"shape", output.info.shape},
      {"max_difference", output.max_difference},
      {"mean_difference", output.mean_difference},
      {"allowed_difference", output.allowed_difference},
      {"elements", output.element_count},
      {"elements_over", output.elements_over},
      {"allowed_share_over", output.allowed_share_over},
      {"worst", {{"place", PlaceText(output.info, output.worst)}, {"ours", output.ours}, {"theirs", output.theirs}}},
      {"over", output.is_over}};
}

Json JsonOf(const LayerComparison& row) {
  Json json = {{"index", row.layer.index}, {"op", row.layer.op}};
  json.update(JsonOf(row.output));
  return json;
}

Json JsonOf(const Side& side) {
  return {{"id", side.id}, {"name", side.name}, {"precision", side.precision}};
}

TextTable TableOf(const std::string& what) {
  return TextTable({what, ">max difference", ">allowed", ">elements over", "worst at", ">here", ">there", ""});
}

void AddRow(TextTable& table, const std::string& what, const TensorComparison& output) {
  table.AddRow({what, fmt::format("{:.3g}", output.max_difference), fmt::format("{:.3g}", output.allowed_difference),
                fmt::format("{} of {}", output.elements_over, output.element_count),
                PlaceText(output.info, output.worst), fmt::format("{:.6g}", output.ours),
                fmt::format("{:.6g}", output.theirs), output.is_over ? "OVER" : ""});
}

// ---- The picture ----

constexpr int kNameWidth = 460, kBarWidth = 480, kRowHeight = 14, kPad = 6, kHeadHeight = 40;
constexpr double kLowest = -4, kHighest = 2;  // powers of ten, relative to the allowed difference
constexpr size_t kMostPictureRows = 1500;     // a picture 20,000 pixels high is of no use
constexpr Colour kPaper = {250, 250, 250}, kFine = {70, 130, 180}, kOver = {205, 50, 40}, kGrid = {200, 200, 200};

int BarEnd(double ratio) {
  const double power = ratio > 0 ? std::log10(ratio) : kLowest;
  return kNameWidth +
         static_cast<int>(kBarWidth * (std::clamp(power, kLowest, kHighest) - kLowest) / (kHighest - kLowest));
}

void DrawRow(Image& image, int row, const std::string& name, const TensorComparison& output) {
  const int top = kHeadHeight + row * kRowHeight;
  std::string cut = name;
  while (cut.size() > 4 && TextWidth(cut, 1) > kNameWidth - 2 * kPad) cut.erase(cut.size() / 2, 1);
  DrawText(image, kPad, top + 2, cut, output.is_over ? kOver : kBlack, 1);
  FillRectangle(image, kNameWidth, top + 1, BarEnd(output.ratio()), top + kRowHeight - 2,
                output.is_over ? kOver : kFine);
}

// The difference of each output or layer as a bar, relative to the allowed one: from 1/10000 of the allowed difference
// to 100 times it; red if it exceeds it.
Image DrawComparison(const std::vector<TensorComparison>& outputs, const std::vector<LayerComparison>& layers) {
  const size_t rows = std::min(kMostPictureRows, layers.empty() ? outputs.size() : layers.size());
  const int height = kHeadHeight + static_cast<int>(rows) * kRowHeight + kPad;
  Image image = BlankImage(kNameWidth + kBarWidth + kPad, height, kPaper);
  DrawText(image, kPad, kPad, layers.empty() ? "output" : "layer", kBlack, 1);
  for (int power = static_cast<int>(kLowest); power <= static_cast<int>(kHighest); ++power) {
    const int x = BarEnd(std::pow(10.0, power));
    FillRectangle(image, x, kHeadHeight - 4, x + (power == 0 ? 2 : 1), height, power == 0 ? kBlack : kGrid);
    DrawText(image, std::min(x, image.width - 40), kPad + kRowHeight,
             power == 0 ? "allowed" : fmt::format("1e{}", power), kBlack, 1);
  }
  for (size_t k = 0; k < rows; ++k) {
    const auto row = static_cast<int>(k);
    if (layers.empty()) {
      DrawRow(image, row, outputs[k].info.name, outputs[k]);
    } else {
      DrawRow(image, row, fmt::format("{} {} {}", layers[k].layer.index, layers[k].layer.op, layers[k].layer.name),
              layers[k].output);
    }
  }
  return image;
}

// ---- The verb ----

class CompareCommand final : public Verb {
 public:
  CompareCommand()
      : Verb({"compare", "Shows where two devices differ: each output and, on demand, each layer",
              "hearth compare mobilenet.tflite --device vulkan --against cpu --input photo.jpg --per-layer"}) {}

  void AddOptions(CLI::App& app) override {
    session_flags_.AddOptions(app);
    app.add_option("--against", against_, "The other side: cpu, reference (float64, slow) or a device as for --device")
        ->type_name("WHAT")
        ->capture_default_str();
    app.add_flag("--per-layer", per_layer_, "Compare the result of every layer too, and name the first over tolerance");
    app.add_option("--picture", picture_path_, "Draw the difference of each output or layer into a PNG file")
        ->type_name("FILE");
    input_options_.AddOptions(app);
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(output_.CheckJson());
    if (!picture_path_.empty()) HEARTH_TRY(CheckPictureWritable(picture_path_, ".png"));
    HEARTH_ASSIGN(SessionOptions options, session_flags_.Options(input_options_));
    HEARTH_ASSIGN(const Model model, Model::FromFile(session_flags_.path(), options.model));
    options.model = {};
    const Result<ModelMetadata> metadata = model.ReadMetadata();
    HEARTH_ASSIGN(const LoadedInputs inputs,
                  LoadInputs(input_options_, model.inputs(), metadata.ok() ? *metadata : ModelMetadata()));
    HEARTH_ASSIGN(Side ours, DeviceSide(model, options, inputs));
    HEARTH_ASSIGN(const DeviceInfo device, InfoOf(ours.id, options.simulate));
    HEARTH_ASSIGN(Side theirs, OtherSide(model, options, inputs));
    const double tolerance = std::max(RealTolerance(ours.precision), RealTolerance(theirs.precision));
    HEARTH_ASSIGN(const std::vector<TensorComparison> outputs, CompareOutputs(model, ours, theirs, tolerance));
    std::vector<LayerComparison> layers;
    if (per_layer_) {
      const auto progress = [&](size_t done, size_t total) { output_.ShowProgress(done, total, "layers"); };
      HEARTH_ASSIGN(layers, CompareLayers(model, device, ours, theirs, tolerance, progress));
    }
    std::vector<ClampedLayer> clamped;
    const bool outputs_over = std::ranges::any_of(outputs, &TensorComparison::is_over);
    if (outputs_over) {
      options.device = ours.id;
      options.precision = ours.precision;
      HEARTH_ASSIGN(clamped, FindClamped(model, options, inputs.bytes));
    }
    Print(model, ours, theirs, outputs);
    if (!layers.empty()) PrintLayers(layers, outputs_over);
    output_.PrintText(TextOf(clamped));
    if (!picture_path_.empty()) {
      HEARTH_TRY(WritePng(picture_path_, DrawComparison(outputs, layers)));
      output_.PrintText(fmt::format("the picture is {}\n", picture_path_));
    }
    const bool is_over = outputs_over || FirstOver(layers) != layers.end();
    Json report = ReportOf(model, ours, theirs, outputs, layers, is_over);
    report["range"] = JsonOf(clamped);
    HEARTH_TRY(output_.WriteJson(std::move(report)));
    return is_over ? ExitCode::kFailed : ExitCode::kFine;
  }

 private:
  // Opens the device once to learn its name and its precision.
  Result<Side> DeviceSide(const Model& model, const SessionOptions& options, const LoadedInputs& inputs) {
    SessionOptions layer_options = options;
    layer_options.start = "ready";  // the device is compared, not the CPU that answers first
    HEARTH_ASSIGN(Session session, Session::Create(model, layer_options));
    const Report& report = session.report();
    WarningPrinter(output_).PrintNew(report);
    layer_options.device = report.device.id;
    const std::string whole = model.fingerprint();
    return Side{report.device.id, report.device.name, report.precision,
                [layer_options, whole, &inputs](const Model& part) {
                  SessionOptions own = layer_options;
                  // Parts of a model don't fill the cache.
                  own.use_cache = own.use_cache && part.fingerprint() == whole;
                  return RunOnDevice(part, own, inputs.bytes);
                }};
  }

  Result<Side> OtherSide(const Model& model, SessionOptions options, const LoadedInputs& inputs) {
    if (against_ == "reference") {
      return Side{"reference", "float64 reference", "fp32",
                  [&inputs](const Model& part) { return RunReference(part, inputs.bytes); }};
    }
    options.device = against_;
    options.simulate.clear();  // the profile applies to --device
    return DeviceSide(model, options, inputs);
  }

  static Result<DeviceInfo> InfoOf(const std::string& id, const std::string& profile) {
    HEARTH_ASSIGN(const OpenedDevice opened, OpenDeviceAs(id, profile));
    return opened.info;
  }

  Result<std::vector<TensorComparison>> CompareOutputs(const Model& model, const Side& ours, const Side& theirs,
                                                       double tolerance) {
    HEARTH_ASSIGN(const TensorBytes here, ours.run(model));
    HEARTH_ASSIGN(const TensorBytes there, theirs.run(model));
    std::vector<TensorComparison> compared;
    for (size_t k = 0; k < here.size(); ++k) {
      HEARTH_ASSIGN(TensorComparison output, CompareTensors(model.outputs()[k], here[k], there[k], tolerance));
      compared.push_back(std::move(output));
    }
    return compared;
  }

  static std::vector<LayerComparison>::const_iterator FirstOver(const std::vector<LayerComparison>& layers) {
    return std::find_if(layers.begin(), layers.end(), [](const LayerComparison& row) { return row.output.is_over; });
  }

  void Print(const Model& model, const Side& ours, const Side& theirs,
             const std::vector<TensorComparison>& outputs) const {
    output_.PrintText(fmt::format("{}: here {} ({}, {}), there {} ({}, {})\n", model.path(), ours.id, ours.name,
                                  ours.precision, theirs.id, theirs.name, theirs.precision));
    TextTable table = TableOf("output");
    for (const TensorComparison& output : outputs) AddRow(table, "'" + output.info.name + "'", output);
    output_.PrintText(table.ToString());
  }

  // Prints all layers of a small network; of a large one those around the first over tolerance.
  void PrintLayers(const std::vector<LayerComparison>& layers, bool outputs_over) const {
    const auto first = FirstOver(layers);
    const auto at = static_cast<size_t>(first - layers.begin());
    const size_t end = std::min(
        layers.size(), std::max(kMostTableRows, at == layers.size() ? kMostTableRows : at + kMostTableRows / 2));
    const size_t begin = end > kMostTableRows ? end - kMostTableRows : 0;
    TextTable table = TableOf("layer");
    for (size_t k = begin; k < end; ++k) AddRow(table, LayerText(layers[k]), layers[k].output);
    output_.PrintText("\n" + table.ToString());
    if (end - begin < layers.size()) {
      output_.PrintText(fmt::format("{} of {} layers; --json has all\n", end - begin, layers.size()));
    }
    if (first != layers.end()) {
      output_.PrintText(fmt::format("\nthe first layer over tolerance is {}\n", LayerText(*first)));
    } else if (outputs_over) {
      output_.PrintText(
          "\nno layer alone is over tolerance: the difference needs layers that run fused in the whole network\n");
    } else {
      output_.PrintText("\nno layer is over tolerance\n");
    }
  }

  Json ReportOf(const Model& model, const Side& ours, const Side& theirs, const std::vector<TensorComparison>& outputs,
                const std::vector<LayerComparison>& layers, bool is_over) const {
    Json json = {{"model", {{"path", model.path()}, {"fingerprint", model.fingerprint()}}},
                 {"device", JsonOf(ours)},
                 {"against", JsonOf(theirs)},
                 {"over", is_over},
                 {"outputs", Json::array()}};
    for (const TensorComparison& output : outputs) json["outputs"].push_back(JsonOf(output));
    if (!per_layer_) return json;
    const auto first = FirstOver(layers);
    json["first_over"] = first == layers.end() ? Json(nullptr) : JsonOf(*first);
    json["layers"] = Json::array();
    for (const LayerComparison& row : layers) json["layers"].push_back(JsonOf(row));
    return json;
  }

  SessionFlags session_flags_;
  InputOptions input_options_;
  OutputOptions output_;
  std::string against_ = "cpu", picture_path_;
  bool per_layer_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCompareCommand() {
  return std::make_unique<CompareCommand>();
}

}  // namespace hearth
