// hearth run MODEL: runs one inference.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/types.h"
#include "frontends/api/recipe.h"
#include "runtime/results/decoding.h"
#include "runtime/results/result_picture.h"
#include "tools/hearth/files.h"
#include "tools/hearth/model_inputs.h"
#include "tools/hearth/pictures/picture_source.h"
#include "tools/hearth/results/comparison.h"
#include "tools/hearth/results/model_outputs.h"
#include "tools/hearth/results/result_report.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::string SummaryText(std::span<const double> values) {
  if (values.empty()) return "empty";
  double sum = 0, low = values[0], high = values[0];
  for (const double value : values) {
    low = value < low || std::isnan(low) ? value : low;
    high = value > high || std::isnan(high) ? value : high;
    sum += value;
  }
  return fmt::format("min {:.6g}, mean {:.6g}, max {:.6g}", low, sum / static_cast<double>(values.size()), high);
}

class RunCommand final : public Verb {
 public:
  RunCommand()
      : Verb({"run", "One inference, or one for each of several pictures",
              "hearth run mobilenet.tflite --device opencl --input photo.jpg --labels labels.txt --top 3"}) {}

  void AddOptions(CLI::App& app) override {
    session_flags_.AddOptions(app);
    input_options_.AddOptions(app);
    input_options_.takes_many_pictures = true;
    app.add_option("--output-dir", output_folder_,
                   "Write each output to DIR/<index>_<name>.npy; of several pictures to folders in DIR")
        ->type_name("DIR");
    show_.AddOptions(app);
    app.add_option("--picture", picture_path_,
                   "Draw the result into a PNG file: boxes, masks, classes, key points, images or the highest scores; "
                   "of several pictures into files in this folder")
        ->type_name("FILE");
    app.add_option("--video", video_path_, "Run each frame of a video or a camera (/dev/video0), read by ffmpeg")
        ->type_name("FILE");
    app.add_flag("--check-range", check_range_,
                 "Count the numbers beyond 65504 that a run in 16 bits stores as that number, layer by layer");
    app.add_flag(
        "--save-recipe", saves_recipe_,
        "Write what --mean, --std, --labels and --show say into MODEL.hearth.json, which is read with the model");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_TRY(CheckFiles());
    HEARTH_TRY(OpenPictures());
    HEARTH_TRY(CheckReplaced());
    WarningPrinter warnings(output_);
    HEARTH_ASSIGN(Session session, session_flags_.Open(input_options_));
    warnings.PrintNew(session.report());
    ReadMetadata(session.model());
    HEARTH_ASSIGN(Interpreter interpreter, show_.InterpreterFor(session.model(), metadata_));
    if (!picture_path_.empty()) HEARTH_TRY(CheckDrawable(interpreter.groups(), session.outputs()));
    if (AreManyPictures(input_options_, session.inputs())) pictures_ = PicturesOf(paths_);
    Json outputs = Json::array(), runs = Json::array();
    ExitCode code = ExitCode::kFine;
    LoadedInputs inputs;
    if (pictures_ != nullptr) {
      HEARTH_ASSIGN(code, RunPictures(session, interpreter, runs));
    } else {
      if (!picture_path_.empty()) HEARTH_TRY(CheckPictureWritable(picture_path_, ".png"));
      HEARTH_ASSIGN(inputs, RunOnce(session));
      HEARTH_ASSIGN(outputs, HandOut(session, interpreter, inputs));
    }
    if (saves_recipe_) HEARTH_TRY(SaveRecipe());
    Json range;
    if (check_range_) {
      HEARTH_ASSIGN(range, CheckRange(session, inputs));
    }
    std::fflush(stdout);
    const ExitCode device_code = session_flags_.WaitForDevice(session);  // neither delays the first result
    session.SaveToCache();
    warnings.PrintNew(session.report());
    Json report = ReportJson(session.report(), std::move(outputs));
    if (pictures_ != nullptr) report["runs"] = std::move(runs);
    for (const std::string& doubt : doubts_) report["warnings"].push_back(doubt);
    if (check_range_) report["range"] = std::move(range);
    HEARTH_TRY(output_.WriteJson(std::move(report)));
    if (code != ExitCode::kFine) return code;
    return device_code != ExitCode::kFine ? device_code : session_flags_.CodeOf(session.report());
  }

 private:
  // Checked before slow work, so that a wrong path is reported at once.
  Status CheckFiles() {
    HEARTH_TRY(show_.Prepare());
    HEARTH_TRY(output_.CheckJson());
    if (saves_recipe_) HEARTH_TRY(CheckRecipe());
    if (!output_folder_.empty()) HEARTH_TRY(CheckFolderWritable(output_folder_));
    std::error_code error;
    const bool is_folder = picture_path_.ends_with('/') || std::filesystem::is_directory(picture_path_, error);
    return picture_path_.empty() || is_folder ? Status::Ok() : CheckPictureWritable(picture_path_, ".png");
  }

  // No result takes the place of what it was made from, nor of another result.
  Status CheckReplaced() const {
    std::vector<std::string> read = {session_flags_.path(), show_.labels_path(), video_path_},
                             written = {output_.json_path(), picture_path_};
    std::error_code error;
    for (const std::string& argument : paths_) {
      const std::string path =
          std::filesystem::exists(argument, error) ? argument : argument.substr(argument.find('=') + 1);
      read.push_back(path);
      if (!picture_path_.empty() && (pictures_ != nullptr || paths_.size() > 1))  // into a folder
        written.push_back(picture_path_ + "/" + std::filesystem::path(path).stem().string() + ".png");
    }
    HEARTH_TRY(CheckReplacesNone(written, read));
    return CheckReplacesNone({output_.json_path()}, {picture_path_});
  }

  // A folder among the inputs stands for its pictures. A video's first frame opens the session.
  Status OpenPictures() {
    std::vector<std::string> paths;
    bool has_folder = false;
    for (const std::string& argument : input_options_.arguments) {
      std::error_code error;
      if (!std::filesystem::is_directory(argument, error)) {
        paths.push_back(argument);
        continue;
      }
      HEARTH_ASSIGN(const std::vector<std::string> found, PicturesIn(argument));
      paths.insert(paths.end(), found.begin(), found.end());
      has_folder = true;
    }
    if (!video_path_.empty() && !paths.empty())
      return Error(StatusCode::kInvalidArgument, "--video: its frames are the input; {} is one too many", paths[0]);
    input_options_.arguments = paths;
    if (has_folder) pictures_ = PicturesOf(paths);
    // The session opens with a picture that can be read, so that damaged ones fail alone.
    const auto is_readable = [](const std::string& path) {
      std::error_code error;
      return std::filesystem::is_regular_file(path, error) && SizeOfPicture(path).ok();
    };
    if (paths.size() > 1 && std::ranges::all_of(paths, IsPicture)) {
      const auto first = std::ranges::find_if(paths, is_readable);
      if (first != paths.end()) std::swap(input_options_.arguments[0], input_options_.arguments[first - paths.begin()]);
    }
    paths_ = std::move(paths);
    if (video_path_.empty()) return Status::Ok();
    HEARTH_ASSIGN(pictures_, FramesOf(video_path_));
    HEARTH_ASSIGN(picture_, pictures_->Next());
    input_options_.arguments = {picture_->path};
    return Status::Ok();
  }

  Result<LoadedInputs> RunOnce(Session& session) {
    HEARTH_ASSIGN(LoadedInputs inputs, LoadInputs(input_options_, session.inputs(), metadata_));
    HEARTH_TRY(SetInputs(session, inputs.bytes));
    HEARTH_TRY(session.Run());
    if (!std::exchange(start_is_told_, true)) PrintStart(session.report(), inputs);
    return inputs;
  }

  // One run for each picture, told in a line. A picture that can't be run is told of, and the next one follows.
  Result<ExitCode> RunPictures(Session& session, Interpreter& interpreter, Json& runs) {
    if (session.inputs().size() != 1) {
      return Error(StatusCode::kInvalidArgument,
                   "several pictures, a folder and a video need a model with one input; "
                   "this one has {}",
                   session.inputs().size());
    }
    if (check_range_) return Error(StatusCode::kInvalidArgument, "--check-range takes the inputs of one run");
    if (EndingOf(picture_path_) == ".png")
      return Error(StatusCode::kInvalidArgument, "--picture: several pictures are drawn into a folder, not into {}",
                   picture_path_);
    if (!picture_path_.empty()) HEARTH_TRY(CheckFolderWritable(picture_path_));
    CatchInterrupts();
    ExitCode code = ExitCode::kFine;
    size_t done = 0, failed = 0;
    const auto fail = [&](const Status& status) {
      PrintError(status.message());
      code = ExitCodeOf(status.code());
      ++failed;
    };
    while (!IsInterrupted()) {
      Result<std::optional<SourcePicture>> next = picture_ ? std::exchange(picture_, {}) : pictures_->Next();
      if (!next.ok() && !IsInterrupted()) fail(next.status());  // ^C ends ffmpeg too
      if (!next.ok() || !*next) break;
      picture_ = std::move(*next);
      input_options_.arguments = {picture_->path};
      Json run = {{"input", picture_->name}};
      const Result<Json> outputs = RunPicture(session, interpreter);
      if (outputs.ok()) {
        run["outputs"] = *outputs;
      } else {
        run["error"] = outputs.status().message();
        fail(outputs.status());
      }
      std::fflush(stdout);  // who reads a camera's results from a pipe gets each at once
      if (output_.has_json()) runs.push_back(std::move(run));
      picture_.reset();
      ++done;
    }
    output_.PrintText(fmt::format("{}{} pictures{}\n", IsInterrupted() ? "stopped after " : "", done,
                                  failed == 0 ? "" : fmt::format(", {} failed", failed)));
    return IsInterrupted() ? ExitCode::kInterrupted : code;
  }

  Result<Json> RunPicture(Session& session, Interpreter& interpreter) {
    HEARTH_ASSIGN(std::map shapes, ShapesOfFiles(input_options_, session.inputs()));
    if (session_flags_.has_shapes()) shapes.clear();
    if (!shapes.empty() && shapes.begin()->second != session.inputs()[0].shape) {
      HEARTH_TRY(session.Resize(shapes));
      HEARTH_ASSIGN(interpreter, show_.InterpreterFor(session.model(), metadata_));
    }
    HEARTH_ASSIGN(const LoadedInputs inputs, RunOnce(session));
    return HandOut(session, interpreter, inputs);
  }

  // Adds what the command line says.
  void AddTo(Recipe& recipe) const {
    show_.AddTo(recipe);
    if (!input_options_.scaling_is_given) return;
    recipe.mean = input_options_.scaling.mean;
    recipe.std = input_options_.scaling.std;
  }

  Status CheckRecipe() const {
    Recipe said;
    AddTo(said);
    if (said.mean.empty() && said.labels.empty() && said.meaning.empty())
      return Error(StatusCode::kInvalidArgument,
                   "--save-recipe: there is nothing to save; give --mean and --std, --labels or --show");
    const Result<Recipe> earlier = ReadRecipe(session_flags_.path());
    if (!earlier.ok())
      return Error(StatusCode::kInvalidArgument, "--save-recipe would lose an earlier recipe; mend or remove it: {}",
                   earlier.status().message());
    return CheckWritable(RecipePath(session_flags_.path()));
  }

  Status SaveRecipe() {
    const std::string path = RecipePath(session_flags_.path());
    AddTo(metadata_.recipe);
    HEARTH_TRY(WriteFile(path, TextOf(metadata_.recipe)));
    output_.PrintText(fmt::format("the recipe is {}\n", path));
    return Status::Ok();
  }

  void ReadMetadata(const Model& model) {
    Result<ModelMetadata> metadata = model.ReadMetadata();
    if (!metadata.ok()) return output_.PrintWarning(metadata.status().message());
    metadata_ = std::move(metadata).value();
    for (const std::string& warning : metadata_.warnings) output_.PrintWarning(warning);
  }

  Result<Json> CheckRange(const Session& session, const LoadedInputs& inputs) const {
    InputOptions files = input_options_;
    HEARTH_ASSIGN(SessionOptions options, session_flags_.Options(files));
    options.device = session.report().device.id;
    options.precision = session.report().precision;  // fp32 where the device has no other
    options.model = {};
    HEARTH_ASSIGN(const std::vector<ClampedLayer> clamped, FindClamped(session.model(), options, inputs.bytes));
    output_.PrintText(clamped.empty() ? "range: no number exceeds 16 bits\n" : TextOf(clamped));
    return JsonOf(clamped);
  }

  void PrintStart(const Report& report, const LoadedInputs& inputs) const {
    output_.PrintText(DeviceText(report));
    for (const std::string& story : inputs.stories) output_.PrintText(story + "\n");
    output_.PrintText(fmt::format(
        "ready after {:.1f} ms (start {:.1f}, first run {:.1f}); {} programs compiled, {} loaded\n", report.ready_ms,
        report.init_ms.total, report.first_run_ms, report.programs.compiled, report.programs.loaded));
  }

  // Writes and prints the outputs; returns the report's "outputs".
  Result<Json> HandOut(const Session& session, const Interpreter& interpreter, const LoadedInputs& inputs) {
    std::vector<Json> outputs(session.outputs().size());
    std::vector<std::string> texts(outputs.size());
    bool is_drawn = picture_path_.empty();
    std::string picture_text;
    std::vector<std::string> words;  // of one picture among several
    std::vector<ResultGroup> seen;
    for (size_t g = 0; g < interpreter.groups().size(); ++g) {
      HEARTH_ASSIGN(const Interpretation result, interpreter.InterpretGroup(session, g));
      const ResultGroup& group = seen.emplace_back(result.group);
      for (size_t k = 0; k < group.outputs.size(); ++k) {
        HEARTH_ASSIGN(outputs[group.outputs[k]], HandOutOne(session, result, k, texts[group.outputs[k]]));
      }
      const std::string& text = texts[group.outputs[0]];
      words.push_back(group.meaning == Meaning::kNone ? text.substr(0, text.find('\n')) : LineOf(result));
      if (inputs.tried) WarnOnce(ScalingDoubt(result, *inputs.tried), doubts_);
      if (is_drawn || group.meaning == Meaning::kNone) continue;
      is_drawn = true;
      HEARTH_TRY(DrawPicture(session, result));
      picture_text = fmt::format("the result's picture ({}) is {}\n", MeaningName(group.meaning), picture_path_);
    }
    output_.PrintText(picture_ ? fmt::format("{}: {}\n", picture_->name, fmt::join(words, "; "))
                               : fmt::format("{}{}", fmt::join(texts, ""), picture_text));
    if (!is_drawn) HEARTH_TRY(CheckDrawable(seen, session.outputs()));  // the values took a meaning back
    return Json(outputs);
  }

  // Output `place` of a result: its numbers, and for the first one their meaning.
  Result<Json> HandOutOne(const Session& session, const Interpretation& result, size_t place, std::string& text) {
    const size_t index = result.group.outputs[place];
    const TensorInfo& info = session.outputs()[index];
    HEARTH_ASSIGN(const std::vector<double> values, OutputAsReals(info, session.output(index)));
    Json json = {{"name", info.name}, {"dtype", info.dtype}, {"shape", info.shape}};
    text = fmt::format("output {} '{}' {}[{}]: {}\n", index, info.name, info.dtype, ShapeText(info.shape),
                       SummaryText(values));
    if (!output_folder_.empty()) {
      const std::string folder = picture_ ? output_folder_ + "/" + picture_->stem : output_folder_;
      HEARTH_ASSIGN(const std::string path, WriteOutput(folder, index, info, session.output(index)));
      json["file"] = path;
      text += fmt::format("  written to {}\n", path);
    }
    json["meaning"] = MeaningName(result.group.meaning);
    json["meaning_reason"] = result.group.reason;
    if (place > 0) {
      json["part_of"] = result.group.outputs[0];
      text += fmt::format("  part of output {}'s {}\n", result.group.outputs[0], MeaningName(result.group.meaning));
      return json;
    }
    json.update(JsonOf(result));
    text += fmt::format("  meaning: {} ({})\n", MeaningName(result.group.meaning), result.group.reason);
    WarnOfLabels(result);
    text += TextOf(result);
    return json;
  }

  void WarnOfLabels(const Interpretation& result) {
    const bool are_scores = result.group.meaning == Meaning::kClasses;
    const size_t classes = are_scores ? result.values[0].size()
                           : result.group.layout == Layout::kScoresPerPixel
                               ? static_cast<size_t>(result.infos[0].shape[3])
                               : 0;
    const bool fits = are_scores ? result.labels.size() == classes : result.labels.size() >= classes;
    if (result.labels.empty() || classes == 0 || fits) return;
    const std::string source = !show_.labels_path().empty()       ? show_.labels_path()
                               : !metadata_.recipe.labels.empty() ? metadata_.recipe.path
                                                                  : "the model's label file";
    WarnOnce(fmt::format("{} holds {} labels, the output has {} classes", source, result.labels.size(), classes),
             label_warnings_);
  }

  // Several pictures give the same reason for a warning.
  void WarnOnce(const std::string& warning, std::vector<std::string>& told) {
    if (warning.empty() || Contains(told, warning)) return;
    output_.PrintWarning(warning);
    told.push_back(warning);
  }

  Status DrawPicture(const Session& session, const Interpretation& result) const {
    Image picture;
    if (const std::string path = FirstPicture(input_options_, session.inputs()); !path.empty()) {
      HEARTH_ASSIGN(picture, ReadImage(path, 3));
    }
    const std::string path = picture_ ? fmt::format("{}/{}.png", picture_path_, picture_->stem) : picture_path_;
    return WritePng(path, PictureOf(result, picture));
  }

  SessionFlags session_flags_;
  InputOptions input_options_;
  OutputOptions output_;
  ShowOptions show_;
  bool check_range_ = false, saves_recipe_ = false, start_is_told_ = false;
  std::string output_folder_, picture_path_, video_path_;
  std::vector<std::string> paths_;           // of the inputs, folders replaced by their pictures
  std::unique_ptr<PictureSource> pictures_;  // of several runs
  std::optional<SourcePicture> picture_;     // of the run that is being made
  std::vector<std::string> doubts_, label_warnings_;
  ModelMetadata metadata_;
};

}  // namespace

std::unique_ptr<Verb> MakeRunCommand() {
  return std::make_unique<RunCommand>();
}

}  // namespace hearth
