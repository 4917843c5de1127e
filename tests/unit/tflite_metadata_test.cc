// What a file says about its tensors, and what becomes of metadata and archives that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frontends/tflite/reader.h"
#include "frontends/tflite/zip_entry.h"
#include "hearth/model.h"
#include "tests/testing/child_process.h"
#include "tests/testing/metadata_writer.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Bytes = std::vector<std::byte>;

Bytes LabelledModel(const std::string& labels, const WrittenMetadata& metadata = {}) {
  return WithArchive(ModelWithMetadata(MetadataBytes(metadata)), {{"other.txt", "x"}, {"labels.txt", labels}});
}

// The file lists its input and output as often as its metadata does.
Bytes ModelThatRepeats(const WrittenMetadata& metadata) {
  return ModelWithMetadata(MetadataBytes(metadata), metadata.described_inputs, metadata.described_outputs);
}

size_t CopyLimit(const Bytes& file) {
  return 4 * file.size() + (1 << 20);
}

TEST(TfliteMetadata, TextsScalingAndLabelsAreRead) {
  const Bytes file = LabelledModel("cat\ndog\r\n\nbird");
  const ModelMetadata metadata = ReadTfliteMetadata(file).value();
  EXPECT_EQ(metadata.name, "classifier");
  EXPECT_EQ(metadata.version, "v1");
  EXPECT_EQ(metadata.author, "somebody");
  ASSERT_EQ(metadata.inputs.size(), 1u);
  EXPECT_EQ(metadata.inputs[0].name, "picture");
  EXPECT_EQ(metadata.inputs[0].content, "image");
  EXPECT_THAT(metadata.inputs[0].mean, ElementsAre(127.5f));
  EXPECT_THAT(metadata.inputs[0].std, ElementsAre(127.5f));
  ASSERT_EQ(metadata.outputs.size(), 1u);
  EXPECT_THAT(metadata.outputs[0].axis_labels, ElementsAre("cat", "dog", "", "bird"));
  EXPECT_THAT(metadata.warnings, IsEmpty());
}

TEST(TfliteMetadata, AFileWithoutItSaysNothing) {
  EXPECT_TRUE(ReadTfliteMetadata(ModelWithMetadata({})).value().is_empty());
}

TEST(TfliteMetadata, ALabelFileThatIsMissingOrCompressedIsAWarning) {
  const Bytes model = ModelWithMetadata(MetadataBytes({}));
  EXPECT_THAT(ReadTfliteMetadata(model).value().warnings, ElementsAre(HasSubstr("'labels.txt'")));
  const Bytes compressed = WithArchive(model, {{"labels.txt", "cat"}}, 8);
  EXPECT_THAT(ReadTfliteMetadata(compressed).value().warnings, ElementsAre(HasSubstr("compressed")));
}

TEST(TfliteMetadata, ScalingThatDividesByZeroIsAWarningAndNotUsed) {
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel("a", {.std = {0}})).value();
  EXPECT_THAT(metadata.inputs[0].mean, IsEmpty());
  EXPECT_THAT(metadata.warnings, ElementsAre(HasSubstr("mean and std")));
}

TEST(TfliteMetadata, ListsOfAnotherLengthThanTheModelsAreLeftOut) {
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel("a", {.described_outputs = 3})).value();
  EXPECT_THAT(metadata.outputs, IsEmpty());
  EXPECT_THAT(metadata.warnings, ElementsAre(HasSubstr("describes 3 outputs, the model has 1")));
}

TEST(TfliteMetadata, BytesThatAreNoMetadataAreAnErrorAndTheModelStillReads) {
  const Bytes file = ModelWithMetadata(Bytes(64, std::byte{7}));
  EXPECT_EQ(ReadTfliteMetadata(file).status().code(), StatusCode::kMalformedInput);
  EXPECT_TRUE(ReadTfliteModel(file).ok());
}

TEST(TfliteMetadata, AFileOfEmptyLinesDoesNotTakeManyTimesItsSize) {
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel(std::string(1 << 20, '\n'))).value();
  EXPECT_THAT(metadata.outputs.at(0).axis_labels, IsEmpty());
  EXPECT_THAT(metadata.warnings, ElementsAre(HasSubstr("four times the file's size")));
}

TEST(TfliteMetadata, ALongNameIsCutInAWarningButNotWithinACharacter) {
  std::string name = "x";
  while (name.size() < 1 << 20) name += "\u00e9";  // two bytes, so that a cut after 200 would part one
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel("a", {.std = {}, .input_name = name})).value();
  EXPECT_EQ(metadata.inputs.at(0).name, name);
  ASSERT_EQ(metadata.warnings.size(), 1u);
  EXPECT_LT(metadata.warnings[0].size(), 400u);
  EXPECT_THAT(metadata.warnings[0], HasSubstr("'" + name.substr(0, 199) + "'"));
}

TEST(TfliteMetadata, ALongNameOfALabelFileIsCutInAWarningButNotWithinACharacter) {
  std::string name = "x";
  while (name.size() < 1 << 20) name += "\u00e9";
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel("a", {.label_file = name})).value();
  ASSERT_EQ(metadata.warnings.size(), 1u);
  EXPECT_LT(metadata.warnings[0].size(), 400u);
  EXPECT_THAT(metadata.warnings[0], HasSubstr("'" + name.substr(0, 199) + "'"));
}

TEST(TfliteMetadata, OnlyTheFirstScalingOfATensorIsRead) {
  const ModelMetadata metadata = ReadTfliteMetadata(LabelledModel("a", {.std = {}, .scalings = 20'000})).value();
  EXPECT_THAT(metadata.warnings, ElementsAre(HasSubstr("mean and std of 'picture'")));
}

TEST(TfliteMetadata, WarningsBeyondAHundredAreCounted) {
  const Bytes file = ModelThatRepeats({.std = {}, .label_file = "", .described_inputs = 1000});
  const ModelMetadata metadata = ReadTfliteMetadata(file).value();
  EXPECT_EQ(metadata.inputs.size(), 1000u);
  ASSERT_EQ(metadata.warnings.size(), 101u);
  EXPECT_THAT(metadata.warnings[99], HasSubstr("mean and std"));
  EXPECT_THAT(metadata.warnings[100], HasSubstr("900 more warnings"));
}

TEST(TfliteMetadata, AScalingListedForManyTensorsDoesNotTakeManyTimesTheFilesSize) {
  const std::vector<float> numbers(4096, 2.0f);
  const Bytes file = ModelThatRepeats({.mean = numbers, .std = numbers, .label_file = "", .described_inputs = 4000});
  const ModelMetadata metadata = ReadTfliteMetadata(file).value();
  ASSERT_EQ(metadata.inputs.size(), 4000u);
  EXPECT_EQ(metadata.inputs[0].mean, numbers);
  size_t bytes = 0;
  for (const TensorMetadata& input : metadata.inputs) bytes += 4 * (input.mean.size() + input.std.size());
  EXPECT_LT(bytes, CopyLimit(file));
  ASSERT_FALSE(metadata.warnings.empty());
  EXPECT_THAT(metadata.warnings[0], HasSubstr("four times the file's size"));
  EXPECT_EQ(testing::ExitCodeInLittleMemory([&file] { return ReadTfliteMetadata(file).ok(); }), 0);
}

TEST(TfliteMetadata, ATensorListedTooOftenIsLeftOutWithItsList) {
  const Bytes file = ModelThatRepeats({.label_file = "", .described_inputs = 15'000});
  const ModelMetadata metadata = ReadTfliteMetadata(file).value();
  EXPECT_THAT(metadata.inputs, IsEmpty());
  EXPECT_EQ(metadata.outputs.size(), 1u);
  EXPECT_THAT(metadata.warnings, ElementsAre(HasSubstr("list of 15000 inputs would copy more than four times")));
}

TEST(TfliteMetadata, ALabelFileThatManyEntriesNameAndNoArchiveHoldsIsReportedOnce) {
  const Bytes model = ModelThatRepeats({.described_outputs = 2, .label_files = 20'000});
  EXPECT_THAT(ReadTfliteMetadata(model).value().warnings, ElementsAre(HasSubstr("there is no archive")));
  const Bytes file = WithArchive(model, {{"other.txt", "x"}});
  EXPECT_THAT(ReadTfliteMetadata(file).value().warnings, ElementsAre(HasSubstr("no such entry")));
}

TEST(TfliteMetadata, DamagedCopiesGiveAnErrorOrAResultAndNeverACrash) {
  const Bytes whole = LabelledModel("cat\ndog\n");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    Bytes damaged = whole;
    const size_t count = 1 + random() % 4;
    for (size_t k = 0; k < count; ++k) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    if (round % 3 == 0) damaged.resize(random() % damaged.size());
    const Result<ModelMetadata> metadata = ReadTfliteMetadata(damaged);
    EXPECT_TRUE(metadata.ok() || !metadata.status().message().empty());
  }
}

TEST(TfliteMetadata, TheModelOffersIt) {
  const Result<Model> model = Model::FromMemory(LabelledModel("cat\ndog"));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->ReadMetadata().value().outputs.at(0).axis_labels.size(), 2u);
}

TEST(TfliteMetadata, ARealClassifierHoldsItsLabelsAndScaling) {
  const auto path = SharedFolder() / "models/mobilenet_v1_0.25_128_quant.tflite";
  HEARTH_SKIP_WITHOUT(path);
  const Result<Model> model = Model::FromFile(path.string());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const ModelMetadata metadata = model->ReadMetadata().value();
  EXPECT_THAT(metadata.warnings, IsEmpty());
  ASSERT_EQ(metadata.outputs.size(), 1u);
  ASSERT_EQ(metadata.outputs[0].axis_labels.size(), 1001u);
  EXPECT_EQ(metadata.outputs[0].axis_labels[0], "background");
  EXPECT_EQ(metadata.inputs.at(0).mean.size(), 1u);
}

TEST(ZipEntry, AnEntryIsFoundBehindAnythingAndBeforeAComment) {
  Bytes file = WithArchive(Bytes(100), {{"a", "first"}, {"b", ""}});
  file[file.size() - 2] = std::byte{3};
  file.insert(file.end(), 3, std::byte{'x'});
  EXPECT_EQ(ZipDirectory(file).Find("a").value().size(), 5u);
  EXPECT_EQ(ZipDirectory(file).Find("b").value().size(), 0u);
  EXPECT_EQ(ZipDirectory(file).Find("c").status().code(), StatusCode::kNotFound);
}

TEST(ZipEntry, TheArchiveIsLookedForOnceForManyEntries) {
  Bytes file = WithArchive(Bytes(100), {{"a", "first"}, {"b", "second"}});
  const ZipDirectory directory(file);
  std::fill(file.end() - 22, file.end(), std::byte{0});  // a further search would find no end of the archive
  EXPECT_EQ(directory.Find("a").value().size(), 5u);
  EXPECT_EQ(directory.Find("b").value().size(), 6u);
  EXPECT_EQ(directory.Find("c").status().code(), StatusCode::kNotFound);
}

TEST(ZipEntry, TheFirstOfTwoEntriesOfOneNameCounts) {
  EXPECT_EQ(ZipDirectory(WithArchive({}, {{"a", "first"}, {"a", "again, longer"}})).Find("a").value().size(), 5u);
}

TEST(ZipEntry, EntriesBeforeADamageInTheDirectoryAreFound) {
  Bytes file = WithArchive(Bytes(100), {{"a", "first"}, {"b", "second"}});
  file[file.size() - 22 - 47] = std::byte{0};  // the signature of b's record, of 46 bytes and its name
  EXPECT_EQ(ZipDirectory(file).Find("a").value().size(), 5u);
  EXPECT_EQ(ZipDirectory(file).Find("b").status().code(), StatusCode::kMalformedInput);
}

TEST(ZipEntry, AFileWithoutAnArchiveHasNoEntries) {
  for (const size_t size : {size_t{0}, size_t{21}, size_t{22}, size_t{70000}}) {
    EXPECT_EQ(ZipDirectory(Bytes(size)).Find("a").status().code(), StatusCode::kNotFound);
  }
}

TEST(ZipEntry, AnArchiveWhosePartsLieOutsideIsAnError) {
  const Bytes whole = WithArchive(Bytes(100), {{"a", "first"}});
  for (const size_t from_end :
       {10u, 6u, 22u + 5u, 22u + 23u}) {  // directory's size and offset, entry's offset and size
    Bytes damaged = whole;
    damaged[damaged.size() - from_end + 1] = std::byte{0xff};
    damaged[damaged.size() - from_end + 2] = std::byte{0xff};
    const Status status = ZipDirectory(damaged).Find("a").status();
    EXPECT_EQ(status.code(), StatusCode::kMalformedInput) << from_end << " " << status.message();
  }
}

}  // namespace
}  // namespace hearth
