// The recipe beside a model, and recipes that are damaged or made to do harm.
#include "frontends/api/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "hearth/model.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::WriteFile;

// A model with one input and one output, and a recipe beside it.
struct ModelWithRecipe {
  explicit ModelWithRecipe(const std::string& recipe) {
    std::filesystem::copy(SourceFolder() / "tools/demo/shapes_f32.tflite", path());
    WriteFile(RecipePath(path()), recipe);
  }
  std::string path() const { return folder.path() / "m.tflite"; }
  ModelMetadata Metadata() const { return Model::FromFile(path()).value().ReadMetadata().value(); }
  TemporaryFolder folder;
};

TEST(Recipe, ItsScalingLabelsAndMeaningAreTheModels) {
  const ModelWithRecipe model(
      R"({"mean": 0, "std": [255, 1e2, 1], "labels": ["sky", "se\u0007a"], "meaning": "mask"})");
  const ModelMetadata metadata = model.Metadata();
  EXPECT_THAT(metadata.warnings, IsEmpty());
  EXPECT_EQ(metadata.recipe.path, RecipePath(model.path()));
  EXPECT_THAT(metadata.recipe.labels, ElementsAre("sky", "se_a"));
  EXPECT_EQ(metadata.recipe.meaning, "mask");
  ASSERT_EQ(metadata.inputs.size(), 1u);
  EXPECT_THAT(metadata.inputs[0].mean, ElementsAre(0));
  EXPECT_THAT(metadata.inputs[0].std, ElementsAre(255, 100, 1));
}

TEST(Recipe, WhatIsWrittenIsReadAgain) {
  const Recipe recipe{"", {123.675f, 0, -1}, {58.395f}, {"\"quoted\"", "größe"}, "classes"};
  const ModelWithRecipe model(TextOf(recipe));
  const Recipe read = ReadRecipe(model.path()).value();
  EXPECT_EQ(read.mean, recipe.mean);
  EXPECT_EQ(read.std, recipe.std);
  EXPECT_EQ(read.labels, recipe.labels);
  EXPECT_EQ(read.meaning, recipe.meaning);
}

TEST(Recipe, OneThatCanNotBeReadIsASentenceAndTheModelWorksWithoutIt) {
  const std::string deep(200'000, '[');
  const std::pair<std::string, std::string> bad[] = {
      {"", "is not a JSON object"},
      {"{", "is not a JSON object"},
      {"[]", "is not a JSON object"},
      {deep, "is not a JSON object"},
      {"{\"labels\": " + deep, "is not a JSON object"},
      {"{\"meaning\": \"\xff\"}", "is not a JSON object"},
      {std::string((1 << 20) + 1, ' '), "is larger than 1048576 bytes"},
      {R"({"mean": 1e39, "std": 1})", "'mean' is not a finite number"},
      {R"({"mean": "0", "std": 1})", "'mean' is not a finite number"},
      {R"({"mean": [], "std": 1})", "'mean' is an empty list"},
      {R"({"mean": 0, "std": [1, 0]})", "'std' is not a finite number other than 0"},
      {R"({"mean": 0})", "'mean' and 'std' go together"},
      {R"({"labels": "sky"})", "'labels' is not a list of texts"},
      {R"({"labels": ["sky", 1]})", "'labels' is not a list of texts"},
      {R"({"meaning": 3})", "'meaning' is not a text"},
      {R"({"scale": 3})", "'scale' is none of mean, std, labels, meaning"},
  };
  for (const auto& [text, why] : bad) {
    SCOPED_TRACE(text.substr(0, 40));
    const ModelWithRecipe model(text);
    const ModelMetadata metadata = model.Metadata();
    EXPECT_EQ(metadata.recipe.path, "");
    ASSERT_EQ(metadata.warnings.size(), 1u);
    EXPECT_THAT(metadata.warnings[0], HasSubstr(why));
    EXPECT_THAT(metadata.warnings[0], HasSubstr(RecipePath(model.path())));
  }
}

TEST(Recipe, OneThatMayNotBeReadIsNamedWithTheReason) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const ModelWithRecipe model("{}");
  std::filesystem::permissions(RecipePath(model.path()), std::filesystem::perms::none);
  EXPECT_THAT(model.Metadata().warnings, ElementsAre(HasSubstr("can't be read: Permission denied")));
}

TEST(Recipe, AFolderOfItsNameAndAModelInMemoryHaveNone) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "m.tflite";
  EXPECT_EQ(ReadRecipe(path)->path, "");
  std::filesystem::create_directory(RecipePath(path));
  EXPECT_EQ(ReadRecipe(path)->path, "");
}

}  // namespace
}  // namespace hearth
