// hearth/hearth_c.h as a program in another language meets it: right uses, and every wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "hearth/hearth_c.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kDemo = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

// Handles free themselves; `out()` for the functions that make one.
template <typename T, void (*Destroy)(T*)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() { Destroy(handle_); }
  T** out() {
    Destroy(handle_);
    handle_ = nullptr;
    return &handle_;
  }
  operator T*() const { return handle_; }  // NOLINT(google-explicit-constructor)

 private:
  T* handle_ = nullptr;
};
using OwnedOptions = Owned<hearth_options, hearth_options_destroy>;
using OwnedModel = Owned<hearth_model, hearth_model_destroy>;
using OwnedSession = Owned<hearth_session, hearth_session_destroy>;
using OwnedGraph = Owned<hearth_graph, hearth_graph_destroy>;
using OwnedProfile = Owned<hearth_profile, hearth_profile_destroy>;
using OwnedDevices = Owned<hearth_devices, hearth_devices_destroy>;
using OwnedCache = Owned<hearth_cache, hearth_cache_destroy>;
using OwnedText = Owned<char, hearth_free_text>;

#define EXPECT_FINE(call) EXPECT_EQ(call, HEARTH_OK) << hearth_last_error()
#define ASSERT_FINE(call) ASSERT_EQ(call, HEARTH_OK) << hearth_last_error()

// On the CPU, without a cache.
void SetCpu(OwnedOptions& options) {
  ASSERT_FINE(hearth_options_create(options.out()));
  ASSERT_FINE(hearth_options_set(options, "device", "cpu"));
  ASSERT_FINE(hearth_options_set(options, "cache", "off"));
}

// y = -(x + sum of what x was before), 1x4.
void MakeNegatedSum(OwnedModel& model) {
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("sum", graph.out()));
  const int32_t shape[] = {1, 4};
  const int32_t x = hearth_graph_input(graph, "x", shape, 2);
  const int32_t memory = hearth_graph_state(graph, "memory", shape, 2);
  const int32_t sum = hearth_graph_binary(graph, "add", x, memory, HEARTH_ACTIVATION_NONE);
  hearth_graph_update(graph, memory, sum);
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", sum), "y");
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
}

std::vector<float> Floats(const hearth_session* session, size_t output) {
  size_t size_bytes = 0;
  const void* data = hearth_session_output_data(session, output, &size_bytes);
  std::vector<float> values(size_bytes / sizeof(float));
  if (data != nullptr) std::memcpy(values.data(), data, size_bytes);
  return values;
}

TEST(CApi, ABuiltModelRunsRemembersAndForgets) {
  OwnedModel model;
  MakeNegatedSum(model);
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  EXPECT_EQ(hearth_session_find_input(session, "x"), 0);
  EXPECT_EQ(hearth_session_find_output(session, "y"), 0);
  const float x[] = {1, 2, 3, 4};
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(Floats(session, 0), ElementsAre(-1, -2, -3, -4));
  ASSERT_FINE(hearth_session_run(session));
  EXPECT_THAT(Floats(session, 0), ElementsAre(-2, -4, -6, -8));
  ASSERT_FINE(hearth_session_reset_state(session));
  OwnedProfile profile;
  ASSERT_FINE(hearth_session_run_profiled(session, profile.out()));
  EXPECT_THAT(Floats(session, 0), ElementsAre(-1, -2, -3, -4));
  ASSERT_GT(hearth_profile_count(profile), 0u);
  EXPECT_NE(hearth_profile_node(profile, 0), nullptr);
  EXPECT_NE(hearth_profile_kernel(profile, 0), nullptr);
  EXPECT_GE(hearth_profile_milliseconds(profile, 0), 0);
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
  EXPECT_THAT(Floats(session, 0), ElementsAre(0.5f, 0.5f));
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
  EXPECT_FINE(hearth_cache_export(cache, (folder.path() / "bundle").c_str(), nullptr, json.out()));
  EXPECT_FINE(hearth_cache_import(cache, (folder.path() / "bundle").c_str(), nullptr, 0, json.out()));
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

TEST(CApi, TheLogSinkGetsTheDeviceAndEachWarningOnceAndStandardErrorGetsNothing) {
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
  {
    OwnedSession session;
    EXPECT_FINE(hearth_session_open(kDemo.c_str(), options, session.out()));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(lines.info, ElementsAre(HasSubstr(" on cpu ")));
  EXPECT_THAT(lines.warnings, ElementsAre(HasSubstr("precision fp16")));
}

TEST(CApi, AnOptionThatThereIsNotOrDoesNotFitIsNamed) {
  OwnedOptions options;
  SetCpu(options);
  EXPECT_EQ(hearth_options_set(options, "colour", "red"), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), AllOf(HasSubstr("'colour'"), HasSubstr("model_token")));
  EXPECT_EQ(hearth_options_set(options, "threads", "-1"), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), AllOf(HasSubstr("'threads'"), HasSubstr("'-1'")));
  EXPECT_EQ(hearth_options_set(options, "cache", "maybe"), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_options_set(options, "cache_max_bytes", "12 apples"), HEARTH_INVALID_ARGUMENT);
  EXPECT_FINE(hearth_options_set(options, "cache_max_bytes", "512M"));
  OwnedSession session;
  EXPECT_FINE(hearth_options_set(options, "device", "toaster"));
  EXPECT_EQ(hearth_session_open(kDemo.c_str(), options, session.out()), HEARTH_UNAVAILABLE);
  EXPECT_THAT(hearth_last_error(), HasSubstr("toaster"));
}

TEST(CApi, WrongIndexesNamesAndSizesAreErrorsThatSayWhatIsThere) {
  OwnedModel model;
  MakeNegatedSum(model);
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  const float x[] = {1, 2, 3, 4};
  EXPECT_EQ(hearth_session_output_data(session, 0, nullptr), nullptr) << "nothing has run yet";
  EXPECT_EQ(hearth_session_run(session), HEARTH_INVALID_ARGUMENT) << "the input was not given";
  EXPECT_EQ(hearth_session_set_input(session, 1, x, sizeof x), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_set_input(session, SIZE_MAX, x, sizeof x), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_set_input(session, 0, x, 15), HEARTH_INVALID_ARGUMENT);
  EXPECT_STREQ(hearth_last_error(), "input 'x' takes 16 bytes, 15 were given");
  EXPECT_EQ(hearth_session_find_input(session, "y"), -1);
  EXPECT_EQ(hearth_session_find_input(session, ""), -1);
  EXPECT_EQ(hearth_session_input(session, 1), nullptr);
  ASSERT_FINE(hearth_session_set_input(session, 0, x, sizeof x));
  ASSERT_FINE(hearth_session_run(session));
  size_t size_bytes = 7;
  EXPECT_EQ(hearth_session_output_data(session, 1, &size_bytes), nullptr);
  EXPECT_EQ(size_bytes, 0u);
}

TEST(CApi, AFileThatIsNoModelIsRefused) {
  OwnedModel model;
  EXPECT_EQ(hearth_model_open("/nowhere/x.tflite", nullptr, model.out()), HEARTH_NOT_FOUND);
  EXPECT_EQ(hearth_model_from_memory("no model", 8, nullptr, model.out()), HEARTH_MALFORMED_INPUT);
  EXPECT_EQ(hearth_model_from_memory("", 0, nullptr, model.out()), HEARTH_MALFORMED_INPUT);
  EXPECT_EQ(static_cast<hearth_model*>(model), nullptr);
}

TEST(CApi, MistakesInAGraphAreReportedWhenItIsBuilt) {
  const int32_t shape[] = {1, 4};
  const struct {
    void (*make)(hearth_graph*);
    const char* message;
  } mistakes[] = {
      {[](hearth_graph* g) { hearth_graph_unary(g, "neg", 99); }, "tensor 99"},
      {[](hearth_graph* g) { hearth_graph_unary(g, "neg", -1); }, "absent"},
      {[](hearth_graph* g) { hearth_graph_unary(g, "colour", 0); }, "'colour'"},
      {[](hearth_graph* g) { hearth_graph_unary(g, nullptr, 0); }, "'op'"},
      {[](hearth_graph* g) { hearth_graph_binary(g, "add", 0, 0, 77); }, "activation 77"},
      {[](hearth_graph* g) { hearth_graph_max_pool_2d(g, 0, 1, 1, 1, 1, 5, 0); }, "padding 5"},
      {[](hearth_graph* g) { hearth_graph_concat(g, nullptr, 2, 0); }, "null"},
      {[](hearth_graph* g) { hearth_graph_constant(g, "c", nullptr, 0, nullptr, 3); }, "null"},
      {[](hearth_graph* g) { hearth_graph_output(g, 12345, "far"); }, "'far'"},
      {[](hearth_graph* g) { hearth_graph_update(g, 0, 777); }, "no state"},
  };
  for (const auto& mistake : mistakes) {
    OwnedGraph graph;
    ASSERT_FINE(hearth_graph_create("g", graph.out()));
    hearth_graph_output(graph, hearth_graph_input(graph, "x", shape, 2), "x");
    mistake.make(graph);
    OwnedModel model;
    EXPECT_EQ(hearth_graph_build(graph, model.out()), HEARTH_INVALID_ARGUMENT) << mistake.message;
    EXPECT_THAT(hearth_last_error(), HasSubstr(mistake.message));
    EXPECT_EQ(hearth_graph_build(graph, model.out()), HEARTH_INVALID_ARGUMENT) << "built twice";
    EXPECT_EQ(hearth_graph_input(graph, "late", shape, 2), -1);
  }
}

TEST(CApi, ANullArgumentIsAnErrorEverywhere) {
  size_t size_bytes = 0;
  OwnedText text;
  OwnedModel model;
  OwnedSession session;
  OwnedProfile profile;
  OwnedCache cache;
  OwnedGraph graph;
  OwnedOptions options;
  ASSERT_FINE(hearth_options_create(options.out()));
  ASSERT_FINE(hearth_cache_open("/tmp/not-made", cache.out()));
  const char* null_text[] = {nullptr};
  const hearth_status answers[] = {
      hearth_devices_list(nullptr),
      hearth_options_create(nullptr),
      hearth_options_set(nullptr, "device", "cpu"),
      hearth_options_set(options, nullptr, "cpu"),
      hearth_options_set(options, "device", nullptr),
      hearth_options_set_shape(nullptr, "x", nullptr, 0),
      hearth_options_set_shape(options, nullptr, nullptr, 0),
      hearth_options_set_shape(options, "x", nullptr, 2),
      hearth_model_open(nullptr, nullptr, model.out()),
      hearth_model_open("x", nullptr, nullptr),
      hearth_model_from_memory(nullptr, 5, nullptr, model.out()),
      hearth_graph_create(nullptr, graph.out()),
      hearth_graph_build(nullptr, model.out()),
      hearth_session_open(nullptr, nullptr, session.out()),
      hearth_session_open("x", nullptr, nullptr),
      hearth_session_create(nullptr, nullptr, session.out()),
      hearth_session_set_input(nullptr, 0, &size_bytes, 1),
      hearth_session_run(nullptr),
      hearth_session_run_profiled(nullptr, profile.out()),
      hearth_session_reset_state(nullptr),
      hearth_session_save_to_cache(nullptr),
      hearth_session_report_json(nullptr, text.out()),
      hearth_cache_open("x", nullptr),
      hearth_cache_list(nullptr, text.out()),
      hearth_cache_stats(nullptr, text.out()),
      hearth_cache_stats(cache, nullptr),
      hearth_cache_verify(nullptr, 0, text.out()),
      hearth_cache_prune(nullptr, 0, nullptr),
      hearth_cache_clear(nullptr, nullptr, nullptr, nullptr),
      hearth_cache_explain(cache, nullptr, nullptr, text.out()),
      hearth_cache_warm(cache, nullptr, 1, nullptr, 0, nullptr, text.out()),
      hearth_cache_warm(cache, null_text, 1, nullptr, 0, nullptr, text.out()),
      hearth_cache_export(cache, nullptr, nullptr, text.out()),
      hearth_cache_import(cache, nullptr, nullptr, 0, text.out()),
  };
  for (size_t k = 0; k < std::size(answers); ++k) EXPECT_EQ(answers[k], HEARTH_INVALID_ARGUMENT) << "call " << k;
}

TEST(CApi, QuestionsToNothingAreAnsweredWithNothing) {
  EXPECT_EQ(hearth_devices_count(nullptr), 0u);
  EXPECT_EQ(hearth_device_usable(nullptr, 0), 0);
  EXPECT_EQ(hearth_device_property(nullptr, 0, "id"), nullptr);
  for (const auto text : {hearth_tensor_name, hearth_tensor_alias, hearth_tensor_dtype})
    EXPECT_EQ(text(nullptr), nullptr);
  for (const auto number : {hearth_tensor_rank, hearth_tensor_size_bytes, hearth_tensor_scale_count})
    EXPECT_EQ(number(nullptr), 0u);
  EXPECT_EQ(hearth_tensor_shape(nullptr), nullptr);
  EXPECT_EQ(hearth_tensor_scales(nullptr), nullptr);
  EXPECT_EQ(hearth_tensor_zero_points(nullptr), nullptr);
  for (const auto number : {hearth_model_signature_count, hearth_model_input_count, hearth_model_output_count})
    EXPECT_EQ(number(nullptr), 0u);
  EXPECT_EQ(hearth_model_fingerprint(nullptr), nullptr);
  EXPECT_EQ(hearth_model_signature(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_model_input(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_session_input_count(nullptr), 0u);
  EXPECT_EQ(hearth_session_output_count(nullptr), 0u);
  EXPECT_EQ(hearth_session_output(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_session_find_output(nullptr, "x"), -1);
  EXPECT_EQ(hearth_session_output_data(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(hearth_profile_count(nullptr), 0u);
  EXPECT_EQ(hearth_profile_node(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_profile_kernel(nullptr, 0), nullptr);
  EXPECT_EQ(hearth_profile_milliseconds(nullptr, 0), 0);
  EXPECT_EQ(hearth_cache_folder(nullptr), nullptr);
  EXPECT_EQ(hearth_graph_softmax(nullptr, 0, 1), -1);
  hearth_graph_output(nullptr, 0, "x");
  hearth_devices_destroy(nullptr);
  hearth_profile_destroy(nullptr);
}

TEST(CApi, MessagesBelongToTheThreadThatFailed) {
  OwnedOptions options;
  ASSERT_FINE(hearth_options_create(options.out()));
  EXPECT_NE(hearth_options_set(options, "here", "x"), HEARTH_OK);
  std::string elsewhere = "not asked";
  std::thread([&] { elsewhere = hearth_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_THAT(hearth_last_error(), HasSubstr("'here'"));
  const std::string long_name(10'000, 'n');
  EXPECT_NE(hearth_options_set(options, long_name.c_str(), "x"), HEARTH_OK);
  EXPECT_THAT(hearth_last_error(), ::testing::EndsWith("..."));
}

TEST(CApi, StatusesHaveNames) {
  EXPECT_STREQ(hearth_status_name(HEARTH_OK), "ok");
  EXPECT_STREQ(hearth_status_name(HEARTH_DEVICE_LOST), "device lost");
  EXPECT_STREQ(hearth_status_name(-1), "unknown");
  EXPECT_STREQ(hearth_status_name(10), "unknown");
  EXPECT_GE(hearth_c_api_version(), HEARTH_C_API_VERSION);
}

TEST(CApi, RunningOutOfMemoryIsAStatus) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer ends the process where memory runs out";
#endif
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("huge", graph.out()));
  const int32_t shape[] = {1 << 14, 1 << 14};  // 1 GiB
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", hearth_graph_input(graph, "x", shape, 2)), "y");
  OwnedModel model;
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
  OwnedOptions options;
  SetCpu(options);
  const auto open_with_little_memory = [&] {
    const rlimit limit{768 << 20, 768 << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    hearth_session* session = nullptr;
    const hearth_status status = hearth_session_create(model, options, &session);
    std::fprintf(stderr, "%s", hearth_last_error());
    ::_exit(session == nullptr ? status : 99);
  };
  EXPECT_EXIT(open_with_little_memory(), ::testing::ExitedWithCode(HEARTH_RESOURCE_EXHAUSTED), "memory ran out");
}

}  // namespace
}  // namespace hearth
