// What options and attributes of the delegate plugin mean.

#include "frontends/delegate/delegate_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/delegate/builtin_options.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using Options = std::vector<std::pair<std::string_view, std::string_view>>;

DelegateOptions Parsed(const Options& options) {
  const Result<DelegateOptions> parsed = ParseDelegateOptions(options);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? parsed.value() : DelegateOptions();
}

std::string MistakeIn(const Options& options) {
  const Result<DelegateOptions> parsed = ParseDelegateOptions(options);
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  return parsed.status().message();
}

TEST(DelegateOptions, WithoutAnyAreAutoFp32WithoutCacheAndLimits) {
  const DelegateOptions options = Parsed({});
  EXPECT_EQ(options.session.device, "auto");
  EXPECT_EQ(options.session.precision, "fp32");
  EXPECT_FALSE(options.session.use_cache);
  EXPECT_TRUE(options.allows_quantized);
  EXPECT_EQ(options.max_partitions, 0);
  EXPECT_EQ(options.min_nodes_per_partition, 1);
}

TEST(DelegateOptions, PrecisionFollowsThePlaceOfMaxPrecision) {
  EXPECT_EQ(Parsed({{"priorities", "max_precision"}}).session.precision, "fp32");
  EXPECT_EQ(Parsed({{"priorities", "min_latency"}}).session.precision, "fp16");
  EXPECT_EQ(Parsed({{"priorities", "min_latency,max_precision"}}).session.precision, "fp32_16");
  EXPECT_EQ(Parsed({{"priorities", "min_memory_usage"}}).session.precision, "fp32_16");
  EXPECT_EQ(Parsed({{"priorities", "min_memory_usage,min_latency,max_precision"}}).session.precision, "fp16");
  EXPECT_EQ(Parsed({{"inference_priority1", "2"}, {"inference_priority2", "1"}}).session.precision, "fp32_16");
}

TEST(DelegateOptions, PreferenceFollowsTheReferencesNumbers) {
  EXPECT_EQ(Parsed({}).session.preference, "balanced");
  EXPECT_EQ(Parsed({{"inference_preference", "0"}}).session.preference, "fast_single_answer");
  EXPECT_EQ(Parsed({{"inference_preference", "1"}}).session.preference, "sustained_speed");
  EXPECT_EQ(Parsed({{"inference_preference", "2"}}).session.preference, "balanced");
  tflite_c::TfLiteGpuDelegateOptionsV2 options = DefaultOptionsV2();
  EXPECT_EQ(DelegateOptionsOf(options)->session.preference, "fast_single_answer");
  options.inference_preference = 3;
  EXPECT_FALSE(DelegateOptionsOf(options).ok());
}

TEST(DelegateOptions, OfSessionsAreReadAsEverywhere) {
  const DelegateOptions limited = Parsed({{"wait_limit_ms", "250"}, {"next_device", "on"}});
  EXPECT_EQ(limited.session.wait_limit_ms, 250);
  EXPECT_EQ(Parsed({{"cache_wait_ms", "17"}}).session.cache_wait_ms, 17);
  EXPECT_TRUE(limited.session.next_device);
  const DelegateOptions options = Parsed({{"preference", "sustained_speed"},
                                          {"inference_preference", "0"},
                                          {"threads", "3"},
                                          {"cpu_ops", "softmax,op:7"},
                                          {"tune", "fast"}});
  EXPECT_EQ(options.session.preference, "sustained_speed");
  EXPECT_EQ(options.session.threads, 3);
  EXPECT_EQ(options.cpu_ops, (std::vector<std::string>{"softmax", "op:7"}));
  EXPECT_EQ(options.session.tune, "fast");
  EXPECT_EQ(Parsed({}).session.threads, 0);
  EXPECT_EQ(Parsed({}).session.tune, "off");
}

TEST(DelegateOptions, WhatIsMadeIsStoredLaterUnlessNow) {
  EXPECT_FALSE(Parsed({}).stores_at_once);
  EXPECT_FALSE(Parsed({{"store", "later"}}).stores_at_once);
  EXPECT_TRUE(Parsed({{"store", "now"}}).stores_at_once);
}

TEST(DelegateOptions, WhatIsSaidMoreDirectlyCountsMore) {
  EXPECT_EQ(Parsed({{"is_precision_loss_allowed", "1"}}).session.precision, "fp16");
  EXPECT_EQ(Parsed({{"is_precision_loss_allowed", "0"}}).session.precision, "fp32");
  EXPECT_EQ(Parsed({{"is_precision_loss_allowed", "1"}, {"inference_priority1", "1"}}).session.precision, "fp32");
  EXPECT_EQ(Parsed({{"allow_fp16", "true"}, {"inference_priority1", "1"}}).session.precision, "fp16");
  EXPECT_EQ(Parsed({{"precision", "fp32_16"}, {"allow_fp16", "0"}}).session.precision, "fp32_16");
  EXPECT_EQ(Parsed({{"experimental_flags", "2"}}).session.device, "opencl");
  EXPECT_EQ(Parsed({{"experimental_flags", "4"}}).session.device, "gles");
  EXPECT_EQ(Parsed({{"experimental_flags", "4"}, {"device", "vulkan"}}).session.device, "vulkan");
  EXPECT_EQ(Parsed({{"max_delegated_partitions", "0"}}).max_partitions, 1);
  EXPECT_EQ(Parsed({{"max_delegated_partitions", "4"}, {"max_partitions", "0"}}).max_partitions, 0);
}

TEST(DelegateOptions, TheCacheIsUsedByOurNameOrByAllThreeOfTheReference) {
  EXPECT_EQ(Parsed({{"cache_dir", "/a"}, {"max_cache_size", "2M"}}).session.cache_max_bytes, 2U << 20);
  for (const char* name : {"cache_folder", "cache_dir"}) {
    EXPECT_EQ(Parsed({{name, "/a"}}).session.cache_folder, "/a");
    EXPECT_TRUE(Parsed({{name, "/a"}}).session.use_cache);
  }
  for (const char* name : {"cache_max_bytes", "cache_max_size", "max_cache_size"}) {
    EXPECT_EQ(Parsed({{"cache_folder", "/a"}, {name, "2M"}}).session.cache_max_bytes, 2U << 20);
  }
  EXPECT_EQ(Parsed({{"cache_dir", "/a"}, {"model_token", "t"}}).session.model_token, "t");
  EXPECT_FALSE(Parsed({{"serialization_dir", "/b"}, {"model_token", "t"}}).session.use_cache);
  EXPECT_FALSE(Parsed({{"serialization_dir", "/b"}, {"experimental_flags", "8"}}).session.use_cache);
  const DelegateOptions all = Parsed({{"serialization_dir", "/b"}, {"model_token", "t"}, {"experimental_flags", "9"}});
  EXPECT_TRUE(all.session.use_cache);
  EXPECT_EQ(all.session.cache_folder, "/b");
  EXPECT_EQ(all.session.model_token, "t");
}

TEST(DelegateOptions, MistakesAreSentences) {
  EXPECT_THAT(MistakeIn({{"precission", "fp32"}}),
              HasSubstr("no option is called 'precission' (did you mean 'precision'?); there are device,"));
  EXPECT_EQ(MistakeIn({{"precision", "int8"}}), "option precision is 'int8'; it takes fp32, fp32_16 or fp16");
  EXPECT_EQ(MistakeIn({{"profiling", "maybe"}}), "option profiling is 'maybe'; it takes 0 or 1");
  EXPECT_EQ(MistakeIn({{"inference_preference", "3"}}),
            "option inference_preference is '3'; it takes a number from 0 to 2");
  EXPECT_EQ(MistakeIn({{"max_partitions", "1x"}}),
            "option max_partitions is '1x'; it takes a number from 0 to 1000000000");
  EXPECT_EQ(MistakeIn({{"max_delegated_partitions", "-3"}}),
            "option max_delegated_partitions is '-3'; it takes a number from 0 to 1000000000");
  EXPECT_THAT(MistakeIn({{"max_cache_size", "much"}}), HasSubstr("option 'max_cache_size': 'much'"));
  EXPECT_EQ(MistakeIn({{"store", "soon"}}), "option store is 'soon'; it takes now or later");
  EXPECT_EQ(MistakeIn({{"tune", "slow"}}), "option tune is 'slow'; it takes off, fast or full");
  EXPECT_THAT(MistakeIn({{"threads", "many"}}), HasSubstr("option 'threads': 'many' is not a number"));
  EXPECT_THAT(MistakeIn({{"preference", "speed"}}), HasSubstr("sustained_speed"));
  EXPECT_EQ(MistakeIn({{"priorities", "speed"}}),
            "option priorities is 'speed'; it takes up to three of auto, max_precision, min_latency, min_memory_usage, "
            "separated by commas");
  EXPECT_EQ(MistakeIn({{"priorities", "min_latency,min_latency"}}), "one priority is given twice");
  EXPECT_EQ(MistakeIn({{"inference_priority3", "2"}}), "priority 3 is given and priority 2 is not");
  EXPECT_EQ(MistakeIn({{"experimental_flags", "6"}}), "experimental_flags ask for OpenCL only and OpenGL only");
}

TEST(DelegateOptions, OfTheReferencesStruct) {
  tflite_c::TfLiteGpuDelegateOptionsV2 options = DefaultOptionsV2();
  Result<DelegateOptions> parsed = DelegateOptionsOf(options);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->session.precision, "fp32");
  EXPECT_EQ(parsed->max_partitions, 1);
  EXPECT_FALSE(parsed->session.use_cache);
  options.is_precision_loss_allowed = 1;  // counts more than the priorities here
  options.experimental_flags = 8;
  options.serialization_dir = "/c";
  options.model_token = "t";
  parsed = DelegateOptionsOf(options);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->session.precision, "fp16");
  EXPECT_EQ(parsed->session.cache_folder, "/c");
  EXPECT_FALSE(parsed->allows_quantized);
  options.is_precision_loss_allowed = -1;
  options.inference_priority2 = -1;
  EXPECT_FALSE(DelegateOptionsOf(options).ok());
}

TEST(BuiltinOptions, CountAndTypeAsTheFileFormatDoes) {
  EXPECT_EQ(FileTypeOf(tflite_c::kTfLiteFloat32), 0);
  EXPECT_EQ(FileTypeOf(tflite_c::kTfLiteFloat16), 1);
  EXPECT_EQ(FileTypeOf(tflite_c::kTfLiteInt4), 17);
  EXPECT_EQ(FileTypeOf(tflite_c::kTfLiteNoType), -1);
  EXPECT_EQ(FileTypeOf(99), -1);
  const int32_t conv[] = {1, 2, 3, 1, 4, 5, 0};  // TfLiteConvParams; padding 1 is SAME, 0 in files
  OperatorToWrite op;
  op.code = 3;
  SetOptions(conv, op);
  EXPECT_EQ(op.options_type, 1);
  std::vector<int32_t> numbers;
  for (const OptionToWrite& option : op.options) numbers.push_back(option.number);
  EXPECT_EQ(numbers, (std::vector<int32_t>{0, 2, 3, 1, 4, 5}));
}

TEST(BuiltinOptions, ListsAreCutToWhatTheStructHolds) {
  int32_t reshape[] = {1, 2, 3, 4, 5, 6, 7, 8, 3};  // TfLiteReshapeParams, the count at the end
  OperatorToWrite op;
  op.code = 22;
  SetOptions(reshape, op);
  EXPECT_EQ(op.options.at(0).list, (std::vector<int32_t>{1, 2, 3}));
  for (const auto& [count, size] : {std::pair(100, 8U), std::pair(-1, 0U)}) {
    reshape[8] = count;
    op.options.clear();
    SetOptions(reshape, op);
    EXPECT_EQ(op.options.at(0).list.size(), size);
  }
}

}  // namespace
}  // namespace hearth
