#include "tests/testing/metadata_writer.h"

#include "frontends/tflite/metadata_schema_generated.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

void Append(std::vector<std::byte>& bytes, uint64_t number, int size) {
  for (int k = 0; k < size; ++k) bytes.push_back(static_cast<std::byte>(number >> (8 * k)));
}

void Append(std::vector<std::byte>& bytes, const std::string& text) {
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

// The common fields of the local header and the directory's record.
void AppendSizes(std::vector<std::byte>& bytes, const std::string& name, const std::string& contents, int method) {
  Append(bytes, 20, 2);  // version
  Append(bytes, 0, 2);   // flags
  Append(bytes, static_cast<uint64_t>(method), 2);
  Append(bytes, 0, 8);  // time, date, checksum
  Append(bytes, contents.size(), 4);
  Append(bytes, contents.size(), 4);
  Append(bytes, name.size(), 2);
  Append(bytes, 0, 2);  // extra
}

}  // namespace

std::vector<std::byte> MetadataBytes(const WrittenMetadata& metadata) {
  namespace wire = metadata_wire;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::ProcessUnit>> units;
  if (!metadata.mean.empty() || !metadata.std.empty()) {
    const auto scaling = wire::CreateNormalizationOptionsDirect(builder, &metadata.mean, &metadata.std);
    units.assign(metadata.scalings,
                 wire::CreateProcessUnit(builder, wire::ProcessUnitOptions_NormalizationOptions, scaling.Union()));
  }
  const auto picture = wire::CreateContent(builder, wire::ContentProperties_ImageProperties,
                                           wire::CreateImageProperties(builder).Union());
  std::vector<flatbuffers::Offset<wire::TensorMetadata>> inputs(
      metadata.described_inputs,
      wire::CreateTensorMetadataDirect(builder, metadata.input_name.c_str(), "what is seen", picture, &units));
  std::vector<flatbuffers::Offset<wire::AssociatedFile>> files;
  if (!metadata.label_file.empty()) {
    files.assign(metadata.label_files, wire::CreateAssociatedFileDirect(builder, metadata.label_file.c_str(),
                                                                        wire::AssociatedFileType_TENSOR_AXIS_LABELS));
  }
  std::vector<flatbuffers::Offset<wire::TensorMetadata>> outputs(
      metadata.described_outputs,
      wire::CreateTensorMetadataDirect(builder, "probability", nullptr, 0, nullptr, &files));
  std::vector<flatbuffers::Offset<wire::SubGraphMetadata>> subgraphs = {
      wire::CreateSubGraphMetadataDirect(builder, &inputs, &outputs)};
  wire::FinishModelMetadataBuffer(
      builder, wire::CreateModelMetadataDirect(builder, "classifier", nullptr, "v1", &subgraphs, "somebody"));
  const auto* data = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

std::vector<std::byte> ModelWithMetadata(const std::vector<std::byte>& metadata, size_t inputs, size_t outputs) {
  TfliteWriter writer;
  const int32_t input = writer.AddTensor({"x", {1, 4}}), output = writer.AddTensor({"y", {1, 4}});
  writer.AddOperator(kNeg, {input}, {output});
  writer.AddMetadata("TFLITE_METADATA", writer.AddBuffer(metadata));
  return writer.Finish(std::vector<int32_t>(inputs, input), std::vector<int32_t>(outputs, output));
}

std::vector<std::byte> WithArchive(std::vector<std::byte> file,
                                   const std::vector<std::pair<std::string, std::string>>& entries, int method) {
  std::vector<std::byte> directory;
  for (const auto& [name, contents] : entries) {
    const size_t offset = file.size();
    Append(file, 0x04034b50, 4);
    AppendSizes(file, name, contents, method);
    Append(file, name);
    Append(file, contents);
    Append(directory, 0x02014b50, 4);
    Append(directory, 20, 2);
    AppendSizes(directory, name, contents, method);
    Append(directory, 0, 2);  // comment
    Append(directory, 0, 8);  // disk, attributes
    Append(directory, offset, 4);
    Append(directory, name);
  }
  const size_t start = file.size();
  file.insert(file.end(), directory.begin(), directory.end());
  Append(file, 0x06054b50, 4);
  Append(file, 0, 4);  // disks
  Append(file, entries.size(), 2);
  Append(file, entries.size(), 2);
  Append(file, directory.size(), 4);
  Append(file, start, 4);
  Append(file, 0, 2);  // comment
  return file;
}

}  // namespace hearth
