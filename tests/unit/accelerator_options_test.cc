// LiteRT's options and the environment's variables as options of LiteRT 2's accelerator.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "frontends/accelerator/gpu_options.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;

DelegateOptions OptionsFrom(std::string_view toml, const std::vector<std::string>& variables = {}) {
  const Result<DelegateOptions> options = AcceleratorOptions(toml, variables);
  EXPECT_TRUE(options.ok()) << options.status().message();
  return options.ok() ? *options : DelegateOptions();
}

TEST(AcceleratorOptions, WithoutAnyTheGpuIsTakenAndTheCacheIsOn) {
  const DelegateOptions options = OptionsFrom("");
  EXPECT_EQ(options.session.device, "gpu");
  EXPECT_TRUE(options.session.use_cache);
  EXPECT_EQ(options.session.cache_folder, "");
  EXPECT_EQ(options.session.precision, "fp32");
}

TEST(AcceleratorOptions, LiteRtsOptionsMeanTheSameHere) {
  const DelegateOptions options = OptionsFrom(
      "precision = 3\nbackend = 1\n  serialization_dir = \"/tmp/a b\"\nmodel_cache_key = 'v2'\n# priority = "
      "1\nwait_type "
      "= 2\nexternal_tensor_patterns = [\"kv_cache_\"]\nno line\n");
  EXPECT_EQ(options.session.precision, "fp32_16");
  EXPECT_EQ(options.session.device, "opencl");
  EXPECT_EQ(options.session.cache_folder, "/tmp/a b");
  EXPECT_EQ(options.session.model_token, "v2");
  EXPECT_EQ(OptionsFrom("preferred_device_substr = \"radeon\"\n").session.device, "radeon");
  EXPECT_EQ(OptionsFrom("precision = 0\nbackend = 2\n").session.precision, "fp32");
  EXPECT_FALSE(OptionsFrom("serialize_program_cache = false\n").session.use_cache);
}

TEST(AcceleratorOptions, AFileForACacheMeansItsFolder) {
  std::array<char, 32> name = {"/tmp/hearth-fd-test.XXXXXX"};
  const int file = mkstemp(name.data());
  ASSERT_GE(file, 0);
  EXPECT_EQ(OptionsFrom("program_cache_fd = " + std::to_string(file)).session.cache_folder, "/tmp/hearth");
  close(file);
  unlink(name.data());
  EXPECT_EQ(OptionsFrom("weight_cache_fd = 12345").session.cache_folder, "");
}

TEST(AcceleratorOptions, TheEnvironmentCountsMore) {
  const DelegateOptions options = OptionsFrom("backend = 1\nserialization_dir = \"/a\"",
                                              {"HEARTH_DEVICE=vulkan", "HEARTH_CACHE_DIR=/b", "HEARTH_CPU_OPS=softmax",
                                               "HEARTH_LOG=debug", "HEARTH_LOG_FILE=/c", "HEARTH_WHOLE=1", "OTHER=1"});
  EXPECT_EQ(options.session.device, "vulkan");
  EXPECT_EQ(options.session.cache_folder, "/b");
  EXPECT_THAT(options.cpu_ops, ElementsAre("softmax"));
  EXPECT_EQ(options.log_path, "/c");
  EXPECT_FALSE(OptionsFrom("", {"HEARTH_CACHE=off"}).session.use_cache);
}

TEST(AcceleratorOptions, AWrongValueIsAnError) {
  EXPECT_EQ(AcceleratorOptions("", {"HEARTH_PRECISION=fp7"}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
