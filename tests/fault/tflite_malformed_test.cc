// Files that are not models, models that break the rules, and damaged copies of real ones: each is
// one clear error or a valid graph, never a crash. Meant to be run with the sanitizers too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "core/base/contains.h"
#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "frontends/tflite/reader.h"
#include "runtime/model/model_file.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/oracle_models.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/small_models.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes BytesOf(std::string_view text) {
  Bytes bytes(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.begin());
  return bytes;
}

void ExpectMalformed(std::span<const std::byte> bytes, const std::string& message_part) {
  const Status status = ReadTfliteModel(bytes).status();
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(message_part));
}

// Reads, and goes on as a session would: whatever survives is a valid graph.
void ExpectErrorOrValidGraph(std::span<const std::byte> bytes) {
  Result<Graph> graph = ReadTfliteModel(bytes);
  if (!graph.ok()) {
    EXPECT_FALSE(graph.status().message().empty());
    return;
  }
  const Status valid = graph->Validate();
  EXPECT_TRUE(valid.ok()) << valid.message();
  const Status inferred = InferShapes(*graph);  // may fail, must not crash
  EXPECT_TRUE(!inferred.ok() || graph->Validate().ok());
}

TEST(TfliteMalformed, TextEmptyAndTinyFilesAreNotModels) {
  ExpectMalformed(BytesOf("# Models\n\nThis is a text file and not a model at all.\n"), "not a TFLite model");
  ExpectMalformed(BytesOf(""), "not a TFLite model");
  ExpectMalformed(BytesOf("TFL3"), "not a TFLite model");
  ExpectMalformed(BytesOf("\x10\0\0\0ONNX and more bytes"), "not a TFLite model");
}

TEST(TfliteMalformed, AnOnnxFileIsNamedWhereNoReaderTakesIt) {
  const Status status = ReadTfliteModel(BytesOf("\x08\x07\x12\x07pytorch")).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("an ONNX model, whose reader this build of Hearth lacks"));
}

TEST(TfliteMalformed, ALoneIdentifierIsADamagedModel) {
  ExpectMalformed(BytesOf(std::string_view("\x10\0\0\0TFL3............", 20)), "damaged");
}

// x -> RELU -> y, with room for what a test breaks.
struct ReluModel {
  TfliteWriter writer;
  int32_t x = writer.AddTensor({"x", {1, 2}});
  int32_t y = writer.AddTensor({"y", {1, 2}});
};

TEST(TfliteMalformed, ACycleIsRefused) {
  ReluModel model;
  const int32_t z = model.writer.AddTensor({"z", {1, 2}});
  model.writer.AddOperator(kAdd, {model.x, z}, {model.y});
  model.writer.AddOperator(kRelu, {model.y}, {z});
  ExpectMalformed(
      model.writer.Finish({model.x}, {z}),
      "operator 0 (ADD) reads tensor 2 'z' before it is made: the operators are out of order or form a cycle");
}

TEST(TfliteMalformed, AnOperatorThatReadsItsOwnOutputIsRefused) {
  ReluModel model;
  model.writer.AddOperator(kRelu, {model.y}, {model.y});
  ExpectMalformed(model.writer.Finish({model.x}, {model.y}), "out of order or form a cycle");
}

TEST(TfliteMalformed, IndicesOutOfRangeAreRefused) {
  for (const int32_t bad : {2, 1000, -2, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    ReluModel reads;
    reads.writer.AddOperator(kRelu, {bad}, {reads.y});
    ExpectMalformed(reads.writer.Finish({reads.x}, {reads.y}),
                    "operator 0 (RELU) refers to tensor " + std::to_string(bad) + "; the subgraph has 2 tensors");
    ReluModel writes;
    writes.writer.AddOperator(kRelu, {writes.x}, {bad});
    ExpectMalformed(writes.writer.Finish({writes.x}, {writes.y}), "refers to tensor " + std::to_string(bad));
    ReluModel inputs;
    inputs.writer.AddOperator(kRelu, {inputs.x}, {inputs.y});
    ExpectMalformed(inputs.writer.Finish({bad}, {inputs.y}), "list of model inputs refers to tensor");
    ReluModel outputs;
    outputs.writer.AddOperator(kRelu, {outputs.x}, {outputs.y});
    ExpectMalformed(outputs.writer.Finish({outputs.x}, {bad}), "list of model outputs refers to tensor");
  }
}

TEST(TfliteMalformed, AnOutputThatIsAbsentIsRefused) {
  ReluModel model;
  model.writer.AddOperator(kRelu, {model.x}, {-1});
  ExpectMalformed(model.writer.Finish({model.x}, {model.y}), "refers to tensor -1");
}

TEST(TfliteMalformed, OperatorCodesAndBuffersOutOfRangeAreRefused) {
  ReluModel code;
  code.writer.AddOperatorWithOptions(7, {code.x}, {code.y}, 0, 0);
  ExpectMalformed(code.writer.Finish({code.x}, {code.y}), "operator 0 has operator code 7; the model has 0");
  ReluModel buffer;
  const int32_t w = buffer.writer.AddTensorOfBuffer({"w", {1, 2}}, 9);
  buffer.writer.AddOperator(kAdd, {buffer.x, w}, {buffer.y});
  ExpectMalformed(buffer.writer.Finish({buffer.x}, {buffer.y}), "tensor 2 'w' refers to buffer 9; the model has 1");
}

TEST(TfliteMalformed, DuplicatesAreRefused) {
  ReluModel twice;
  twice.writer.AddOperator(kRelu, {twice.x}, {twice.y});
  twice.writer.AddOperator(kRelu, {twice.x}, {twice.y});
  ExpectMalformed(twice.writer.Finish({twice.x}, {twice.y}),
                  "operator 1 (RELU) writes tensor 1 'y', which another operator writes already");
  ReluModel input;
  input.writer.AddOperator(kRelu, {input.x}, {input.x});
  ExpectMalformed(input.writer.Finish({input.x}, {input.x}), "which is a model input already");
  ReluModel inputs;
  inputs.writer.AddOperator(kRelu, {inputs.x}, {inputs.y});
  ExpectMalformed(inputs.writer.Finish({inputs.x, inputs.x}, {inputs.y}), "listed twice");
}

TEST(TfliteMalformed, MissingInputsAndOutputsAreRefused) {
  ReluModel none;
  none.writer.AddOperator(kRelu, {}, {none.y});
  ExpectMalformed(none.writer.Finish({none.x}, {none.y}), "operator 0 (RELU) has 0 inputs, but needs 1 to 1");
  ReluModel absent;
  absent.writer.AddOperator(kAdd, {absent.x, -1}, {absent.y});
  ExpectMalformed(absent.writer.Finish({absent.x}, {absent.y}), "input 1 of operator 0 (ADD) is absent");
  ReluModel unmade;
  const int32_t z = unmade.writer.AddTensor({"z", {1, 2}});
  unmade.writer.AddOperator(kAdd, {unmade.x, z}, {unmade.y});
  ExpectMalformed(unmade.writer.Finish({unmade.x}, {unmade.y}), "which nothing makes");
  ReluModel no_output;
  no_output.writer.AddOperator(kRelu, {no_output.x}, {});
  ExpectMalformed(no_output.writer.Finish({no_output.x}, {no_output.x}), "has no output");
  ReluModel no_outputs;
  ExpectMalformed(no_outputs.writer.Finish({no_outputs.x}, {}), "the model has no outputs");
}

TEST(TfliteMalformed, ImpossibleShapesAreRefused) {
  const auto expect = [](std::vector<int32_t> shape, const std::string& message) {
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", std::move(shape)});
    ExpectMalformed(writer.Finish({x}, {x}), message);
  };
  expect({1, 2, 3, 4, 5, 6, 7, 8, 9}, "tensor 0 'x' has rank 9; at most 8 is possible");
  expect({1, -1}, "has a dimension of -1 in its shape 1x-1");
  expect({1 << 30, 1 << 30, 1 << 30, 1 << 30}, "more than 2^40 elements");
}

TEST(TfliteMalformed, AConstantOfTheWrongSizeIsRefused) {
  ReluModel model;
  const int32_t w = model.writer.AddConstant<float>({"w", {3}}, {1.0f, 2.0f});
  model.writer.AddOperator(kAdd, {model.x, w}, {model.y});
  ExpectMalformed(model.writer.Finish({model.x}, {model.y}),
                  "tensor 2 'w' holds 8 bytes of data, but 3 elements of float32 in shape 3 need 12");
}

TEST(TfliteMalformed, AnOperatorThatWritesAConstantIsRefused) {
  ReluModel model;
  const int32_t w = model.writer.AddConstant<float>({"w", {1}}, {1.0f});
  model.writer.AddOperator(kRelu, {model.x}, {w});
  ExpectMalformed(model.writer.Finish({model.x}, {w}), "writes tensor 2 'w', which holds constant data");
}

// The same table again and again: 400 KB that would fill gigabytes.
TEST(TfliteMalformed, ASmallFileCannotAskForMuchMemory) {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1}});
  const int32_t y = writer.AddTensor({"y", {1}});
  flatbuffers::FlatBufferBuilder& builder = writer.builder();
  const auto inputs = builder.CreateVector(std::vector<int32_t>(50'000, x));
  const auto no_outputs = builder.CreateVector(std::vector<int32_t>());
  const uint32_t code = writer.AddOperatorCode(32, "any");
  writer.AddOperatorWithOptions(code, {x}, {y}, 0, 0);
  const auto op = wire::CreateOperator(builder, code, inputs, no_outputs);
  writer.RepeatOperator(op, 50'000);
  ExpectMalformed(writer.Finish({x}, {y}), "the same data is listed again and again");
}

// A small model with a convolution, an operand list, a name and a second operator.
Bytes SmallModel() {
  TfliteWriter writer;
  const int32_t x = writer.AddTensor({"x", {1, 4, 4, 2}});
  const int32_t filter = writer.AddConstant<float>({"filter", {3, 1, 1, 2}}, {1, 2, 3, 4, 5, 6});
  const int32_t bias = writer.AddConstant<float>({"bias", {3}}, {7, 8, 9});
  const int32_t features = writer.AddTensor({"features", {1, 4, 4, 3}});
  const int32_t y = writer.AddTensor({"y", {16, 3}});
  writer.AddOperator(3, {x, filter, bias}, {features},
                     wire::CreateConv2DOptions(writer.builder(), wire::Padding_SAME, 1, 1));
  writer.AddOperator(22, {features, writer.AddIntegers({-1, 3})}, {y});
  return writer.Finish({x}, {y});
}

TEST(TfliteDamaged, ASmallModelIsReadWhole) {
  const Bytes model = SmallModel();
  Result<Graph> graph = ReadTfliteModel(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Status inferred = InferShapes(*graph);
  EXPECT_TRUE(inferred.ok()) << inferred.message();
}

TEST(TfliteDamaged, EveryTruncationIsAnErrorOrAValidGraph) {
  const Bytes model = SmallModel();
  for (size_t length = 0; length < model.size(); ++length) {
    SCOPED_TRACE(length);
    const Bytes copy(model.begin(), model.begin() + length);  // its own allocation: a sanitizer sees every overrun
    ExpectErrorOrValidGraph(copy);
  }
}

TEST(TfliteDamaged, EverySingleBitFlipOfASmallModelIsAnErrorOrAValidGraph) {
  Bytes model = SmallModel();
  for (size_t i = 0; i < model.size() * 8; ++i) {
    SCOPED_TRACE(i);
    model[i / 8] ^= std::byte{1} << (i % 8);
    ExpectErrorOrValidGraph(model);
    model[i / 8] ^= std::byte{1} << (i % 8);
  }
}

// The places that are not contents of constants: all that a reader looks at.
std::vector<uint32_t> StructurePlaces(std::span<const std::byte> bytes) {
  std::vector<bool> is_data(bytes.size(), false);
  const wire::Model* model = wire::GetModel(bytes.data());
  for (const wire::Buffer* buffer : *model->buffers()) {
    if (buffer->data() == nullptr || buffer->data()->size() < 64) continue;  // short ones are operand lists
    const size_t begin = reinterpret_cast<const std::byte*>(buffer->data()->Data()) - bytes.data();
    std::fill_n(is_data.begin() + begin, buffer->data()->size(), true);
  }
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    if (!is_data[i]) places.push_back(i);
  }
  return places;
}

TEST(TfliteDamaged, EverySingleBitFlipOfAModelOfAllKindsIsAnErrorOrAValidGraph) {
  Bytes model = ModelOfAllKinds();
  const ReadOptions options{.input_shapes = {{"in", {3, 4}}}};
  const Result<Graph> whole = ReadTfliteModel(model, options);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_EQ(whole->value(whole->outputs[0]).desc.shape, (Shape{3, 4}));
  for (size_t at = 0; at < model.size(); ++at) {
    if (!hearth::testing::IsInSanitizersSample(at, 5)) continue;
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE(::testing::Message() << "byte " << at << ", bit " << bit);
      model[at] ^= std::byte{1} << bit;
      ExpectErrorOrValidGraph(model);
      const Result<Graph> shaped = ReadTfliteModel(model, options);
      EXPECT_TRUE(!shaped.ok() || shaped->Validate().ok());
      const Result<ModelInterface> interface = ReadTfliteInterface(model);
      EXPECT_TRUE(interface.ok() || !shaped.ok()) << interface.status().message();
      model[at] ^= std::byte{1} << bit;
    }
  }
}

// One bit of each byte: a loop whose end is damaged is read up to the limit, which takes its time.
TEST(TfliteDamaged, ABitFlipInAModelWithALoopIsAnErrorOrAValidGraph) {
  Bytes model = ModelWithALoop();
  const Result<Graph> whole = ReadTfliteModel(model);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  ASSERT_GT(whole->nodes().size(), 4u);
  constexpr uint32_t kSeed = 20261122;
  std::mt19937 random(kSeed);
  for (size_t at = 0; at < model.size(); ++at) {
    if (!hearth::testing::IsInSanitizersSample(at, 3)) continue;
    SCOPED_TRACE(at);
    const std::byte bit = std::byte{1} << (random() % 8);
    model[at] ^= bit;
    ExpectErrorOrValidGraph(model);
    model[at] ^= bit;
  }
}

// One that is refused for its sizes after its first half was read, with an input whose shape the file leaves open, is
// no operator that a session may replace: the states are the second half's already.
TEST(TfliteDamaged, ABitFlipInALayerOfTwoDirectionsIsAnErrorOrAValidGraph) {
  const OracleArchive archive;
  const auto content = archive.Find("bidirectional_sequence_rnn_parallel_auxiliary.tflite");
  ASSERT_TRUE(content.ok()) << content.status().message();
  Bytes model(content->begin(), content->end());
  for (size_t at = 0; at < model.size(); ++at) {
    if (!hearth::testing::IsInSanitizersSample(at, 16)) continue;
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE(::testing::Message() << "byte " << at << ", bit " << bit);
      model[at] ^= std::byte{1} << bit;
      ExpectErrorOrValidGraph(model);
      model[at] ^= std::byte{1} << bit;
    }
  }
}

// Of every model in which operators are read as several.
TEST(TfliteDamaged, FlippedBitsOfOperatorsThatAreReadAsSeveralAreAnErrorOrAValidGraph) {
  constexpr uint32_t kSeed = 20261123;
  const int flips = hearth::testing::SanitizersRounds(200, 5);
  std::mt19937 random(kSeed);
  const OracleArchive archive;
  for (const OracleModel& listed : ListOracleModels()) {
    const auto families = {"bidirectional", "places", "volumes", "spectra", "suppression", "stablehlo", "host"};
    if (!Contains(families, listed.family)) continue;
    const Result<std::span<const std::byte>> content = archive.Find(listed.file);
    ASSERT_TRUE(content.ok()) << content.status().message();
    Bytes model(content->begin(), content->end());
    for (int flip = 0; flip < flips; ++flip) {
      const size_t at = random() % model.size();
      const std::byte bit = std::byte{1} << (random() % 8);
      SCOPED_TRACE(::testing::Message() << listed.file << ", byte " << at);
      model[at] ^= bit;
      ExpectErrorOrValidGraph(model);
      model[at] ^= bit;
    }
  }
}

class TfliteDamagedModels : public ::testing::TestWithParam<const char*> {
 protected:
  // The model, or nothing after skipping.
  std::optional<Bytes> Load() {
    const auto path = SharedFolder() / "models" / GetParam();
    Result<ModelFile> file = ModelFile::Open(path.string());
    if (!file.ok()) return std::nullopt;
    return Bytes(file->bytes().begin(), file->bytes().end());
  }
};

TEST_P(TfliteDamagedModels, FlippedBitsAreAnErrorOrAValidGraph) {
  HEARTH_SKIP_WITHOUT(SharedFolder() / "models" / GetParam());
  std::optional<Bytes> model = Load();
  ASSERT_TRUE(model.has_value());
  const std::vector<uint32_t> places = StructurePlaces(*model);
  ASSERT_FALSE(places.empty());
  constexpr uint32_t kSeed = 20240611;
  std::mt19937 random(kSeed);
  for (int round = 0; round < hearth::testing::SanitizersRounds(3000, 5); ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", round " << round);
    const int flips = 1 << (random() % 4);  // 1, 2, 4 or 8 bits
    std::vector<std::pair<uint32_t, std::byte>> undo;
    for (int i = 0; i < flips; ++i) {
      // One flip in sixteen anywhere, the others in the structure.
      const uint32_t place = random() % 16 == 0 ? random() % model->size() : places[random() % places.size()];
      undo.emplace_back(place, (*model)[place]);
      (*model)[place] ^= std::byte{1} << (random() % 8);
    }
    ExpectErrorOrValidGraph(*model);
    for (auto flip = undo.rbegin(); flip != undo.rend(); ++flip) (*model)[flip->first] = flip->second;
  }
}

TEST_P(TfliteDamagedModels, TruncatedCopiesAreAnErrorOrAValidGraph) {
  HEARTH_SKIP_WITHOUT(SharedFolder() / "models" / GetParam());
  const std::optional<Bytes> model = Load();
  ASSERT_TRUE(model.has_value());
  constexpr uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 100; ++round) {
    const size_t length = random() % model->size();
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << ", length " << length);
    const Bytes copy(model->begin(), model->begin() + length);
    ExpectErrorOrValidGraph(copy);
  }
}

// Float with resizes, float16 with DEQUANTIZE and custom operators, 8 bits with per-channel quantization.
INSTANTIATE_TEST_SUITE_P(Shared, TfliteDamagedModels,
                         ::testing::Values("deeplabv3_257_mv_gpu.tflite", "selfie_segmentation.tflite",
                                           "kws_ref_model_int8.tflite"),
                         [](const auto& info) {
                           const std::string file = info.param;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace hearth
