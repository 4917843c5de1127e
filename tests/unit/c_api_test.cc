// hearth/hearth_c.h as a program in another language meets it.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/testing/c_handles.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::StartsWith;

const std::string kDemo = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

TEST(CApi, AMessageThatIsTooLongEndsBehindAWholeCharacter) {
  for (size_t ahead = 0; ahead < 3; ++ahead) {
    std::string path(ahead, 'a');
    for (int count = 0; count < 3000; ++count) path += "\u20ac";  // of three bytes
    OwnedModel model;
    EXPECT_NE(hearth_model_open(path.c_str(), nullptr, model.out()), HEARTH_OK);
    const std::string message = hearth_last_error();
    EXPECT_LT(message.size(), 4096u);
    EXPECT_GT(message.size(), 4090u);
    EXPECT_TRUE(message.ends_with("\u20ac...")) << message.substr(message.size() - 10);
  }
}

TEST(CApi, ABuiltModelRunsRemembersAndForgets) {
  OwnedSession session;
  OpenNegatedSum(session);
  EXPECT_EQ(hearth_session_find_input(session, "x"), 0);
  EXPECT_EQ(hearth_session_find_output(session, "y"), 0);
  const float x[] = {1, 2, 3, 4};
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-1, -2, -3, -4));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-2, -4, -6, -8));
  ASSERT_FINE(hearth_session_wait_for_device(session));
  ASSERT_FINE(hearth_session_reset_state(session));
  OwnedProfile profile;
  ASSERT_FINE(hearth_session_run_profiled(session, profile.out()));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-1, -2, -3, -4));
  ASSERT_GT(hearth_profile_count(profile), 0u);
  EXPECT_NE(hearth_profile_node(profile, 0), nullptr);
  EXPECT_NE(hearth_profile_kernel(profile, 0), nullptr);
  EXPECT_GE(hearth_profile_milliseconds(profile, 0), 0);
}

TEST(CApi, RunsMayBeSubmittedAndWaitedFor) {
  OwnedModel model;
  MakeNegatedSum(model);
  OwnedOptions options;
  SetCpu(options);
  ASSERT_FINE(hearth_options_set(options, "max_in_flight", "2"));
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  uint64_t tickets[3] = {};
  for (int run = 0; run < 2; ++run) {
    const float x[] = {1.0f + run, 2, 3, 4};
    ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
    ASSERT_FINE(hearth_session_submit(session, nullptr, &tickets[run], nullptr));
  }
  EXPECT_EQ(hearth_session_submit(session, nullptr, &tickets[2], nullptr), HEARTH_RESOURCE_EXHAUSTED);
  ASSERT_FINE(hearth_session_wait(session, tickets[0]));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-1, -2, -3, -4));
  ASSERT_FINE(hearth_session_wait(session, tickets[1]));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-3, -4, -6, -8));
  EXPECT_EQ(hearth_session_wait(session, tickets[1]), HEARTH_INVALID_ARGUMENT) << "each ticket once";
}

TEST(CApi, LentMemoryIsReadAndWrittenInPlace) {
  OwnedDevices devices;
  ASSERT_FINE(hearth_devices_list(devices.out()));
  std::string device;
  for (size_t k = 0; k < hearth_devices_count(devices) && device.empty(); ++k) {
    if (hearth_device_usable(devices, k) != 0 && std::strcmp(hearth_device_property(devices, k, "id"), "cpu") != 0)
      device = hearth_device_property(devices, k, "id");
  }
  if (device.empty()) GTEST_SKIP() << "no device but the CPU, to which nothing is lent";
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("negate", graph.out()));
  const int32_t shape[] = {1, 1, 2, 4};
  const int32_t x = hearth_graph_input(graph, "x", shape, 4);
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", x), "y");
  OwnedModel model;
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
  OwnedOptions options;
  SetCpu(options);
  ASSERT_FINE(hearth_options_set(options, "device", device.c_str()));
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));

  alignas(8) const uint8_t pixels[] = {0, 51, 102, 255, 255, 204, 51, 0};
  alignas(8) float result[8] = {};
  OwnedBinding input, output;
  ASSERT_FINE(
      hearth_binding_create(HEARTH_MEMORY_HOST, reinterpret_cast<uint64_t>(pixels), sizeof pixels, input.out()));
  ASSERT_FINE(hearth_binding_set_format(input, HEARTH_FORMAT_RGBA8));
  ASSERT_FINE(hearth_binding_set_layout(input, 0, 0, 0));
  ASSERT_FINE(hearth_binding_set_image_layout(input, 1));  // nothing to host memory
  const float five[] = {5, 5, 5, 5}, none[] = {0, 0, 0, 0};
  ASSERT_FINE(hearth_binding_set_scale(input, five, none));
  ASSERT_FINE(
      hearth_binding_create(HEARTH_MEMORY_HOST, reinterpret_cast<uint64_t>(result), sizeof result, output.out()));
  ASSERT_FINE(hearth_session_bind_input(session, 0, input));
  ASSERT_FINE(hearth_session_bind_output(session, 0, output));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(result, Pointwise(FloatNear(1e-5f), {0, -1, -2, -5, -5, -4, -1, 0}));

  ASSERT_FINE(hearth_session_bind_output(session, 0, nullptr));
  ASSERT_FINE(hearth_session_bind_input(session, 0, nullptr));
  const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_FINE(hearth_session_set_input(session, 0, numbers, sizeof numbers));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(-1, -2, -3, -4, -5, -6, -7, -8));
  EXPECT_EQ(hearth_session_bind_input(session, 1, input), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_bind_output(session, SIZE_MAX, nullptr), HEARTH_INVALID_ARGUMENT);
}

TEST(CApi, EveryOperationOfTheGraphBuilderIsThere) {
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("all", graph.out()));
  const int32_t image[] = {1, 4, 4, 1}, window[] = {1, 2, 2, 1}, flat[] = {1, 4}, weights[] = {2, 4}, two[] = {2};
  const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  const int32_t x = hearth_graph_input(graph, "x", image, 4);
  const int32_t k = hearth_graph_constant(graph, "k", window, 4, ones, 4);
  const int32_t conv = hearth_graph_conv_2d(graph, x, k, -1, 1, 1, 1, 1, HEARTH_PADDING_SAME, HEARTH_ACTIVATION_RELU);
  const int32_t depthwise =
      hearth_graph_depthwise_conv_2d(graph, conv, k, -1, 1, 1, 1, 1, HEARTH_PADDING_SAME, HEARTH_ACTIVATION_NONE);
  const int32_t mean =
      hearth_graph_average_pool_2d(graph, depthwise, 2, 2, 2, 2, HEARTH_PADDING_VALID, HEARTH_ACTIVATION_NONE);
  const int32_t largest =
      hearth_graph_max_pool_2d(graph, depthwise, 2, 2, 2, 2, HEARTH_PADDING_VALID, HEARTH_ACTIVATION_NONE);
  const int32_t both[] = {mean, largest};
  const int32_t joined = hearth_graph_concat(graph, both, 2, 3);
  const int32_t resized = hearth_graph_resize_bilinear(graph, joined, 2, 1, 0, 0);
  const int32_t row = hearth_graph_reshape(graph, resized, flat, 2);
  const int32_t bias = hearth_graph_constant(graph, "bias", two, 1, ones, 2);
  const int32_t filter = hearth_graph_constant(graph, "filter", weights, 2, ones, 8);
  const int32_t dense = hearth_graph_fully_connected(graph, row, filter, bias, HEARTH_ACTIVATION_RELU6);
  hearth_graph_output(graph, hearth_graph_softmax(graph, dense, 1.0f), "scores");
  OwnedModel model;
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  const std::vector<float> pixels(16, 1.0f);
  ASSERT_FINE(hearth_session_set_input(session, 0, pixels.data(), pixels.size() * sizeof(float)));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(OutputFloats(session, 0), ElementsAre(0.5f, 0.5f));
}

TEST(CApi, AModelMayBeDestroyedBeforeItsSessions) {
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  {
    OwnedModel model;
    MakeNegatedSum(model);
    ASSERT_FINE(hearth_session_create(model, options, session.out()));
  }
  const float x[] = {1, 2, 3, 4};
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_STREQ(hearth_tensor_name(hearth_session_output(session, 0)), "y");
}

TEST(CApi, AFileAndItsBytesAreTheSameModel) {
  std::ifstream file(kDemo, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  OwnedModel from_file, from_memory;
  ASSERT_FINE(hearth_model_open(kDemo.c_str(), nullptr, from_file.out()));
  ASSERT_FINE(hearth_model_from_memory(bytes.data(), bytes.size(), nullptr, from_memory.out()));
  EXPECT_STREQ(hearth_model_fingerprint(from_file), hearth_model_fingerprint(from_memory));
  ASSERT_EQ(hearth_model_input_count(from_file), 1u);
  const hearth_tensor* input = hearth_model_input(from_file, 0);
  EXPECT_STREQ(hearth_tensor_dtype(input), "float32");
  ASSERT_EQ(hearth_tensor_rank(input), 4u);
  size_t elements = 1;
  for (size_t k = 0; k < 4; ++k) elements *= static_cast<size_t>(hearth_tensor_shape(input)[k]);
  EXPECT_EQ(hearth_tensor_size_bytes(input), elements * sizeof(float));
  EXPECT_EQ(hearth_tensor_scale_count(input), 0u);
  EXPECT_EQ(hearth_model_output(from_file, hearth_model_output_count(from_file)), nullptr);
}

TEST(CApi, AQuantizedTensorTellsItsGrid) {
  OwnedModel model;
  ASSERT_FINE(hearth_model_open((SourceFolder() / "tools/demo/shapes_int8.tflite").c_str(), nullptr, model.out()));
  const hearth_tensor* input = hearth_model_input(model, 0);
  EXPECT_STREQ(hearth_tensor_dtype(input), "int8");
  ASSERT_EQ(hearth_tensor_scale_count(input), 1u);
  EXPECT_GT(hearth_tensor_scales(input)[0], 0);
  EXPECT_GE(hearth_tensor_zero_points(input)[0], -128);
}

TEST(CApi, ShapesAreChosenWhenTheModelIsOpened) {
  OwnedOptions options;
  SetCpu(options);
  OwnedModel model;
  ASSERT_FINE(hearth_model_open(kDemo.c_str(), nullptr, model.out()));
  const hearth_tensor* input = hearth_model_input(model, 0);
  std::vector<int32_t> shape(hearth_tensor_shape(input), hearth_tensor_shape(input) + 4);
  shape[0] = 2;
  ASSERT_FINE(hearth_options_set_shape(options, hearth_tensor_name(input), shape.data(), shape.size()));
  OwnedSession session;
  ASSERT_FINE(hearth_session_open(kDemo.c_str(), options, session.out()));
  EXPECT_EQ(hearth_tensor_shape(hearth_session_input(session, 0))[0], 2);
  EXPECT_EQ(hearth_tensor_shape(hearth_session_output(session, 0))[0], 2);
  EXPECT_EQ(hearth_session_create(model, options, session.out()), HEARTH_INVALID_ARGUMENT)
      << "a model's shapes are chosen already";
}

TEST(CApi, TheReportIsJson) {
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_open(kDemo.c_str(), options, session.out()));
  OwnedText json;
  ASSERT_FINE(hearth_session_report_json(session, json.out()));
  EXPECT_THAT(std::string(json), AllOf(StartsWith("{"), HasSubstr("\"id\": \"cpu\""), HasSubstr(hearth_version())));
}

TEST(CApi, TheCpuIsAmongTheDevices) {
  OwnedDevices devices;
  ASSERT_FINE(hearth_devices_list(devices.out()));
  std::vector<std::string> usable;
  for (size_t k = 0; k < hearth_devices_count(devices); ++k) {
    ASSERT_NE(hearth_device_property(devices, k, "id"), nullptr);
    if (hearth_device_usable(devices, k) != 0)
      usable.emplace_back(hearth_device_property(devices, k, "id"));
    else
      EXPECT_STRNE(hearth_device_property(devices, k, "reason"), "");
  }
  EXPECT_THAT(usable, Contains("cpu"));
  EXPECT_EQ(hearth_device_property(devices, 0, "colour"), nullptr);
  EXPECT_EQ(hearth_device_property(devices, hearth_devices_count(devices), "id"), nullptr);
  EXPECT_EQ(hearth_device_usable(devices, hearth_devices_count(devices)), 0);
}

TEST(CApi, TheVerbsOfTheCacheGiveJson) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open((folder.path() / "cache").c_str(), cache.out()));
  EXPECT_EQ(hearth_cache_folder(cache), (folder.path() / "cache").string());
  OwnedOptions options;
  SetCpu(options);
  OwnedText json;
  const char* models[] = {kDemo.c_str()};
  const char* cpu[] = {"cpu"};
  EXPECT_FINE(hearth_cache_warm(cache, models, 1, cpu, 1, options, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"ok\": true"));
  EXPECT_FINE(hearth_cache_explain(cache, kDemo.c_str(), options, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"hits\""));
  EXPECT_FINE(hearth_cache_list(cache, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"entries\""));
  EXPECT_FINE(hearth_cache_stats(cache, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"lifetime\""));
  EXPECT_FINE(hearth_cache_verify(cache, 0, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"clean\": true"));
  EXPECT_FINE(hearth_cache_prune(cache, 1 << 20, nullptr));
  EXPECT_FINE(hearth_cache_export(cache, (folder.path() / "bundle.tar").c_str(), nullptr, json.out()));
  EXPECT_FINE(hearth_cache_import(cache, (folder.path() / "bundle.tar").c_str(), nullptr, 0, json.out()));
  EXPECT_FINE(hearth_cache_clear(cache, "plan", nullptr, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"removed_entries\""));
  EXPECT_EQ(hearth_cache_clear(cache, "colour", nullptr, nullptr), HEARTH_INVALID_ARGUMENT);
}

struct LogLines {
  std::vector<std::string> info, warnings;
};
void TakeLine(void* user_data, int32_t level, const char* message) {
  auto& lines = *static_cast<LogLines*>(user_data);
  if (level == HEARTH_LOG_INFO) lines.info.emplace_back(message);
  if (level == HEARTH_LOG_WARNING) lines.warnings.emplace_back(message);
}

TEST(CApi, TheLogSinkGetsTheDeviceAndEachWarningOnceAndStandardErrorGetsNothingThen) {
  OwnedOptions options;
  SetCpu(options);
  ASSERT_FINE(hearth_options_set(options, "precision", "fp16"));  // the CPU device has none: a warning
  LogLines lines;
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  hearth_set_log_sink(TakeLine, &lines);
  {
    OwnedSession session;
    EXPECT_FINE(hearth_session_open(kDemo.c_str(), options, session.out()));
    OwnedText json;
    EXPECT_FINE(hearth_session_report_json(session, json.out()));
  }
  hearth_set_log_sink(nullptr, nullptr);
  const std::string errors = ::testing::internal::GetCapturedStderr();
  const std::string output = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(errors, "");
  EXPECT_EQ(output, "");
  EXPECT_THAT(lines.info, ElementsAre(HasSubstr(" on cpu ")));
  EXPECT_THAT(lines.warnings, ElementsAre(HasSubstr("precision fp16")));
}

TEST(CApi, WithoutALogSinkWarningsReachStandardErrorAndNothingElseDoes) {
  OwnedOptions options;
  SetCpu(options);
  ASSERT_FINE(hearth_options_set(options, "precision", "fp16"));
  ::testing::internal::CaptureStderr();
  {
    OwnedSession session;
    EXPECT_FINE(hearth_session_open(kDemo.c_str(), options, session.out()));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "hearth: warning: precision fp16 is not available on cpu; fp32 is used\n");
}

TEST(CApi, StatusesHaveNames) {
  EXPECT_STREQ(hearth_status_name(HEARTH_OK), "ok");
  EXPECT_STREQ(hearth_status_name(HEARTH_DEVICE_LOST), "device lost");
  EXPECT_STREQ(hearth_status_name(-1), "unknown");
  EXPECT_STREQ(hearth_status_name(10), "unknown");
  EXPECT_GE(hearth_c_api_version(), HEARTH_C_API_VERSION);
}

}  // namespace
}  // namespace hearth
