// hearth/hearth_c.h: shapes, clones and the models of a cache.
#include <gmock/gmock.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/builtin_codes.h"
#include "tests/testing/c_handles.h"
#include "tests/testing/oracle_models.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const std::string kShapesModel = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();

// y = -x, 1x4.
void MakeNegation(OwnedModel& model) {
  OwnedGraph graph;
  ASSERT_FINE(hearth_graph_create("negation", graph.out()));
  const int32_t shape[] = {1, 4};
  const int32_t x = hearth_graph_input(graph, "x", shape, 2);
  hearth_graph_output(graph, hearth_graph_unary(graph, "neg", x), "y");
  ASSERT_FINE(hearth_graph_build(graph, model.out()));
}

TEST(CApiConstants, FixInputsThatDecideShapes) {
  constexpr int32_t kTileCode = 69;
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {2}}), times = writer.AddTensor({"times", {1}, kInt});
  const int32_t y = writer.AddTensor({"y", {}});
  writer.AddOperator(kTileCode, {x, times}, {y});
  const std::vector<std::byte> bytes = writer.Finish({x, times}, {y});
  OwnedModel open_model, model;
  ASSERT_FINE(hearth_model_from_memory(bytes.data(), bytes.size(), nullptr, open_model.out()));
  EXPECT_EQ(hearth_tensor_decides_shapes(hearth_model_input(open_model, 0)), 0);
  EXPECT_EQ(hearth_tensor_decides_shapes(hearth_model_input(open_model, 1)), 1);

  OwnedOptions options;
  ASSERT_FINE(hearth_options_create(options.out()));
  const int64_t three = 3;
  ASSERT_FINE(hearth_options_set_constant(options, "times", "int64", nullptr, 0, &three, sizeof three));
  ASSERT_FINE(hearth_model_from_memory(bytes.data(), bytes.size(), options, model.out()));
  EXPECT_EQ(hearth_model_input_count(model), 1u);
  EXPECT_EQ(hearth_tensor_shape(hearth_model_output(model, 0))[0], 6);
}

TEST(CApiTensors, SayTheirTypeRankAndSizeWhateverTheseAre) {
  const OracleArchive models;
  const auto open = [&](const std::string& file, OwnedModel& model) {
    const Result<std::span<const std::byte>> bytes = models.Find(file);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    ASSERT_FINE(hearth_model_from_memory(bytes->data(), bytes->size(), nullptr, model.out()));
  };
  OwnedModel model;
  for (const auto& [dtype, element_bytes] :
       {std::pair<std::string, size_t>{"float64", 8}, {"uint32", 4}, {"uint16", 2}}) {
    open("transpose_" + dtype + ".tflite", model);
    const hearth_tensor* x = hearth_model_input(model, 0);
    EXPECT_EQ(hearth_tensor_dtype(x), dtype);
    EXPECT_EQ(hearth_tensor_size_bytes(x), 15 * element_bytes);
    EXPECT_EQ(hearth_tensor_scale_count(x), 0u);
  }
  open("reshape_rank8_to_rank2.tflite", model);
  const hearth_tensor* x = hearth_model_input(model, 0);
  ASSERT_EQ(hearth_tensor_rank(x), 8u);
  EXPECT_THAT(std::span(hearth_tensor_shape(x), 8), ElementsAre(2, 3, 1, 2, 2, 1, 3, 2));
  EXPECT_EQ(hearth_tensor_size_bytes(x), 144 * sizeof(float));
}

TEST(CApiTensors, AModelGivesTheClassOfEachPixelIfItsOptionsAskForIt) {
  const OracleArchive models;
  const Result<std::span<const std::byte>> bytes = models.Find("log_softmax_rank4.tflite");  // 2x3x4 pixels, 8 scores
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  OwnedOptions maps, cpu;
  SetCpu(maps);
  SetCpu(cpu);
  EXPECT_EQ(hearth_options_set(maps, "class_maps", "8"), HEARTH_INVALID_ARGUMENT);
  ASSERT_FINE(hearth_options_set(maps, "class_maps", "1"));
  OwnedModel model;
  ASSERT_FINE(hearth_model_from_memory(bytes->data(), bytes->size(), maps, model.out()));
  OwnedSession session;
  EXPECT_EQ(hearth_session_create(model, maps, session.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), HasSubstr("class_maps are chosen when the model is read"));
  ASSERT_FINE(hearth_session_create(model, cpu, session.out()));
  const hearth_tensor* map = hearth_session_output(session, 0);
  EXPECT_STREQ(hearth_tensor_dtype(map), "int32");
  EXPECT_THAT(std::span(hearth_tensor_shape(map), hearth_tensor_rank(map)), ElementsAre(2, 3, 4));
  std::vector<float> scores(size_t{24} * 8, -1.0f);
  std::vector<int32_t> expected;
  for (size_t pixel = 0; pixel < 24; ++pixel) {
    expected.push_back(static_cast<int32_t>(pixel * 5 % 8));
    scores[pixel * 8 + pixel * 5 % 8] = 1.0f;
  }
  ASSERT_FINE(hearth_session_set_input(session, 0, scores.data(), scores.size() * sizeof(float)));
  ASSERT_FINE(hearth_session_run(session));
  size_t size_bytes = 0;
  const auto* classes = static_cast<const int32_t*>(hearth_session_output_data(session, 0, &size_bytes));
  ASSERT_EQ(size_bytes, expected.size() * sizeof(int32_t));
  EXPECT_THAT(std::span(classes, expected.size()), ElementsAreArray(expected));
}

class CApiShapes : public ::testing::Test {
 protected:
  void SetUp() override {
    MakeNegation(model_);
    SetCpu(options_);
    ASSERT_FINE(hearth_session_create(model_, options_, session_.out()));
  }

  // Runs on ones; the last output.
  static float Run(hearth_session* session) {
    const std::vector<float> ones(hearth_tensor_size_bytes(hearth_session_input(session, 0)) / sizeof(float), 1.0f);
    EXPECT_FINE(hearth_session_set_input(session, 0, ones.data(), ones.size() * sizeof(float)));
    EXPECT_FINE(hearth_session_run(session));
    size_t size_bytes = 0;
    const auto* y = static_cast<const float*>(hearth_session_output_data(session, 0, &size_bytes));
    EXPECT_EQ(size_bytes, ones.size() * sizeof(float));
    return y == nullptr ? 0 : y[ones.size() - 1];
  }

  OwnedModel model_;
  OwnedOptions options_;
  OwnedSession session_;
};

TEST_F(CApiShapes, ASessionTakesOtherShapesAndItsTensorsSaySo) {
  const hearth_tensor* x = hearth_session_input(session_, 0);
  ASSERT_FINE(hearth_session_resize_batch(session_, 3));
  EXPECT_EQ(hearth_session_input(session_, 0), x) << "pointers stay";
  EXPECT_EQ(hearth_tensor_shape(x)[0], 3);
  EXPECT_EQ(hearth_session_output_data(session_, 0, nullptr), nullptr) << "nothing has run with this shape";
  EXPECT_EQ(Run(session_), -1.0f);
  OwnedOptions shapes;
  ASSERT_FINE(hearth_options_create(shapes.out()));
  const int32_t wide[] = {2, 7};
  ASSERT_FINE(hearth_options_set_shape(shapes, "x", wide, 2));
  ASSERT_FINE(hearth_session_resize(session_, shapes));
  EXPECT_EQ(hearth_tensor_shape(x)[1], 7);
  EXPECT_EQ(Run(session_), -1.0f);
}

TEST_F(CApiShapes, WrongShapesAreErrorsThatLeaveTheSessionAsItIs) {
  EXPECT_EQ(hearth_session_resize(session_, nullptr), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_resize(nullptr, options_), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_resize_batch(nullptr, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_session_resize_batch(session_, -1), HEARTH_INVALID_ARGUMENT);
  EXPECT_THAT(hearth_last_error(), AllOf(HasSubstr("input 'x'"), HasSubstr("none negative")));
  EXPECT_EQ(Run(session_), -1.0f);
}

TEST_F(CApiShapes, ACloneOutlivesTheSessionAndTheModel) {
  OwnedSession clone;
  ASSERT_FINE(hearth_session_clone(session_, clone.out()));
  ASSERT_FINE(hearth_session_resize_batch(clone, 2));
  model_.out();
  session_.out();
  EXPECT_EQ(Run(clone), -1.0f);
  EXPECT_EQ(hearth_session_clone(nullptr, clone.out()), HEARTH_INVALID_ARGUMENT);
}

TEST(CApiCache, ModelsArePinnedAndRemovedAndTheCacheIsExamined) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open(folder.path().c_str(), cache.out()));
  OwnedText json;
  ASSERT_FINE(hearth_cache_examine(cache, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr("\"findings\""));
  EXPECT_EQ(hearth_cache_pin(cache, kShapesModel.c_str(), 1), HEARTH_NOT_FOUND) << "nothing has used the cache";
  const char* models[] = {kShapesModel.c_str()};
  const char* devices[] = {"all"};
  if (hearth_cache_warm(cache, models, 1, devices, 1, nullptr, json.out()) != HEARTH_OK)
    GTEST_SKIP() << hearth_last_error();
  ASSERT_FINE(hearth_cache_pin(cache, kShapesModel.c_str(), 1));
  ASSERT_FINE(hearth_cache_models(cache, json.out()));
  EXPECT_THAT(std::string(json), AllOf(HasSubstr("shapes_f32.tflite"), HasSubstr("\"pinned\": true")));
  ASSERT_FINE(hearth_cache_pin(cache, kShapesModel.c_str(), 0));
  ASSERT_FINE(hearth_cache_remove(cache, kShapesModel.c_str(), nullptr));
  EXPECT_EQ(hearth_cache_remove(cache, kShapesModel.c_str(), json.out()), HEARTH_NOT_FOUND);
}

TEST(CApiCache, ALiftedQuarantineIsCounted) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open(folder.path().c_str(), cache.out()));
  OwnedText json;
  ASSERT_FINE(hearth_cache_lift_quarantine(cache, json.out()));
  EXPECT_THAT(std::string(json), AllOf(HasSubstr("\"lifted\": 0"), HasSubstr("\"removed_entries\": 0")));
  ASSERT_FINE(hearth_cache_lift_quarantine(cache, nullptr));
}

TEST(CApiCache, BundlesAreSignedInspectedAndRevoked) {
  const TemporaryFolder folder;
  OwnedCache cache, other;
  ASSERT_FINE(hearth_cache_open((folder.path() / "cache").c_str(), cache.out()));
  ASSERT_FINE(hearth_cache_open((folder.path() / "other").c_str(), other.out()));
  OwnedText json, key;
  const std::string secret = folder.path() / "key", trusted = secret + ".pub", bundle = folder.path() / "b.tar";
  if (hearth_make_signing_key(secret.c_str(), key.out()) != HEARTH_OK) GTEST_SKIP() << hearth_last_error();
  const char* models[] = {kShapesModel.c_str()};
  const char* devices[] = {"all"};
  if (hearth_cache_warm(cache, models, 1, devices, 1, nullptr, json.out()) != HEARTH_OK)
    GTEST_SKIP() << hearth_last_error();
  const char* names[] = {"sign_with", "valid_for_ms", "kind"};
  const char* values[] = {secret.c_str(), "86400000", "plan"};
  ASSERT_FINE(hearth_cache_export_with(cache, bundle.c_str(), names, values, 3, json.out()));
  EXPECT_THAT(std::string(json), HasSubstr(std::string(key)));
  ASSERT_FINE(hearth_bundle_inspect(bundle.c_str(), nullptr, json.out()));
  EXPECT_THAT(std::string(json),
              AllOf(HasSubstr("\"signed_by\": \"\""), HasSubstr("\"key_id\": \"" + std::string(key))));
  ASSERT_FINE(hearth_bundle_inspect(bundle.c_str(), trusted.c_str(), json.out()));
  EXPECT_THAT(std::string(json), AllOf(HasSubstr("\"form\": \"file\""), HasSubstr(std::string(key))));
  ASSERT_FINE(hearth_cache_import(other, bundle.c_str(), trusted.c_str(), 0, json.out()));
  ASSERT_FINE(hearth_cache_revoke(other, key, json.out()));
  EXPECT_THAT(std::string(json), ::testing::Not(HasSubstr("\"removed_entries\": 0")));
}

TEST(CApiCache, AnExportWithAWrongChoiceIsAMistake) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open((folder.path() / "cache").c_str(), cache.out()));
  OwnedText json;
  const std::string bundle = folder.path() / "b.tar";
  for (const auto& [name, value] :
       {std::pair("colour", "red"), std::pair("valid_for_ms", "soon"), std::pair("valid_for_ms", "9223372036854775807"),
        std::pair("least_version", "new"), std::pair("kind", "colour")}) {
    EXPECT_EQ(hearth_cache_export_with(cache, bundle.c_str(), &name, &value, 1, json.out()), HEARTH_INVALID_ARGUMENT)
        << name;
  }
}

TEST(CApiCache, ProgramsAreMadeAnewFromTheCache) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open(folder.path().c_str(), cache.out()));
  OwnedText json;
  const char* devices[] = {"all"};
  if (hearth_cache_warm_from_cache(cache, devices, 1, json.out()) == HEARTH_UNAVAILABLE)
    GTEST_SKIP() << hearth_last_error();
  EXPECT_THAT(std::string(json), AllOf(HasSubstr("\"results\": []"), HasSubstr("\"needed\": []")));
}

TEST(CApiCache, ArgumentsThatAreNullAreErrors) {
  const TemporaryFolder folder;
  OwnedCache cache;
  ASSERT_FINE(hearth_cache_open(folder.path().c_str(), cache.out()));
  OwnedText json;
  EXPECT_EQ(hearth_cache_pin(cache, nullptr, 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_cache_pin(nullptr, "m", 1), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_cache_remove(cache, nullptr, json.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_cache_models(nullptr, json.out()), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_cache_models(cache, nullptr), HEARTH_INVALID_ARGUMENT);
  EXPECT_EQ(hearth_cache_examine(nullptr, json.out()), HEARTH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace hearth
