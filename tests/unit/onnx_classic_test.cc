// Classifiers of ai.onnx.ml: their trees, vectors, and classes that are texts. What onnxruntime answers alike stands in
// tests/onnx/classic_cases.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/evaluate.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/reader.h"
#include "hearth/model.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;

constexpr int kTexts = 8, kWholes = 7;

std::span<const std::byte> OnnxFileBytes(const std::string& file) {
  return std::as_bytes(std::span(file));
}

std::vector<ReferenceTensor> Answers(const OnnxGraph& graph, const Shape& shape, const std::vector<double>& x) {
  const Result<Graph> read = ReadOnnxModel(OnnxFileBytes(OnnxFile(graph)));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  auto answers = EvaluateGraph(*read, {{{shape, x}}});
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? *std::move(answers) : std::vector<ReferenceTensor>();
}

std::string Refusal(const OnnxGraph& graph) {
  return ReadOnnxModel(OnnxFileBytes(OnnxFile(graph))).status().message();
}

// One tree over a single feature: node 0 leads to `yes` up to 0, and to `no` above; 1 and 2 are leaves.
struct Stump {
  int64_t yes = 1, no = 2, feature = 0;
  std::vector<std::string> classes;  // 10 and 20 where there are none
  std::vector<int64_t> ids = {0, 1, 0, 1};
  std::string transform = "NONE";

  OnnxGraph Written() const {
    const auto list = [](const char* name, const std::vector<int64_t>& numbers) {
      return OnnxGraph::Integers(name, numbers);
    };
    OnnxGraph graph;
    graph.Input("x", {"2", "1"}).Output("label", classes.empty() ? kWholes : kTexts).Output("scores");
    graph.Node(
        "TreeEnsembleClassifier", {"x"}, {"label", "scores"},
        {list("nodes_treeids", {0, 0, 0}), list("nodes_nodeids", {0, 1, 2}), list("nodes_featureids", {feature, 0, 0}),
         OnnxGraph::Reals("nodes_values", {0, 0, 0}), OnnxGraph::Words("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF"}),
         list("nodes_truenodeids", {yes, 0, 0}), list("nodes_falsenodeids", {no, 0, 0}),
         list("class_treeids", {0, 0, 0, 0}), list("class_nodeids", {1, 1, 2, 2}), list("class_ids", ids),
         OnnxGraph::Word("post_transform", transform), OnnxGraph::Reals("class_weights", {0.9f, 0.1f, 0.2f, 0.8f}),
         classes.empty() ? list("classlabels_int64s", {10, 20}) : OnnxGraph::Words("classlabels_strings", classes)},
        "ai.onnx.ml");
    return graph;
  }
};

TEST(OnnxClassic, OfTwoClassesTheLargerScoreDecidesWhereLeavesHaveBoth) {
  const auto answers = Answers(Stump().Written(), {2, 1}, {-1, 1});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0].values, ElementsAre(10, 20));
}

TEST(OnnxClassic, ATextIsItsPlaceAmongThoseOfTheFile) {
  const auto answers = Answers(Stump{.classes = {"cat", "dog"}}.Written(), {2, 1}, {-1, 1});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0].values, ElementsAre(0, 1));
}

TEST(OnnxClassic, MetadataSaysWhichClassANumberIs) {
  const auto metadata = ReadOnnxMetadata(OnnxFileBytes(OnnxFile(Stump{.classes = {"cat", "dog"}}.Written())));
  ASSERT_TRUE(metadata.ok());
  ASSERT_EQ(metadata->outputs.size(), 2u);
  EXPECT_THAT(metadata->outputs[0].value_labels, ElementsAre("cat", "dog"));
  EXPECT_THAT(metadata->outputs[1].axis_labels, ElementsAre("cat", "dog"));
}

TEST(OnnxClassic, AModelWithoutTextsHasNoLabels) {
  const auto metadata = ReadOnnxMetadata(OnnxFileBytes(OnnxFile(Stump().Written())));
  ASSERT_TRUE(metadata.ok());
  EXPECT_THAT(metadata->outputs, IsEmpty());
}

ModelMetadata MetadataOfEntries(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string file = OnnxFile(Stump().Written());
  for (const auto& [key, value] : entries) {
    std::string pair;
    protozero::pbf_writer writer(pair);
    writer.add_string(1, key);
    writer.add_string(2, value);
    protozero::pbf_writer(file).add_message(14, pair);
  }
  const auto metadata = ReadOnnxMetadata(OnnxFileBytes(file));
  EXPECT_TRUE(metadata.ok());
  return metadata.ok() ? *metadata : ModelMetadata();
}

std::vector<std::string> LabelsByNames(std::string_view names) {
  const ModelMetadata metadata = MetadataOfEntries({{"names", std::string(names)}});
  return metadata.outputs.empty() ? std::vector<std::string>() : metadata.outputs[0].axis_labels;
}

TEST(OnnxClassic, ClassesHaveTheNamesOfAYoloExportsMetadata) {
  EXPECT_THAT(LabelsByNames("{0: 'cat', 1: \"dog's\", 2: 'it\\'s'}"), ElementsAre("cat", "dog's", "it's"));
  EXPECT_THAT(LabelsByNames("{0: 'cat'}"), ElementsAre("cat"));
  EXPECT_THAT(LabelsByNames("{0: 'a\\xa0b', 1: 'c\\td', 2: '\\u732b', 3: '\\U0001f408', 4: '\\x'}"),
              ElementsAre("a\u00a0b", "c d", "\u732b", "\U0001f408", "x"));
}

TEST(OnnxClassic, AYoloExportSaysWhatItIsFor) {
  const ModelMetadata pose = MetadataOfEntries({{"task", "pose"}, {"kpt_shape", "[17, 3]"}});
  EXPECT_EQ(pose.task, "pose");
  EXPECT_EQ(pose.pose_points, 17);
  EXPECT_EQ(pose.pose_numbers, 3);
  EXPECT_EQ(MetadataOfEntries({{"task", "translate"}}).task, "");
  for (const char* wrong : {"", "[]", "[17]", "[17, 4]", "[0, 3]", "[17, 3", "[17,3]", "[x, 3]", "[99999999999, 3]"})
    EXPECT_EQ(MetadataOfEntries({{"task", "pose"}, {"kpt_shape", wrong}}).pose_points, 0) << wrong;
}

TEST(OnnxClassic, NamesOfAnotherFormAreNone) {
  for (const char* names : {"", "{", "{}", "{0", "{0: ", "{0: '", "{0: 'cat'", "{0: 'cat\\", "{0: cat}", "{1: 'cat'}",
                            "['cat', 'dog']", "{0: 'cat', 2: 'dog'}", "{0: 'cat'} "})
    EXPECT_THAT(LabelsByNames(names), IsEmpty()) << names;
}

TEST(OnnxClassic, ATreeThatLeadsBackIsRefused) {
  EXPECT_THAT(Refusal(Stump{.yes = 0}.Written()), HasSubstr("lead back"));
  OnnxGraph ring;  // node 0 is a root, 1 and 2 lead to each other
  const std::vector<int64_t> zeros = {0, 0, 0};
  ring.Input("x", {"1", "1"}).Output("y");
  ring.Node("TreeEnsembleRegressor", {"x"}, {"y"},
            {OnnxGraph::Integers("nodes_treeids", zeros), OnnxGraph::Integers("nodes_nodeids", {0, 1, 2}),
             OnnxGraph::Integers("nodes_featureids", zeros), OnnxGraph::Reals("nodes_values", {0, 0, 0}),
             OnnxGraph::Words("nodes_modes", {"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ"}),
             OnnxGraph::Integers("nodes_truenodeids", {1, 2, 1}), OnnxGraph::Integers("nodes_falsenodeids", {2, 2, 1})},
            "ai.onnx.ml");
  EXPECT_THAT(Refusal(ring), HasSubstr("lead back"));
}

TEST(OnnxClassic, ATreeThatLeadsNowhereIsRefused) {
  EXPECT_THAT(Refusal(Stump{.no = 7}.Written()), HasSubstr("node 7 of tree 0 is missing"));
}

TEST(OnnxClassic, ATreeThatAsksForAFeatureBehindTheLastIsRefused) {
  EXPECT_THAT(Refusal(Stump{.feature = 1}.Written()), HasSubstr("feature 1 of 1"));
}

// An attribute that is a list of one number.
std::string TensorAttribute(std::string_view name, int type, std::string_view raw) {
  std::string tensor, attribute;
  const std::vector<int64_t> dims = {1};
  protozero::pbf_writer of_tensor(tensor), writer(attribute);
  of_tensor.add_packed_int64(1, dims.begin(), dims.end());
  of_tensor.add_int32(2, type);
  of_tensor.add_bytes(9, raw.data(), raw.size());
  writer.add_string(1, name.data(), name.size());
  writer.add_message(5, tensor);
  return attribute;
}

TEST(OnnxClassic, ANodeOfANegativeModeIsRefused) {
  const float number = 1;
  const std::string_view real(reinterpret_cast<const char*>(&number), sizeof(number));
  OnnxGraph graph;
  graph.Input("x", {"1", "1"}).Output("y");
  std::vector<std::string> attributes = {TensorAttribute("nodes_modes", 3, "\xfe"),
                                         TensorAttribute("nodes_splits", 1, real),
                                         TensorAttribute("leaf_weights", 1, real)};
  for (const char* name :
       {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "leaf_targetids", "tree_roots"})
    attributes.push_back(OnnxGraph::Integers(name, {0}));
  for (const char* name : {"nodes_trueleafs", "nodes_falseleafs"}) attributes.push_back(OnnxGraph::Integers(name, {1}));
  graph.Node("TreeEnsemble", {"x"}, {"y"}, attributes, "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("a node of mode -2"));
}

TEST(OnnxClassic, ConstantTextsAreTakenAsTheirNumbers) {
  OnnxGraph graph;
  graph.Input("at", {"3"}, kWholes).Output("y", kTexts).Texts("names", {"b", "a", "b", "c"});
  graph.Node("ArrayFeatureExtractor", {"names", "at"}, {"taken"}, {}, "ai.onnx.ml");
  graph.Node("Cast", {"taken"}, {"y"}, {OnnxGraph::Integer("to", kTexts)});
  const auto answers = Answers(graph, {3}, {3, 2, 1});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(answers[0].values, ElementsAre(2, 0, 1));
}

TEST(OnnxClassic, NumbersOfTextsAreRefused) {
  OnnxGraph graph;
  graph.Input("at", {"3"}, kWholes).Output("y").Texts("names", {"1", "2"});
  graph.Node("Gather", {"names", "at"}, {"taken"});
  graph.Node("Cast", {"taken"}, {"y"}, {OnnxGraph::Integer("to", 1)});
  EXPECT_THAT(Refusal(graph), HasSubstr("numbers of texts"));
}

TEST(OnnxClassic, TextsOfNumbersAreRefused) {
  OnnxGraph graph;
  graph.Input("x", {"3"}).Output("y", kTexts).Node("Cast", {"x"}, {"y"}, {OnnxGraph::Integer("to", kTexts)});
  EXPECT_THAT(Refusal(graph), HasSubstr("elements of string"));
}

// The function's node has its keys and its default from there.
TEST(OnnxClassic, TextsThatTheCallerOfAFunctionGivesAreRefused) {
  std::string referred, function;
  protozero::pbf_writer attribute(referred);
  attribute.add_string(1, "values_strings");
  attribute.add_enum(20, 8);
  attribute.add_string(21, "names");
  protozero::pbf_writer writer(function);
  writer.add_string(1, "Named");
  writer.add_string(4, "a");
  writer.add_string(5, "b");
  writer.add_string(6, "names");
  writer.add_message(7, OnnxGraph::NodeBytes("LabelEncoder", {"a"}, {"b"},
                                             {OnnxGraph::Integers("keys_int64s", {1, 2}), referred}, "ai.onnx.ml"));
  writer.add_string(10, "own");
  OnnxGraph graph;
  graph.Input("x", {"2"}, kWholes).Output("y", kTexts);
  graph.Node("Named", {"x"}, {"y"}, {OnnxGraph::Words("names", {"a", "b"})}, "own");
  const std::string file = OnnxFile(graph, 17, {function});
  EXPECT_THAT(ReadOnnxModel(OnnxFileBytes(file)).status().message(), HasSubstr("the caller of a function gives"));
}

TEST(OnnxClassic, AMachineOfMoreClassesThanItsFileHoldsIsRefused) {
  constexpr int kClasses = 700;
  OnnxGraph graph;
  graph.Input("x", {"1", "1"}).Output("label", kWholes).Output("scores");
  graph.Node(
      "SVMClassifier", {"x"}, {"label", "scores"},
      {OnnxGraph::Word("kernel_type", "LINEAR"), OnnxGraph::Reals("support_vectors", std::vector<float>(kClasses)),
       OnnxGraph::Reals("coefficients", std::vector<float>(size_t{kClasses} * (kClasses - 1))),
       OnnxGraph::Reals("rho", std::vector<float>(size_t{kClasses} * (kClasses - 1) / 2)),
       OnnxGraph::Integers("vectors_per_class", std::vector<int64_t>(kClasses, 1)),
       OnnxGraph::Integers("classlabels_ints", std::vector<int64_t>(kClasses, 1))},
      "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("its vectors would take the constants"));
}

TEST(OnnxClassic, OfTextsThatAreNamedTwiceTheFirstPlaceCounts) {
  OnnxGraph graph;
  graph.Input("x", {"3"}, kWholes).Output("y", kTexts);
  graph.Node("LabelEncoder", {"x"}, {"y"},
             {OnnxGraph::Integers("keys_int64s", {5, 6, 7}), OnnxGraph::Words("values_strings", {"z", "y", "z"}),
              OnnxGraph::Word("default_string", "other")},
             "ai.onnx.ml");
  const auto answers = Answers(graph, {3}, {7, 6, 1});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(answers[0].values, ElementsAre(0, 1, 2));
}

TEST(OnnxClassic, NothingIsCalculatedOfTexts) {
  OnnxGraph graph;
  graph.Input("at", {"3"}, kWholes).Output("y").Texts("names", {"1", "2"});
  graph.Node("Gather", {"names", "at"}, {"taken"}).Node("Scaler", {"taken"}, {"y"}, {}, "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("an operand that holds texts"));
}

TEST(OnnxClassic, AListOfTheWrongTypeIsRefused) {
  OnnxGraph graph;
  std::string whole = OnnxGraph::Integers("offset", {1});
  protozero::pbf_writer(whole).add_enum(20, 7);
  graph.Input("x", {"1", "1"}).Output("y").Node("Scaler", {"x"}, {"y"}, {whole}, "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("attribute 'offset' has type 7, not 6"));
}

TEST(OnnxClassic, ColumnsThatWouldBeCutOffAreRefused) {
  OnnxGraph graph;
  graph.Input("x", {"1", "3"}).Output("y");
  graph.Node("FeatureVectorizer", {"x"}, {"y"}, {OnnxGraph::Integers("inputdimensions", {2})}, "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("cut or pad 3 columns"));
}

// XGBoost's form of two classes: leaves speak for the second class, LOGISTIC makes probabilities of it.
TEST(OnnxClassic, OfPositiveLeavesTheShownProbabilityDecides) {
  Stump stump{.ids = {0, 0, 0, 0}, .transform = "LOGISTIC"};
  const auto answers = Answers(stump.Written(), {2, 1}, {-1, 1});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0].values, ElementsAre(20, 20));
  const double share = 1 / (1 + std::exp(-1.0));  // of 0.9 + 0.1, and of 0.2 + 0.8
  EXPECT_THAT(answers[1].values, Pointwise(FloatNear(1e-6f), std::vector<double>{1 - share, share, 1 - share, share}));
}

TEST(OnnxClassic, AZipMapOfOtherClassesIsRefused) {
  OnnxGraph graph;
  graph.Input("x", {"1", "3"}).Output("y");
  graph.Node("ZipMap", {"x"}, {"y"}, {OnnxGraph::Integers("classlabels_int64s", {1, 2})}, "ai.onnx.ml");
  EXPECT_THAT(Refusal(graph), HasSubstr("2 classes for scores of shape 1x3"));
}

TEST(OnnxClassic, AZipMapKeepsTheScores) {
  OnnxGraph graph;
  graph.Input("x", {"1", "3"}).Output("y");
  graph.Node("ZipMap", {"x"}, {"y"}, {OnnxGraph::Words("classlabels_strings", {"a", "b", "c"})}, "ai.onnx.ml");
  const auto answers = Answers(graph, {1, 3}, {0.5, 0.25, 0.75});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(answers[0].values, ElementsAre(0.5, 0.25, 0.75));
}

// Two vectors of one feature, one for each class.
OnnxGraph Machine(const std::vector<float>& slopes, const std::vector<float>& offsets) {
  OnnxGraph graph;
  graph.Input("x", {"3", "1"}).Output("label", kWholes).Output("scores");
  graph.Node("SVMClassifier", {"x"}, {"label", "scores"},
             {OnnxGraph::Word("kernel_type", "RBF"), OnnxGraph::Reals("kernel_params", {0.5f, 0, 0}),
              OnnxGraph::Reals("support_vectors", {-1, 2}), OnnxGraph::Reals("coefficients", {1.5f, -1}),
              OnnxGraph::Reals("rho", {0.25f}), OnnxGraph::Integers("vectors_per_class", {1, 1}),
              OnnxGraph::Integers("classlabels_ints", {3, 9}), OnnxGraph::Reals("prob_a", slopes),
              OnnxGraph::Reals("prob_b", offsets)},
             "ai.onnx.ml");
  return graph;
}

TEST(OnnxClassic, ProbabilitiesOfTwoClassesFollowTheScore) {
  const std::vector<double> x = {-1, 0.5, 3};
  std::vector<double> expected;
  for (const double number : x) {
    const double score =
        1.5 * std::exp(-0.5 * (number + 1) * (number + 1)) - std::exp(-0.5 * (number - 2) * (number - 2)) + 0.25;
    const double first = 1 / (1 + std::exp(-2 * score + 0.5));
    expected.insert(expected.end(), {first, 1 - first});
  }
  const auto answers = Answers(Machine({-2}, {0.5f}), {3, 1}, x);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0].values, ElementsAre(3, 3, 9));
  EXPECT_THAT(answers[1].values, Pointwise(FloatNear(1e-6f), expected));
}

// Minimizes the sum of (r_ji p_i - r_ij p_j)^2 one class after the other.
std::vector<double> CoupledInTurn(const std::vector<std::vector<double>>& r) {
  const size_t classes = r.size();
  std::vector<double> p(classes, 1.0 / static_cast<double>(classes));
  for (int turn = 0; turn < 2000; ++turn) {
    for (size_t t = 0; t < classes; ++t) {
      double own = 0, others = 0, sum = 0;
      for (size_t j = 0; j < classes; ++j) {
        if (j == t) continue;
        own += r[j][t] * r[j][t];
        others += r[j][t] * r[t][j] * p[j];
      }
      std::vector<double> q(classes);  // Q p
      for (size_t i = 0; i < classes; ++i) {
        for (size_t j = 0; j < classes; ++j) q[i] += j == i ? 0 : r[j][i] * r[j][i] * p[i] - r[j][i] * r[i][j] * p[j];
      }
      double product = 0;
      for (size_t i = 0; i < classes; ++i) product += p[i] * q[i];
      p[t] = (others + product) / own;
      for (const double share : p) sum += share;
      for (double& share : p) share /= sum;
    }
  }
  return p;
}

TEST(OnnxClassic, ProbabilitiesOfThreeClassesAreThoseOfTheirPairsCoupled) {
  const std::vector<float> vectors = {-1, 0.5f, 2}, rho = {0.25f, -0.5f, 0.75f}, slopes = {-2, -1.5f, -1},
                           offsets = {0.5f, 0, -0.25f}, factors = {1.5f, -1, 0.5f, -0.75f, 2, -1.25f};
  OnnxGraph graph;
  graph.Input("x", {"2", "1"}).Output("label", kWholes).Output("scores");
  graph.Node("SVMClassifier", {"x"}, {"label", "scores"},
             {OnnxGraph::Word("kernel_type", "LINEAR"), OnnxGraph::Reals("support_vectors", vectors),
              OnnxGraph::Reals("coefficients", factors), OnnxGraph::Reals("rho", rho),
              OnnxGraph::Integers("vectors_per_class", {1, 1, 1}), OnnxGraph::Integers("classlabels_ints", {3, 9, 4}),
              OnnxGraph::Reals("prob_a", slopes), OnnxGraph::Reals("prob_b", offsets)},
             "ai.onnx.ml");
  const std::vector<double> x = {-0.5, 1};
  std::vector<double> expected;
  for (const double number : x) {
    std::vector<std::vector<double>> r(3, std::vector<double>(3));
    size_t pair = 0;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = i + 1; j < 3; ++j, ++pair) {
        const double score = factors[(j - 1) * 3 + i] * number * vectors[i] + factors[i * 3 + j] * number * vectors[j];
        r[i][j] = 1 / (1 + std::exp((score + rho[pair]) * slopes[pair] + offsets[pair]));
        r[j][i] = 1 - r[i][j];
      }
    }
    const std::vector<double> p = CoupledInTurn(r);
    expected.insert(expected.end(), p.begin(), p.end());
  }
  const auto answers = Answers(graph, {2, 1}, x);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[1].values, Pointwise(FloatNear(5e-5f), expected));  // what Coupled adds to the diagonal
}

TEST(OnnxClassic, ProbabilitiesWithoutTheirOffsetsAreRefused) {
  EXPECT_THAT(Refusal(Machine({-2}, {})), HasSubstr("SVMClassifier"));
}

}  // namespace
}  // namespace hearth
