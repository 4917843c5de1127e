#include "frontends/accelerator/gpu_options.h"

#include <array>
#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

// A name and a value of the plugin's; no name: it changes nothing.
using Text = std::pair<std::string, std::string>;

std::string_view Unquoted(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

template <size_t N>
Text Numbered(const char* name, std::string_view value, const std::array<const char*, N>& meanings) {
  size_t number = 0;
  if (!NumberFrom(value, number) || number >= N || *meanings[number] == '\0') return {};
  return {name, meanings[number]};
}

// The folder of the file that the program opened for a cache: Hearth's is a folder.
Text FolderOfFile(std::string_view descriptor) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), error);
  if (error || !file.is_absolute()) return {};
  return {"cache_folder", (file.parent_path() / "hearth").string()};
}

// LiteRT's options that mean something here. What is not listed says how to compute, which Hearth's rules decide, or
// concerns WebGPU and Metal.
Text Translated(std::string_view name, std::string_view value) {
  if (name == "precision") return Numbered<4>("precision", value, {"", "fp16", "fp32", "fp32_16"});
  if (name == "backend") return Numbered<4>("device", value, {"", "opencl", "", "gles"});
  if (name == "preferred_device_substr" && !value.empty()) return {"device", std::string(value)};
  if (name == "serialization_dir" && !value.empty()) return {"cache_folder", std::string(value)};
  if (name == "model_cache_key") return {"model_token", std::string(value)};
  if (name == "program_cache_fd" || name == "weight_cache_fd") return FolderOfFile(value);
  if (name == "serialize_program_cache" && value == "false") return {"cache", "off"};
  return {};
}

// The option that an environment variable "HEARTH_NAME=value" sets.
Text OfVariable(std::string_view variable) {
  constexpr std::string_view kPrefix = "HEARTH_";
  const size_t equals = variable.find('=');
  if (!variable.starts_with(kPrefix) || equals == std::string_view::npos) return {};
  std::string name = LowerCase(variable.substr(kPrefix.size(), equals - kPrefix.size()));
  if (name == "log") return {};
  if (name == "log_file") name = "log";
  return {IsDelegateOption(name) ? name : "", std::string(variable.substr(equals + 1))};
}

}  // namespace

Result<DelegateOptions> AcceleratorOptions(std::string_view toml, const std::vector<std::string>& variables) {
  std::vector<Text> texts = {{"device", "gpu"}, {"cache", "on"}};
  for (const std::string_view line : PartsOf(toml, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    texts.push_back(Translated(Trimmed(line.substr(0, equals)), Unquoted(Trimmed(line.substr(equals + 1)))));
  }
  for (const std::string& variable : variables) texts.push_back(OfVariable(variable));
  std::vector<std::pair<std::string_view, std::string_view>> options;
  for (const auto& [name, value] : texts) {
    if (!name.empty()) options.emplace_back(name, value);
  }
  return ParseDelegateOptions(options);
}

}  // namespace hearth
