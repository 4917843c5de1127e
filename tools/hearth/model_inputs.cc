#include "tools/hearth/model_inputs.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "backends/cpu/host/process_limits.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/float16.h"
#include "hal/io/picture_shape.h"
#include "hearth/array.h"
#include "tools/hearth/files.h"
#include "tools/hearth/npy.h"
#include "tools/hearth/pictures/picture_source.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

constexpr uint64_t kMostNpyHeaderBytes = 1 << 20;
constexpr uint64_t kMostOpenArrayBytes = uint64_t{16} << 30;  // of an array that decides a shape

// "x=photo.png" split, if the model has an input named "x".
struct InputArgument {
  std::optional<size_t> input;  // index in the model
  std::string path;
};

InputArgument ParseArgument(const std::string& argument, std::span<const TensorInfo> inputs) {
  const size_t equals = argument.find('=');
  if (equals != std::string::npos) {
    const std::string name = argument.substr(0, equals);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].name == name || inputs[k].alias == name) return {k, argument.substr(equals + 1)};
    }
  }
  return {std::nullopt, argument};
}

std::string NamesOf(std::span<const TensorInfo> inputs) {
  std::vector<std::string> names;
  for (const TensorInfo& info : inputs) names.push_back("'" + info.name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

// The file for each input; empty for inputs without an argument.
Result<std::vector<std::string>> AssignFiles(const InputOptions& options, std::span<const TensorInfo> inputs) {
  if (AreManyPictures(options, inputs)) return std::vector{options.arguments[0]};
  std::vector<std::string> files(inputs.size());
  std::vector<std::string> unnamed;
  for (const std::string& argument : options.arguments) {
    const InputArgument parsed = ParseArgument(argument, inputs);
    if (!parsed.input) {
      unnamed.push_back(parsed.path);
      continue;
    }
    if (!files[*parsed.input].empty()) {
      return Error(StatusCode::kInvalidArgument, "input '{}' was given twice", inputs[*parsed.input].name);
    }
    files[*parsed.input] = parsed.path;
  }
  for (const std::string& path : unnamed) {
    const size_t equals = path.find('=');
    std::error_code too_long;
    if (equals != std::string::npos && !std::filesystem::exists(path, too_long)) {
      return Error(StatusCode::kInvalidArgument,
                   "the model has no input named '{}' (and there is no file {}); it has {}", path.substr(0, equals),
                   path, NamesOf(inputs));
    }
    const auto free = std::find(files.begin(), files.end(), "");
    if (free == files.end()) {
      return Error(StatusCode::kInvalidArgument, "{} is one input too many: the model has {} ({})", path, inputs.size(),
                   NamesOf(inputs));
    }
    *free = path;
  }
  return files;
}

Result<std::vector<std::byte>> ReadNpyInput(const std::string& path, const TensorInfo& info) {
  HEARTH_ASSIGN(const std::vector<std::byte> file, ReadFile(path, info.size_bytes + kMostNpyHeaderBytes));
  Result<NpyArray> array = ParseNpy(file);
  if (!array.ok()) return array.status().Within(path);
  if (const Status fits = CheckArray(info, array->dtype, array->shape); !fits.ok()) return fits.Within(path);
  return std::move(array->bytes);
}

Result<std::vector<std::byte>> ReadPicture(const std::string& path, const TensorInfo& info, const InputOptions& options,
                                           const TensorMetadata* said, const Recipe& recipe, LoadedInputs& loaded) {
  const bool is_said = said != nullptr && !said->mean.empty() && !said->std.empty();
  const bool is_used = is_said && !options.scaling_is_given;
  const PixelScaling scaling = is_used ? PixelScaling{said->mean, said->std} : options.scaling;
  const std::string scaling_of = !is_used              ? "--mean and --std"
                                 : recipe.mean.empty() ? "the model's metadata"
                                                       : recipe.path;
  HEARTH_ASSIGN(PictureInput picture, ReadImageAsInput(path, info, scaling, scaling_of));
  if (info.dtype == "float32") {
    const std::string source = options.scaling_is_given ? "as asked for"
                               : !is_said
                                   ? "the default, since the model's file does not say; --mean and --std set others"
                               : recipe.mean.empty() ? "as the model's metadata says"
                                                     : "as " + recipe.path + " says";
    picture.story +=
        fmt::format("; (x - {}) / {}, {}", fmt::join(scaling.mean, ","), fmt::join(scaling.std, ","), source);
    if (!is_used) loaded.tried = scaling;
  }
  loaded.stories.push_back(fmt::format("input '{}': {}", info.name, picture.story));
  return std::move(picture.bytes);
}

Result<std::vector<std::byte>> ReadArray(const std::string& path, const TensorInfo& info) {
  const std::string ending = EndingOf(path);
  if (ending == ".npy") return ReadNpyInput(path, info);
  if (ending != ".bin") {
    return Error(StatusCode::kInvalidArgument, "{}: an input file ends in .npy, .bin, .png, .jpg, .jpeg or .bmp", path);
  }
  const auto wrong_size = [&](uint64_t held_bytes) {
    return Error(StatusCode::kInvalidArgument, "{} holds {} bytes, but input '{}' ({}[{}]) takes {}", path, held_bytes,
                 info.name, info.dtype, fmt::join(info.shape, ","), info.size_bytes);
  };
  std::error_code error;
  const bool has_size = std::filesystem::is_regular_file(path, error);  // a pipe does not tell
  const uint64_t held_bytes = has_size ? std::filesystem::file_size(path, error) : 0;
  if (!error && held_bytes > info.size_bytes) return wrong_size(held_bytes);
  HEARTH_ASSIGN(std::vector<std::byte> bytes, ReadFile(path, info.size_bytes));
  if (bytes.size() != info.size_bytes) return wrong_size(bytes.size());
  return bytes;
}

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  float NextFloat() { return static_cast<float>(Next() >> 40) * 0x1p-23f - 1.0f; }  // [-1, 1)

 private:
  uint64_t state_;
};

// Numbers that depend only on the seed and the input's index (splitmix64, Steele et al. 2014): floats in [-1, 1), 8-bit
// integers over their whole range, others 0 (usually sizes or indices).
std::vector<std::byte> RandomInput(const TensorInfo& info, uint64_t seed, size_t index) {
  std::vector<std::byte> bytes(info.size_bytes);
  SplitMix64 numbers(SplitMix64(seed ^ (0xd1b54a32d192ed03u * (index + 1))).Next());
  const auto fill = [&](auto stored) {
    for (size_t at = 0; at + sizeof(stored(0.0f)) <= bytes.size(); at += sizeof(stored(0.0f))) {
      const auto value = stored(numbers.NextFloat());
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  };
  if (info.dtype == "float32") {
    fill([](float number) { return number; });
  } else if (info.dtype == "float64") {
    fill([](float number) { return double{number}; });
  } else if (info.dtype == "float16") {
    fill(FloatToHalf);
  } else if (info.dtype == "uint8" || info.dtype == "int8" || info.dtype == "int4" || info.dtype == "int16" ||
             info.dtype == "uint16") {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(numbers.Next() >> 56);
  }
  return bytes;
}

}  // namespace

void InputOptions::AddOptions(CLI::App& app) {
  app.add_option("--input", arguments, "An input's file: .npy, .bin (raw, little-endian) or a picture (PNG, JPEG, BMP)")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  // Declared after --input, whose values it follows.
  app.add_option_function<std::vector<std::string>>(
         "INPUT",
         [this](const std::vector<std::string>& files) {
           arguments.insert(arguments.end(), files.begin(), files.end());
         },
         "The same as --input")
      ->type_name("...");
  app.add_option("--random-inputs", random_seed,
                 "Fill the inputs that are not given with random numbers; int32, uint32, int64, uint64 and bool, which "
                 "are mostly indices, with 0")
      ->type_name("SEED")
      ->check(WhyNoWholeNumber);
  const auto add_scaling = [&](const std::string& name, std::vector<float>& numbers, const std::string& help) {
    return app.add_option(name, numbers, help)
        ->each([this](const std::string&) { scaling_is_given = true; })
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(WhyNotFinite)
        ->capture_default_str();
  };
  add_scaling("--mean", scaling.mean,
              "Pictures for float inputs: (x - mean) / std; one value or one per channel. "
              "Not needed if the model's file has them (TFLite metadata)");
  add_scaling("--std", scaling.std, "See --mean")->check([](const std::string& text) {
    return std::strtof(text.c_str(), nullptr) == 0.0f ? "must not be 0" : "";
  });
}

Result<LoadedInputs> LoadInputs(const InputOptions& options, std::span<const TensorInfo> inputs,
                                const ModelMetadata& metadata) {
  HEARTH_ASSIGN(const std::vector<std::string> files, AssignFiles(options, inputs));
  uint64_t bytes_of_all = 0;
  for (const TensorInfo& input : inputs) bytes_of_all += input.size_bytes;
  HEARTH_TRY(CheckAvailableMemory(bytes_of_all, "the model's inputs"));
  LoadedInputs loaded;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!files[k].empty()) {
      const TensorMetadata* said = k < metadata.inputs.size() ? &metadata.inputs[k] : nullptr;
      HEARTH_ASSIGN(std::vector<std::byte> bytes,
                    IsPicture(files[k]) ? ReadPicture(files[k], inputs[k], options, said, metadata.recipe, loaded)
                                        : ReadArray(files[k], inputs[k]));
      loaded.bytes.push_back(std::move(bytes));
    } else if (options.random_seed) {
      loaded.bytes.push_back(RandomInput(inputs[k], *options.random_seed, k));
    } else {
      return Error(StatusCode::kInvalidArgument,
                   "input '{}' ({}[{}]) was not given; use --input '{}=FILE', or --random-inputs SEED to fill it",
                   inputs[k].name, inputs[k].dtype, fmt::join(inputs[k].shape, ","), inputs[k].name);
    }
  }
  return loaded;
}

Result<std::map<std::string, std::vector<int32_t>>> ShapesOfFiles(const InputOptions& options,
                                                                  std::span<const TensorInfo> inputs) {
  HEARTH_ASSIGN(const std::vector<std::string> files, AssignFiles(options, inputs));
  std::map<std::string, std::vector<int32_t>> shapes;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<int32_t>& declared = inputs[k].declared_shape;
    const bool is_open = declared.empty() || Contains(declared, -1);
    if (files[k].empty() || !is_open) continue;
    std::vector<int64_t> given;
    if (IsPicture(files[k])) {
      if (!declared.empty() && declared.size() != 4) return TakesNoPicture(inputs[k]);
      HEARTH_ASSIGN(const PictureSize size, SizeOfPicture(files[k]));
      const std::optional<PictureShape> shape = PictureShapeOf(declared);
      given = shape && shape->is_planar ? std::vector<int64_t>{1, size.channels, size.height, size.width}
                                        : std::vector<int64_t>{1, size.height, size.width, size.channels};
    } else if (EndingOf(files[k]) == ".npy") {
      HEARTH_ASSIGN(const std::vector<std::byte> file, ReadFile(files[k], kMostOpenArrayBytes));
      const Result<NpyArray> array = ParseNpy(file);
      if (!array.ok()) return array.status().Within(files[k]);
      given = array->shape;
      if (given.size() + 1 == declared.size() && (declared[0] == 1 || declared[0] == -1))
        given.insert(given.begin(), 1);
    } else {
      continue;  // raw bytes have no shape
    }
    std::vector<int32_t>& shape = shapes[inputs[k].name];
    for (size_t d = 0; d < given.size(); ++d) {
      // Fixed dimensions stay; reading the file checks whether it fits them.
      const bool is_fixed = given.size() == declared.size() && declared[d] != -1;
      shape.push_back(is_fixed ? declared[d] : static_cast<int32_t>(std::clamp<int64_t>(given[d], 0, 1 << 30)));
    }
  }
  return shapes;
}

Result<FixedInput> ReadFixedInput(const std::string& path) {
  HEARTH_ASSIGN(const std::vector<std::byte> file, ReadFile(path, kMostOpenArrayBytes));
  Result<NpyArray> array = ParseNpy(file);
  if (!array.ok()) return array.status().Within(path);
  FixedInput fixed{std::move(array->dtype), {}, std::move(array->bytes)};
  for (const int64_t size : array->shape) fixed.shape.push_back(static_cast<int32_t>(std::min<int64_t>(size, 1 << 30)));
  return fixed;
}

namespace {

// The arrays of a few numbers among the files, by input name: what inputs that decide shapes may hold.
Result<std::map<std::string, FixedInput>> SmallArraysOf(const InputOptions& options,
                                                        std::span<const TensorInfo> inputs) {
  constexpr uint64_t kMostBytes = 4096;  // the header, and 64 numbers
  HEARTH_ASSIGN(const std::vector<std::string> files, AssignFiles(options, inputs));
  std::map<std::string, FixedInput> arrays;
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::error_code error;
    if (EndingOf(files[k]) != ".npy" || !std::filesystem::is_regular_file(files[k], error) ||
        std::filesystem::file_size(files[k], error) > kMostBytes) {
      continue;
    }
    HEARTH_ASSIGN(arrays[inputs[k].name], ReadFixedInput(files[k]));
  }
  return arrays;
}

// Leaves the files for inputs other than those that are fixed, with names. Precondition: SmallArraysOf had no error.
void NameOtherFiles(InputOptions& options, std::span<const TensorInfo> inputs,
                    const std::map<std::string, FixedInput>& fixed) {
  const Result<std::vector<std::string>> files = AssignFiles(options, inputs);
  HEARTH_CHECK(files.ok());
  options.arguments.clear();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if ((*files)[k].empty() || fixed.contains(inputs[k].name)) continue;
    options.arguments.push_back(inputs[k].name + "=" + (*files)[k]);
  }
}

ModelOptions With(ModelOptions model, const std::pair<const std::string, FixedInput>& fixed) {
  model.input_shapes.erase(fixed.first);
  model.constants.insert(fixed);
  return model;
}

}  // namespace

Status FixShapeInputs(const std::string& path, std::span<const TensorInfo> inputs, InputOptions& options,
                      ModelOptions& model) {
  HEARTH_ASSIGN(auto arrays, SmallArraysOf(options, inputs));
  // What one decides may show that another one does, too.
  while (!arrays.empty()) {
    const Result<Model> read = Model::FromFile(path, model);
    const auto is_needed = [&](const auto& array) {
      const auto decides = [&](const TensorInfo& input) { return input.name == array.first && input.decides_shapes; };
      if (read.ok()) return std::ranges::any_of(read->inputs(), decides);
      const std::string& dtype = array.second.dtype;
      const bool may_decide = dtype == "bool" || dtype.find("int") != std::string::npos;
      return may_decide && Model::FromFile(path, With(model, array)).ok();
    };
    const size_t left = arrays.size();
    for (auto next = arrays.begin(); next != arrays.end();) {
      const auto array = next++;
      if (!is_needed(*array)) continue;
      model = With(std::move(model), *array);
      arrays.erase(array);
      if (!read.ok()) break;  // it can be read now, and tells which others decide shapes
    }
    if (arrays.size() == left) break;  // whoever opens it tells why it can't be read
  }
  if (!model.constants.empty()) NameOtherFiles(options, inputs, model.constants);
  return Status::Ok();
}

bool AreManyPictures(const InputOptions& options, std::span<const TensorInfo> inputs) {
  return options.takes_many_pictures && inputs.size() == 1 && options.arguments.size() > 1 &&
         std::ranges::all_of(options.arguments, [&](const std::string& argument) {
           return !ParseArgument(argument, inputs).input && IsPicture(argument);
         });
}

std::string FirstPicture(const InputOptions& options, std::span<const TensorInfo> inputs) {
  for (const std::string& argument : options.arguments) {
    const std::string path = ParseArgument(argument, inputs).path;
    if (IsPicture(path)) return path;
  }
  return "";
}

}  // namespace hearth
