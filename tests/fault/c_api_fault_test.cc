// Every wrong use of hearth/hearth_c.h is a status and a sentence.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/base/sanitizer.h"
#include "tests/testing/c_handles.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kDemo = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

// To 640 MiB more than the process has, threads' stacks included: less than the tests below ask for.
void LimitMemory() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + (640u << 20);
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
}

TEST(CApiFault, ABindingThatDescribesNothingIsRefused) {
  OwnedBinding binding;
  EXPECT_EQ(hearth_binding_create(-1, 1, 1, binding.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_binding_create(HEARTH_MEMORY_VULKAN_IMAGE + 1, 1, 1, binding.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_binding_create(HEARTH_MEMORY_HOST, 0, 1, binding.out()), HEARTH_INVALID_ARGUMENT);
  ASSERT_FINE(hearth_binding_create(HEARTH_MEMORY_GL_BUFFER, 1, 1, binding.out()));
  EXPECT_EQ(hearth_binding_set_format(binding, 3), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_binding_set_scale(binding, nullptr, nullptr), HEARTH_INVALID_ARGUMENT);
}

TEST(CApiFault, AnOptionThatThereIsNotOrDoesNotFitIsNamed) {
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

TEST(CApiFault, TheCacheFolderAndItsLimitHaveTheNamesOfTheOtherInterfacesToo) {
  OwnedOptions options;
  SetCpu(options);
  for (const char* name : {"cache_folder", "cache_dir"}) EXPECT_FINE(hearth_options_set(options, name, "/a"));
  for (const char* name : {"cache_max_bytes", "cache_max_size", "max_cache_size"})
    EXPECT_FINE(hearth_options_set(options, name, "512M"));
  EXPECT_EQ(hearth_options_set(options, "", "x"), HEARTH_INVALID_ARGUMENT);
}

TEST(CApiFault, WrongIndexesNamesAndSizesAreErrorsThatSayWhatIsThere) {
  OwnedSession session;
  OpenNegatedSum(session);
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

TEST(CApiFault, ARunOnMemoryThatDoesNotFitIsRefused) {
  OwnedModel model;
  MakeNegatedSum(model);
  OwnedOptions options;
  SetCpu(options);
  OwnedSession session;
  ASSERT_FINE(hearth_session_create(model, options, session.out()));
  const float x[] = {1, 2, 3, 4};
  float y[4];
  const void *inputs[] = {x, x}, *no_input[] = {nullptr};
  void *outputs[] = {y}, *no_output[] = {nullptr};
  const size_t sizes[] = {16, 16}, wrong[] = {15};
  const auto run = [&](const void* const* from, const size_t* from_bytes, size_t from_count, void* const* to,
                       const size_t* to_bytes, size_t to_count) {
    return hearth_session_run_on(session, from, from_bytes, from_count, to, to_bytes, to_count);
  };
  EXPECT_EQ(run(inputs, sizes, 2, outputs, sizes, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_STREQ(hearth_last_error(), "memory of 2 inputs was given, the model has 1");
  EXPECT_EQ(run(inputs, sizes, 1, outputs, sizes, 0), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(nullptr, sizes, 1, outputs, sizes, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(inputs, sizes, 1, outputs, nullptr, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(inputs, wrong, 1, outputs, sizes, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(inputs, sizes, 1, outputs, wrong, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(no_input, sizes, 1, outputs, sizes, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(run(inputs, sizes, 1, no_output, sizes, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_STREQ(hearth_last_error(), "the memory of output 'y' is a null pointer");
  ASSERT_FINE(run(inputs, sizes, 1, outputs, sizes, 1));
  EXPECT_EQ(y[3], -4);
  EXPECT_EQ(hearth_session_run(session), HEARTH_INVALID_ARGUMENT) << "that input was not set";
}

TEST(CApiFault, AFileThatIsNoModelIsRefused) {
  OwnedModel model;
  EXPECT_EQ(hearth_model_open("/nowhere/x.tflite", nullptr, model.out()), HEARTH_NOT_FOUND);
  EXPECT_EQ(hearth_model_from_memory("no model", 8, nullptr, model.out()), HEARTH_MALFORMED_INPUT);
  EXPECT_EQ(hearth_model_from_memory("", 0, nullptr, model.out()), HEARTH_MALFORMED_INPUT);
  EXPECT_EQ(static_cast<hearth_model*>(model), nullptr);
}

TEST(CApiFault, MistakesInAGraphAreReportedWhenItIsBuilt) {
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
      {[](hearth_graph* g) { hearth_graph_update(g, 0, 0); }, "not a state"},
      {[](hearth_graph* g) { hearth_graph_update(g, 0, 777); }, "tensor 777"},
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

TEST(CApiFault, ARankThatNoShapeHasIsRefusedBeforeTheDimensionsAreRead) {
  const int32_t one[] = {1};
  OwnedOptions options;
  ASSERT_FINE(hearth_options_create(options.out()));
  for (const size_t rank : {size_t{9}, size_t{1} << 28, SIZE_MAX}) {
    EXPECT_EQ(hearth_options_set_shape(options, "x", one, rank), HEARTH_INVALID_ARGUMENT);
    EXPECT_THAT(hearth_last_error(), HasSubstr("at most 8 dimensions"));
    OwnedGraph graph;
    ASSERT_FINE(hearth_graph_create("g", graph.out()));
    EXPECT_EQ(hearth_graph_input(graph, "x", one, rank), -1);
    EXPECT_EQ(hearth_graph_state(graph, "s", one, rank), -1);
    EXPECT_EQ(hearth_graph_constant(graph, "c", one, rank, nullptr, 0), -1);
    OwnedModel model;
    EXPECT_EQ(hearth_graph_build(graph, model.out()), HEARTH_INVALID_ARGUMENT);
    EXPECT_THAT(hearth_last_error(), HasSubstr("at most 8 dimensions"));
  }
}

TEST(CApiFault, ANullArgumentIsAnErrorEverywhere) {
  size_t size_bytes = 0;
  uint64_t number = 0;
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
      hearth_options_set_constant(nullptr, "x", "int32", nullptr, 0, &number, 4),
      hearth_options_set_constant(options, nullptr, "int32", nullptr, 0, &number, 4),
      hearth_options_set_constant(options, "x", nullptr, nullptr, 0, &number, 4),
      hearth_options_set_constant(options, "x", "int32", nullptr, 2, &number, 4),
      hearth_options_set_constant(options, "x", "int32", nullptr, 0, nullptr, 4),
      hearth_options_add_op(nullptr, nullptr),
      hearth_options_add_op(options, nullptr),
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
      hearth_session_run_on(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
      hearth_session_submit(nullptr, nullptr, &number, nullptr),
      hearth_session_wait(nullptr, 0),
      hearth_session_bind_input(nullptr, 0, nullptr),
      hearth_session_bind_output(nullptr, 0, nullptr),
      hearth_sync_create(nullptr),
      hearth_sync_wait_for(nullptr, 1, 0),
      hearth_sync_signal(nullptr, 1, 0),
      hearth_binding_create(HEARTH_MEMORY_HOST, 1, 1, nullptr),
      hearth_binding_set_format(nullptr, 0),
      hearth_binding_set_layout(nullptr, 0, 0, 0),
      hearth_binding_set_image_layout(nullptr, 1),
      hearth_frame_create(HEARTH_PIXELS_RGBA8, 1, 1, nullptr),
      hearth_frame_set_memory(nullptr, HEARTH_MEMORY_HOST),
      hearth_frame_set_plane(nullptr, 0, 1, 4, 0, 0),
      hearth_frame_set_crop(nullptr, 0, 0, 1, 1),
      hearth_frame_set_orientation(nullptr, 0, 0, 0),
      hearth_frame_set_matrix(nullptr, HEARTH_MATRIX_BT601, 0),
      hearth_frame_set_scale(nullptr, nullptr, nullptr),
      hearth_frame_set_image_layout(nullptr, 1),
      hearth_frame_set_drm_modifier(nullptr, 0),
      hearth_frame_set_raw_bytes(nullptr, 1),
      hearth_session_bind_frame(nullptr, 0, nullptr),
      hearth_options_share_opencl(nullptr, &number, &number, nullptr),
      hearth_options_share_opencl(options, nullptr, &number, nullptr),
      hearth_options_share_vulkan(options, &number, &number, &number, nullptr, 0),
      hearth_options_share_gl(options, nullptr, &number),
      hearth_session_run_profiled(nullptr, profile.out()),
      hearth_session_wait_for_device(nullptr),
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
      hearth_cache_warm_from_cache(cache, nullptr, 1, text.out()),
      hearth_cache_warm_from_cache(nullptr, nullptr, 0, text.out()),
      hearth_cache_revoke(cache, nullptr, nullptr),
      hearth_cache_revoke(cache, "", nullptr),
      hearth_cache_revoke(cache, "key.pub", nullptr),
      hearth_cache_lift_quarantine(nullptr, nullptr),
      hearth_cache_export_with(cache, nullptr, nullptr, nullptr, 0, text.out()),
      hearth_cache_export_with(cache, "x.tar", null_text, null_text, 1, text.out()),
      hearth_bundle_inspect(nullptr, nullptr, text.out()),
      hearth_bundle_inspect("x.tar", nullptr, nullptr),
      hearth_make_signing_key(nullptr, nullptr),
  };
  for (size_t k = 0; k < std::size(answers); ++k) EXPECT_EQ(answers[k], HEARTH_INVALID_ARGUMENT) << "call " << k;
}

TEST(CApiFault, QuestionsToNothingAreAnsweredWithNothing) {
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

TEST(CApiFault, MessagesBelongToTheThreadThatFailed) {
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

TEST(CApiFault, ASessionThatTheMemoryDoesNotHoldIsAStatus) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer ends the process where memory runs out";
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("huge", graph.out()));
  const int32_t shape[] = {1 << 14, 1 << 14};  // 1 GiB
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", hearth_graph_input(graph, "x", shape, 2)), "y");
  OwnedModel model;
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
  OwnedOptions options;
  SetCpu(options);
  const auto open_with_little_memory = [&] {
    LimitMemory();
    hearth_session* session = nullptr;
    const hearth_status status = hearth_session_create(model, options, &session);
    std::fprintf(stderr, "%s", hearth_last_error());
    ::_exit(session == nullptr ? status : 99);
  };
  EXPECT_EXIT(open_with_little_memory(), ::testing::ExitedWithCode(HEARTH_RESOURCE_EXHAUSTED), "memory");
}

TEST(CApiFault, RunningOutOfMemoryInACopyIsAStatusThatTheGraphRemembers) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer ends the process where memory runs out";
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("huge", graph.out()));
  const auto copy_with_little_memory = [&] {
    LimitMemory();
    constexpr int32_t kCount = 100 << 20;  // of zeros that nobody has written: 400 MiB
    void* values = ::mmap(nullptr, kCount * sizeof(float), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int32_t made =
        values == MAP_FAILED ? 0 : hearth_graph_constant(graph, "c", &kCount, 1, static_cast<float*>(values), kCount);
    std::fprintf(stderr, "%s", hearth_last_error());
    if (made != -1) ::_exit(99);
    hearth_model* model = nullptr;
    ::_exit(hearth_graph_build(graph, &model));
  };
  EXPECT_EXIT(copy_with_little_memory(), ::testing::ExitedWithCode(HEARTH_RESOURCE_EXHAUSTED), "memory ran out");
}

}  // namespace
}  // namespace hearth
