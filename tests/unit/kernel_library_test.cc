#include "core/emit/kernel_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/emit/kernel_names.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  return ParseKernel("test", text).status().message();
}

TEST(KernelLibrary, ParsesEveryKindOfHeaderLine) {
  const Result<KernelSource> source = ParseKernel("test", R"(// What it does.
@read x
@read w wide
@write y
@int M N

@float SCALE
@define ROWS 6
@shared float4 part 32
@local 8 2 1
---
  y_store(0, x_load(0))
)");
  ASSERT_TRUE(source.ok()) << source.status().message();
  KernelSource expected;
  expected.name = "test";
  expected.tensors = {{"x"}, {"w"}, {"y", ArgDirection::kWrite}};
  expected.tensors[1].wide = true;
  expected.scalars = {{"M"}, {"N"}, {"SCALE", ScalarType::kFloat}};
  expected.defines = {{"ROWS", "6"}};
  expected.shared = {{"part", "float4", 32}};
  expected.local_size = {8, 2, 1};
  expected.body = "  y_store(0, x_load(0))\n";
  EXPECT_EQ(*source, expected);
}

TEST(KernelLibrary, KeepsTheBodyAsItIs) {
  const Result<KernelSource> source = ParseKernel("test", "@write y\n---\n@read is no header here\n---\n  // end");
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(source->body, "@read is no header here\n---\n  // end");
}

TEST(KernelLibrary, NamesFileAndLineOfABrokenHeader) {
  EXPECT_THAT(ErrorOf("@read x\n@reed y\n---\n"), HasSubstr("test.kernel:2:"));
  EXPECT_THAT(ErrorOf("@read x\n@reed y\n---\n"), HasSubstr("@reed y"));
}

TEST(KernelLibrary, RefusesHeaderLinesWithTooFewOrWrongWords) {
  for (const char* line :
       {"@read", "@write y narrow", "@read x wide more", "@int", "@float", "@define ROWS", "@define A B C",
        "@local 8 1", "@local 8 1 x", "@local 8 1 -1", "@shared float part", "@shared float part many", "stray text"}) {
    EXPECT_THAT(ErrorOf(std::string(line) + "\n---\n"), HasSubstr("test.kernel:1:")) << line;
  }
}

TEST(KernelLibrary, RefusesAKernelWithoutABody) {
  EXPECT_THAT(ErrorOf("@read x\n@write y\n"), HasSubstr("---"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("---"));
}

TEST(KernelLibrary, ListsItsKernelsWhenOneIsNotThere) {
  const Status status = LoadKernel("no_such_kernel").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("softmax"));
}

TEST(KernelLibrary, LoadsEveryKernelOfTheTree) {
  const std::vector<std::string> names = KernelNames();
  EXPECT_FALSE(names.empty());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    const Result<KernelSource> source = LoadKernel(name);
    ASSERT_TRUE(source.ok()) << source.status().message();
    EXPECT_EQ(source->name, name);
    EXPECT_TRUE(std::any_of(source->tensors.begin(), source->tensors.end(), [](const TensorArg& arg) {
      return arg.direction == ArgDirection::kWrite;
    })) << name;
  }
}

TEST(KernelLibrary, SetDefineReplacesOneValue) {
  Result<KernelSource> source = ParseKernel("test", "@write y\n@define ROWS 6\n@define COLS 2\n---\n");
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(SetDefine(*source, "ROWS", "8").ok());
  EXPECT_EQ(source->defines, (std::vector<Define>{{"ROWS", "8"}, {"COLS", "2"}}));
}

TEST(KernelLibrary, ADefineThatTheKernelLacksIsAnError) {
  Result<KernelSource> source = ParseKernel("test", "@write y\n@define ROWS 6\n---\n");
  ASSERT_TRUE(source.ok());
  const Status status = SetDefine(*source, "COLS", "2");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("COLS"));
}

// The build reads the headers of .kernel files by expressions of its own.
TEST(KernelLibrary, TheNamesThatTheCompilerKnowsAreThoseOfTheFiles) {
  std::set<std::string_view> names, tensors, scalars, defines;
  std::vector<KernelSource> sources;
  for (const std::string& name : KernelNames()) sources.push_back(LoadKernel(name).value());
  for (const KernelSource& source : sources) {
    names.insert(source.name);
    for (const TensorArg& tensor : source.tensors) tensors.insert(tensor.name);
    for (const ScalarArg& scalar : source.scalars) scalars.insert(scalar.name);
    for (const Define& define : source.defines) defines.insert(define.name);
  }
  EXPECT_EQ(names, std::set(kernels::kNames.begin(), kernels::kNames.end()));
  EXPECT_EQ(tensors, std::set(kernels::kTensors.begin(), kernels::kTensors.end()));
  EXPECT_EQ(scalars, std::set(kernels::kScalars.begin(), kernels::kScalars.end()));
  EXPECT_EQ(defines, std::set(kernels::kDefines.begin(), kernels::kDefines.end()));
}

}  // namespace
}  // namespace hearth
