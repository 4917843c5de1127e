#include "frontends/api/recipe.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/error.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRecipeBytes = 1 << 20;
constexpr size_t kMaxScales = 4096;  // one per channel

template <typename... Args>
Status Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Error(StatusCode::kMalformedInput, format, std::forward<Args>(args)...);
}

// One number, or a list.
Result<std::vector<float>> NumbersOf(const std::string& key, const Json& json) {
  const Json list = json.is_array() ? json : Json::array({json});
  std::vector<float> numbers;
  for (const Json& item : list) {
    const float number = item.is_number() ? item.get<float>() : NAN;
    if (!std::isfinite(number) || (number == 0 && key == "std") || numbers.size() == kMaxScales)
      return Wrong("'{}' is not a finite number{}, or a list with one per channel", key,
                   key == "std" ? " other than 0" : "");
    numbers.push_back(number);
  }
  if (numbers.empty()) return Wrong("'{}' is an empty list", key);
  return numbers;
}

Status ReadKey(const std::string& key, const Json& json, Recipe& recipe) {
  if (key == "mean" || key == "std") {
    HEARTH_ASSIGN((key == "mean" ? recipe.mean : recipe.std), NumbersOf(key, json));
    return Status::Ok();
  }
  if (key == "meaning" && json.is_string()) {
    recipe.meaning = CleanName(ShortName(json.get<std::string>()));
    return Status::Ok();
  }
  const bool are_texts =
      json.is_array() && std::ranges::all_of(json, [](const Json& item) { return item.is_string(); });
  if (key == "labels" && are_texts) {
    for (const Json& label : json) recipe.labels.push_back(CleanName(label.get<std::string>()));
    return Status::Ok();
  }
  if (key == "labels") return Wrong("'labels' is not a list of texts");
  if (key == "meaning") return Wrong("'meaning' is not a text");
  return Wrong("'{}' is none of mean, std, labels, meaning", CleanName(ShortName(key)));
}

Result<Recipe> RecipeFrom(const std::string& text) {
  if (text.size() > kMaxRecipeBytes) return Wrong("it is larger than {} bytes", kMaxRecipeBytes);
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Wrong("it is not a JSON object, or has a number that is too large");
  if (!json.is_object()) return Wrong("it is not a JSON object");
  Recipe recipe;
  for (const auto& [key, value] : json.items()) HEARTH_TRY(ReadKey(key, value, recipe));
  if (recipe.mean.empty() != recipe.std.empty()) return Wrong("'mean' and 'std' go together");
  return recipe;
}

}  // namespace

std::string RecipePath(const std::string& model_path) {
  return model_path + ".hearth.json";
}

Result<Recipe> ReadRecipe(const std::string& model_path) {
  const std::string path = RecipePath(model_path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Recipe();
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error(StatusCode::kIoError, "the recipe {} can't be read: {}", path, std::generic_category().message(errno));
  }
  std::string text(kMaxRecipeBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  Result<Recipe> recipe = RecipeFrom(text);
  if (!recipe.ok()) return recipe.status().Within("the recipe " + path);
  recipe->path = path;
  return recipe;
}

std::string TextOf(const Recipe& recipe) {
  Json json = Json::object();
  if (!recipe.mean.empty()) json = {{"mean", recipe.mean}, {"std", recipe.std}};
  if (!recipe.labels.empty()) json["labels"] = recipe.labels;
  if (!recipe.meaning.empty()) json["meaning"] = recipe.meaning;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hearth
