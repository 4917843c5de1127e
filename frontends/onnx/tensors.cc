#include "frontends/onnx/tensors.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "core/graph/element.h"
#include "frontends/writer/names.h"

namespace hearth::onnx {
namespace {

// How a file stores elements of types that the graph has not: float16 is one of those for few elements only.
FileType FileTypeOf(int32_t type) {
  switch (type) {
    case kFloat16: return FileType::kFloat16;
    case kBfloat16: return FileType::kBFloat16;
    case kInt4: return FileType::kInt4;
    case kUint4: return FileType::kUInt4;
    case kInt2: return FileType::kInt2;
    case kUint2: return FileType::kUInt2;
    default: return FileType::kSame;
  }
}

bool IsNarrowFloat(int32_t type) {
  return type == kFloat16 || type == kBfloat16;
}

// Of an integer that shares bytes with others; 0 for other types.
int NarrowBitsOf(int32_t type) {
  return type == kUint4 || type == kInt4 ? 4 : type == kUint2 || type == kInt2 ? 2 : 0;
}

Result<uint64_t> NumberIn(const Pairs& pairs, std::string_view key, uint64_t otherwise) {
  for (const auto& [name, text] : pairs) {
    if (name != key) continue;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
    return Error(StatusCode::kMalformedInput, "its {} '{}' is no number of bytes", key, ShortName(text));
  }
  return otherwise;
}

// The bytes in another file.
Result<std::span<const std::byte>> ExternalBytes(const Reading& reading, const TensorProto& tensor, size_t needed) {
  const auto location = std::ranges::find(tensor.external, "location", &Pairs::value_type::first);
  const std::string name(location == tensor.external.end() ? std::string_view() : location->second);
  const auto part = std::ranges::find(reading.options.parts, name, &ModelPart::name);
  if (part == reading.options.parts.end()) {
    return Error(StatusCode::kUnsupported,
                 "its bytes lie in the file '{}', which only a model that is opened by its path has beside it",
                 CleanName(ShortName(name)));
  }
  HEARTH_ASSIGN(const uint64_t offset, NumberIn(tensor.external, "offset", 0));
  HEARTH_ASSIGN(const uint64_t length, NumberIn(tensor.external, "length", needed));
  if (length != needed) {
    return Error(StatusCode::kMalformedInput, "it has {} bytes in '{}', but its shape needs {}", length,
                 CleanName(ShortName(name)), needed);
  }
  if (offset > part->size_bytes || length > part->size_bytes - offset) {
    return Error(StatusCode::kMalformedInput, "its bytes {} to {} lie outside of '{}', which has {}: fetch that again",
                 offset, offset + length, CleanName(ShortName(name)), part->size_bytes);
  }
  return reading.file.subspan(part->offset_bytes + offset, length);
}

Status CheckBytes(size_t held, size_t needed) {
  if (held == needed) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "it holds {} bytes of data, but its shape needs {}", held, needed);
}

constexpr std::pair<int32_t, DType> kInterfaceTypes[] = {
    {kFloat, DType::kFloat32},   {kUint8, DType::kUInt8},    {kInt8, DType::kInt8},     {kUint16, DType::kUInt16},
    {kInt16, DType::kInt16},     {kInt32, DType::kInt32},    {kInt64, DType::kInt64},   {kBool, DType::kBool},
    {kFloat16, DType::kFloat16}, {kDouble, DType::kFloat64}, {kUint32, DType::kUInt32}, {kUint64, DType::kUInt64}};

}  // namespace

Result<Shape> CheckedShape(const std::vector<int64_t>& dims) {
  if (dims.size() > Shape::kMaxRank) {
    return Error(StatusCode::kUnsupported, "rank {}; at most {} is possible", dims.size(), int{Shape::kMaxRank});
  }
  std::vector<int32_t> made;
  for (const int64_t dim : dims) {
    if (dim < 0 || dim > std::numeric_limits<int32_t>::max()) {
      return Error(StatusCode::kMalformedInput, "a dimension of {}", dim);
    }
    made.push_back(static_cast<int32_t>(dim));
  }
  const Shape shape = Shape::FromSpan(made);
  if (!CheckedElementCount(shape)) return Error(StatusCode::kMalformedInput, "too many elements");
  return shape;
}

std::optional<DType> ComputedTypeOf(int32_t type) {
  return IsNarrowFloat(type) ? DType::kFloat32 : InterfaceTypeOf(type);
}

std::optional<DType> InterfaceTypeOf(int32_t type) {
  const auto* known = std::ranges::find(kInterfaceTypes, type, &std::pair<int32_t, DType>::first);
  return known == std::end(kInterfaceTypes) ? std::nullopt : std::optional(known->second);
}

Status UnknownType(int32_t type) {
  return Error(StatusCode::kUnsupported,
               "elements of {}, which Hearth does not compute with: convert the model to float32, float16 or 8-bit "
               "integers",
               DataTypeName(type));
}

std::optional<DType> TypeOfOutput(const NodeWriter& to, ValueId value, int32_t declared) {
  const bool is_made = declared == kUndefined || (declared == kString && to.marks().texts.contains(value));
  return is_made ? to.desc(value).dtype : InterfaceTypeOf(declared);
}

Result<std::vector<int64_t>> NumbersOfTexts(const Reading& reading, const std::vector<std::string_view>& texts) {
  std::vector<int64_t> numbers;
  numbers.reserve(texts.size());
  for (const std::string_view text : texts) {
    const auto found = reading.texts.find(text);
    if (found == reading.texts.end())
      return Error(StatusCode::kUnsupported, "the text '{}', which the caller of a function gives",
                   CleanName(ShortName(text)));
    numbers.push_back(found->second);
  }
  return numbers;
}

Result<Tensor> AddTensor(Reading& reading, NodeWriter& to, const TensorProto& tensor, std::string name) {
  constexpr size_t kLeastStoredBytes = 256;
  const void* key = tensor.message.data();
  const auto as_tensor = [&](ValueId value) {
    const Constant& constant = to.graph().constant(*to.graph().value(value).constant);
    const bool is_plain = to.desc(value).dtype != DType::kFloat16 && IsAligned(to.desc(value).dtype, constant.bytes);
    return is_plain ? Tensor{.plain = value} : Tensor{.stored = value};
  };
  if (const auto known = to.stored().find(key); known != to.stored().end()) return as_tensor(known->second);
  const auto within = [&](const Status& status) {
    return status.Within(fmt::format("the constant '{}'", ShortName(name)));
  };
  if (tensor.type == kString) {
    const Result<Shape> shape = CheckedShape(tensor.dims);
    if (!shape.ok()) return within(shape.status());
    if (shape->element_count() != ssize(tensor.texts))
      return within(Error(StatusCode::kMalformedInput, "{} texts of shape {}", tensor.texts.size(), shape->ToString()));
    HEARTH_ASSIGN(const std::vector<int64_t> numbers, NumbersOfTexts(reading, tensor.texts));
    HEARTH_ASSIGN(const ValueId value, to.AddIntegers(*shape, numbers));
    to.marks().texts.insert(value);
    return Tensor{.plain = value};
  }
  const int bits = NarrowBitsOf(tensor.type);
  const bool is_signed = tensor.type == kInt4 || tensor.type == kInt2;
  const std::optional<DType> computed =
      bits == 0 ? ComputedTypeOf(tensor.type) : std::optional(is_signed ? DType::kInt8 : DType::kUInt8);
  if (!computed) return within(UnknownType(tensor.type));
  const Result<Shape> shape = CheckedShape(tensor.dims);
  if (!shape.ok()) return within(shape.status());
  TensorDesc desc{*computed, *shape, std::nullopt};
  const bool is_held = tensor.type == kFloat16 && desc.size_bytes() >= 2 * kLeastStoredBytes;  // layers read halves
  if (is_held) desc.dtype = DType::kFloat16;
  const bool is_narrow = (IsNarrowFloat(tensor.type) && !is_held) || bits != 0;
  size_t needed = desc.size_bytes();
  if (is_narrow) needed = bits == 0 ? needed / 2 : (needed * static_cast<size_t>(bits) + 7) / 8;

  std::vector<std::byte> listed;
  std::span<const std::byte> bytes;
  Status status;
  if (tensor.is_external()) {
    Result<std::span<const std::byte>> external = ExternalBytes(reading, tensor, needed);
    status = external.status();
    if (external.ok()) bytes = *external;
  } else if (tensor.raw) {
    bytes = std::as_bytes(std::span(*tensor.raw));
  } else if (bytes = ListedFloats(tensor); bytes.size() != needed && needed > 0) {
    Result<std::vector<std::byte>> read = ListedBytes(tensor, needed);
    status = read.status();
    if (read.ok()) listed = *std::move(read);
    bytes = listed;
  }
  if (status.ok()) status = CheckBytes(bytes.size(), needed);
  if (!status.ok()) return within(status);

  ValueId value = kNoValue;
  Graph& graph = to.graph();
  const bool is_weight = is_held || is_narrow || desc.dtype == DType::kFloat32;
  const bool stays =
      (is_weight && needed >= kLeastStoredBytes) || (!is_narrow && needed > 0 && IsAligned(desc.dtype, bytes));
  const StoredForm form{
      {0, {{desc.shape.element_count(), 1}}}, {}, is_narrow ? FileTypeOf(tensor.type) : FileType::kSame};
  if (!reading.budget.copies.Charge(name.size())) return CopyBudget::Exceeded("the names of constants");
  if (listed.empty() && stays) {
    if (!reading.budget.ChargeStored(desc)) return ReadingBudget::TooMuchMade("a constant");
    const auto offset = static_cast<uint64_t>(bytes.data() - reading.file.data());
    Constant constant{bytes, FileRange{0, offset, bytes.size()}};
    if (is_narrow) constant.elements = std::make_shared<const StoredElements>(form, BitsOf(desc.dtype));
    value = graph.AddValue({std::move(name), desc, graph.AddConstant(std::move(constant))});
  } else {
    if (!reading.budget.ChargeMade(desc.size_bytes())) return ReadingBudget::TooMuchMade("a constant");
    OrderedBytes made{bytes};
    if (is_narrow && needed > 0) made = InForm(form, BitsOf(desc.dtype), bytes);
    value = graph.AddConstantValue(std::move(name), desc, {made.bytes.begin(), made.bytes.end()});
  }
  if (bits != 0) to.marks().narrow_integers.insert(value);
  to.stored().emplace(key, value);
  return as_tensor(value);
}

}  // namespace hearth::onnx
