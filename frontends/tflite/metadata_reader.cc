// The description of tensors in a .tflite file: the flatbuffer that its metadata TFLITE_METADATA refers to, and the
// label files in the ZIP archive at the file's end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/tflite/metadata_schema_generated.h"
#include "frontends/tflite/reading.h"
#include "frontends/tflite/zip_entry.h"
#include "frontends/writer/names.h"

namespace hearth {
namespace {

constexpr std::string_view kMetadataName = "TFLITE_METADATA";
constexpr size_t kMaxMetadataBytes = 16 << 20;  // texts and names; label files are outside
constexpr uint32_t kMaxMetadataTables = 100'000;
constexpr uint32_t kMaxNumbers = 4096;  // elements of one mean or std: one per channel
constexpr size_t kMaxWarnings = 100;    // further ones are only counted
constexpr uint32_t kBoxNumbers = 4;
// What a tensor takes in the result without its texts, numbers and labels.
constexpr size_t kTensorBytes = sizeof(TensorMetadata) + kBoxNumbers * sizeof(uint32_t);

// The bytes of the metadata's flatbuffer; empty if there is none.
Result<std::span<const std::byte>> MetadataBytes(const wire::Model& model, std::span<const std::byte> file) {
  const auto* list = model.metadata();
  for (uint32_t k = 0; list != nullptr && k < list->size(); ++k) {
    const wire::Metadata& entry = *list->Get(k);
    if (entry.name() == nullptr || entry.name()->string_view() != kMetadataName) continue;
    if (model.buffers() == nullptr || entry.buffer() >= model.buffers()->size()) {
      return Error(StatusCode::kMalformedInput, "the metadata lies in buffer {}, which the file lacks", entry.buffer());
    }
    const wire::Buffer& buffer = *model.buffers()->Get(entry.buffer());
    if (buffer.data() != nullptr) return std::as_bytes(std::span(buffer.data()->data(), buffer.data()->size()));
    if (buffer.offset() <= 1) return std::span<const std::byte>();
    if (buffer.offset() > file.size() || buffer.size() > file.size() - buffer.offset()) {
      return Error(StatusCode::kMalformedInput, "the metadata lies outside the file");
    }
    return file.subspan(buffer.offset(), buffer.size());
  }
  return std::span<const std::byte>();
}

size_t CountLines(std::span<const std::byte> bytes) {
  return static_cast<size_t>(std::count(bytes.begin(), bytes.end(), std::byte{'\n'})) + 1;
}

std::vector<std::string> LinesOf(std::span<const std::byte> bytes, size_t count) {
  std::string_view text = TextFrom(bytes);
  std::vector<std::string> lines;
  lines.reserve(count);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    lines.push_back(CleanName(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool HasUsableCount(const flatbuffers::Vector<float>* numbers) {
  return numbers != nullptr && numbers->size() > 0 && numbers->size() <= kMaxNumbers;
}

bool AreFinite(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

// Reads one verified metadata flatbuffer. The same table may be listed many times, so that a small file could ask for
// any amount of memory or time: every copy in the result is charged to a budget before it is looked at, and warnings
// are short and few.
class MetadataReader {
 public:
  explicit MetadataReader(std::span<const std::byte> file) : file_(file), budget_(file.size()) {}

  ModelMetadata Read(const metadata_wire::ModelMetadata& model, const wire::SubGraph& subgraph, uint32_t index) {
    result_.name = Text(model.name());
    result_.description = Text(model.description());
    result_.version = Text(model.version());
    result_.author = Text(model.author());
    result_.license = Text(model.license());
    const auto* subgraphs = model.subgraph_metadata();
    if (subgraphs != nullptr && index < subgraphs->size()) ReadSubgraph(*subgraphs->Get(index), subgraph);
    if (warnings_left_out_ > 0) {
      result_.warnings.push_back(
          fmt::format("{} more warnings about the file's metadata are left out", warnings_left_out_));
    }
    return std::move(result_);
  }

 private:
  using TensorList = flatbuffers::Vector<flatbuffers::Offset<metadata_wire::TensorMetadata>>;

  void ReadSubgraph(const metadata_wire::SubGraphMetadata& described, const wire::SubGraph& subgraph) {
    result_.inputs = Tensors(described.input_tensor_metadata(), subgraph.inputs(), "inputs");
    result_.outputs = Tensors(described.output_tensor_metadata(), subgraph.outputs(), "outputs");
  }

  void Warn(std::string text) {
    if (result_.warnings.size() < kMaxWarnings) {
      result_.warnings.push_back(std::move(text));
    } else {
      ++warnings_left_out_;
    }
  }

  // Empty if the same text was listed too often.
  std::string Text(const flatbuffers::String* text) {
    return text != nullptr && budget_.Charge(text->size()) ? CleanName(text->string_view()) : "";
  }

  std::vector<TensorMetadata> Tensors(const TensorList* described, const flatbuffers::Vector<int32_t>* tensors,
                                      std::string_view what) {
    std::vector<TensorMetadata> result;
    const uint32_t count = described == nullptr ? 0 : described->size();
    const uint32_t wanted = tensors == nullptr ? 0 : tensors->size();
    if (count == 0) return result;
    if (count != wanted) {
      Warn(fmt::format("the metadata describes {} {}, the model has {}; they are left out", count, what, wanted));
      return result;
    }
    if (!budget_.Charge(count * kTensorBytes)) {
      Warn(CopyBudget::Exceeded(fmt::format("the metadata's list of {} {}", count, what)).message());
      return result;
    }
    result.reserve(count);
    for (uint32_t k = 0; k < count; ++k) result.push_back(Tensor(*described->Get(k)));
    return result;
  }

  TensorMetadata Tensor(const metadata_wire::TensorMetadata& tensor) {
    TensorMetadata result;
    result.name = Text(tensor.name());
    result.description = Text(tensor.description());
    if (tensor.content() != nullptr) ReadContent(*tensor.content(), result);
    if (const auto* scaling = ScalingOf(tensor)) ReadScaling(*scaling, result);
    const auto* files = tensor.associated_files();
    for (uint32_t k = 0; files != nullptr && k < files->size(); ++k) ReadLabels(*files->Get(k), result);
    return result;
  }

  // The first scaling, if there is one.
  static const metadata_wire::NormalizationOptions* ScalingOf(const metadata_wire::TensorMetadata& tensor) {
    const auto* units = tensor.process_units();
    for (uint32_t k = 0; units != nullptr && k < units->size(); ++k) {
      if (const auto* scaling = units->Get(k)->options_as_NormalizationOptions()) return scaling;
    }
    return nullptr;
  }

  void ReadScaling(const metadata_wire::NormalizationOptions& scaling, TensorMetadata& result) {
    const std::string what = fmt::format("the metadata's mean and std of '{}'", ShortName(result.name));
    const std::string unusable = what + " are not usable numbers";
    if (!HasUsableCount(scaling.mean()) || !HasUsableCount(scaling.std())) return Warn(unusable);
    const size_t count = size_t{scaling.mean()->size()} + scaling.std()->size();
    if (!budget_.Charge(count * sizeof(float))) return Warn(CopyBudget::Exceeded(what).message());
    std::vector<float> means = CopyOf(scaling.mean()), deviations = CopyOf(scaling.std());
    const bool divides_by_zero = Contains(deviations, 0.0f);
    if (!AreFinite(means) || !AreFinite(deviations) || divides_by_zero) return Warn(unusable);
    result.mean = std::move(means);
    result.std = std::move(deviations);
  }

  static void ReadContent(const metadata_wire::Content& content, TensorMetadata& result) {
    if (content.content_properties_as_FeatureProperties() != nullptr) result.content = "feature";
    if (content.content_properties_as_ImageProperties() != nullptr) result.content = "image";
    const auto* box = content.content_properties_as_BoundingBoxProperties();
    if (box == nullptr) return;
    result.content = "boxes";
    switch (box->type()) {
      case metadata_wire::BoundingBoxType_BOUNDARIES: result.box_type = "boundaries"; break;
      case metadata_wire::BoundingBoxType_UPPER_LEFT: result.box_type = "upper_left"; break;
      case metadata_wire::BoundingBoxType_CENTER: result.box_type = "center"; break;
      default: break;
    }
    result.box_in_pixels = box->coordinate_type() == metadata_wire::CoordinateType_PIXEL;
    if (box->index() != nullptr && box->index()->size() == kBoxNumbers) {
      result.box_order.assign(box->index()->begin(), box->index()->end());
    }
  }

  // Takes the first label file of its kind: further ones are translations.
  void ReadLabels(const metadata_wire::AssociatedFile& file, TensorMetadata& result) {
    const bool of_axis = file.type() == metadata_wire::AssociatedFileType_TENSOR_AXIS_LABELS;
    if (!of_axis && file.type() != metadata_wire::AssociatedFileType_TENSOR_VALUE_LABELS) return;
    std::vector<std::string>& labels = of_axis ? result.axis_labels : result.value_labels;
    if (!labels.empty() || file.name() == nullptr) return;
    const std::string_view name = file.name()->string_view();
    // Looking for a name takes time for its length. A file that can't be read is looked for and reported once.
    Status status = budget_.Charge(name.size()) ? Status::Ok() : CopyBudget::Exceeded("its name");
    if (status.ok()) {
      if (unreadable_.contains(name)) return;
      status = AssignLabels(name, labels);
      if (!status.ok()) unreadable_.insert(name);
    }
    if (status.ok()) return;
    Warn(fmt::format("the label file '{}' that the metadata names can't be read: {}", ShortName(name),
                     status.message()));
  }

  Status AssignLabels(std::string_view name, std::vector<std::string>& labels) {
    if (!archive_) archive_.emplace(file_);
    HEARTH_ASSIGN(const std::span<const std::byte> bytes, archive_->Find(name));
    if (!budget_.Charge(bytes.size())) return CopyBudget::Exceeded("it");
    const size_t lines = CountLines(bytes);
    if (!budget_.Charge(lines * sizeof(std::string))) return CopyBudget::Exceeded("it");
    labels = LinesOf(bytes, lines);
    return Status::Ok();
  }

  std::span<const std::byte> file_;
  CopyBudget budget_;
  std::optional<ZipDirectory> archive_;    // read for the first label file
  std::set<std::string_view> unreadable_;  // names of label files
  ModelMetadata result_;
  size_t warnings_left_out_ = 0;
};

}  // namespace

Result<ModelMetadata> ReadMetadataOf(const wire::Model& model, uint32_t subgraph, std::span<const std::byte> file) {
  HEARTH_ASSIGN(const std::span<const std::byte> bytes, MetadataBytes(model, file));
  if (bytes.empty()) return ModelMetadata();
  if (bytes.size() > kMaxMetadataBytes) {
    return Error(StatusCode::kUnsupported, "the metadata takes {} bytes; at most {} are read", bytes.size(),
                 kMaxMetadataBytes);
  }
  // Copied, because its position in the file may be unaligned.
  std::vector<uint64_t> copy((bytes.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
  flatbuffers::Verifier::Options limits;
  limits.max_tables = kMaxMetadataTables;
  flatbuffers::Verifier verifier(data, bytes.size(), limits);
  if (!metadata_wire::VerifyModelMetadataBuffer(verifier)) {
    return Error(StatusCode::kMalformedInput, "the metadata inside is not a flatbuffer of its format ({})",
                 metadata_wire::ModelMetadataIdentifier());
  }
  MetadataReader reader(file);
  return reader.Read(*metadata_wire::GetModelMetadata(data), *model.subgraphs()->Get(subgraph), subgraph);
}

}  // namespace hearth
