#include "frontends/onnx/op_view.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "core/graph/evaluate.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
bool OpView::Has(size_t i) const {
  return i < node_.inputs.size() && !node_.inputs[i].empty() && !scope_.IsAbsent(node_.inputs[i]);
}

Tensor* OpView::Find(size_t i) const {
  return Has(i) ? scope_.Find(node_.inputs[i]) : nullptr;
}

Made OpView::In(size_t i, Order order) const {
  Tensor* tensor = Find(i);
  if (tensor == nullptr || tensor->value() == kNoValue) {
    if (!Has(i)) return Error(StatusCode::kMalformedInput, "its operand {} is absent", i);
    HEARTH_ASSIGN(const ValueId added, scope_.ValueOf(node_.inputs[i]));
    static_cast<void>(added);
    tensor = Find(i);
  }
  const bool has_orders = to().shape(tensor->value()).rank() >= 3;
  ValueId& wanted = order == Order::kLast && has_orders ? tensor->last : tensor->plain;
  if (wanted != kNoValue) return wanted;
  const Order other = order == Order::kLast ? Order::kPlain : Order::kLast;
  const size_t first_node = to().graph().nodes().size();
  HEARTH_ASSIGN(wanted, ToOrder(to(), other == Order::kPlain ? tensor->plain : tensor->last, other, order));
  HEARTH_TRY(KeepRows(to(), first_node));  // before the operator's reader looks
  return wanted;
}

Made OpView::Weights(size_t i) const {
  if (!Has(i)) return In(i);
  HEARTH_ASSIGN(const Tensor* tensor, scope_.Read(node_.inputs[i]));
  const bool is_stored = tensor->stored != kNoValue && BlocksOf(to().desc(tensor->stored)) == nullptr;
  return is_stored ? Made(tensor->stored) : In(i);
}

ValueId OpView::BlockedLayer(size_t i, bool has_rows) const {
  const Tensor* tensor = Find(i);
  if (tensor == nullptr || !has_rows) return tensor == nullptr ? kNoValue : tensor->turned;
  return tensor->stored != kNoValue && BlocksOf(to().desc(tensor->stored)) != nullptr ? tensor->stored : kNoValue;
}

std::shared_ptr<const std::vector<ValueId>> OpView::List(size_t i) const {
  const Tensor* tensor = Find(i);
  return tensor == nullptr ? nullptr : tensor->list;
}

Order OpView::OrderOf(size_t i) const {
  const Tensor* tensor = Find(i);
  return tensor == nullptr ? Order::kPlain : tensor->order();
}

Order OpView::CommonOrder(size_t first, size_t count) const {
  int rank = 0, last_rank = -1;
  for (size_t i = first; i < first + count; ++i) {
    const Result<TensorDesc> desc = Desc(i);
    if (!desc.ok()) continue;
    rank = std::max(rank, desc->shape.rank());
    if (OrderOf(i) == Order::kLast) last_rank = std::max(last_rank, desc->shape.rank());
  }
  return last_rank == rank ? Order::kLast : Order::kPlain;
}

Made OpView::Broadcastable(size_t i, int rank, Order order) const {
  HEARTH_ASSIGN(const TensorDesc desc, Desc(i));
  const int missing = rank - desc.shape.rank();
  if (order == Order::kPlain || missing <= 0) return In(i, order);
  if (desc.shape.element_count() == 1) return In(i);
  std::vector<int32_t> dims(static_cast<size_t>(missing), 1);
  dims.insert(dims.end(), desc.shape.dims().begin(), desc.shape.dims().end());
  HEARTH_ASSIGN(const ValueId widened, to().AddReshape(In(i), Shape::FromSpan(dims)));
  return ToOrder(to(), widened, Order::kPlain, order);
}

Result<Aligned> Align(const OpView& op, size_t first, size_t count) {
  Aligned aligned{op.CommonOrder(first, count), {}};
  int rank = 0;
  for (size_t i = first; i < first + count; ++i) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    rank = std::max(rank, desc.shape.rank());
  }
  for (size_t i = first; i < first + count; ++i) {
    HEARTH_ASSIGN(const ValueId value, op.Broadcastable(i, rank, aligned.order));
    aligned.values.push_back(value);
  }
  return aligned;
}

Result<Shape> OpView::ShapeOf(size_t i) const {
  if (Has(i)) {
    HEARTH_ASSIGN(const Tensor* tensor, scope_.Read(node_.inputs[i]));
    if (tensor->value() == kNoValue && tensor->stored != kNoValue) return to().shape(tensor->stored);
  }
  HEARTH_ASSIGN(const TensorDesc desc, Desc(i));
  return desc.shape;
}

Result<TensorDesc> OpView::Desc(size_t i) const {
  if (OrderOf(i) == Order::kPlain) {
    HEARTH_ASSIGN(const ValueId value, In(i));
    return to().desc(value);
  }
  TensorDesc desc = to().desc(Find(i)->last);
  desc.shape = PlainShape(desc.shape);
  return desc;
}

Result<std::vector<int64_t>> OpView::Numbers(size_t i) const {
  HEARTH_ASSIGN(const ValueId value, In(i));
  return to().Integers(value);
}

Result<std::optional<std::vector<int64_t>>> OpView::NumbersOr(size_t i, std::string_view attribute) const {
  if (Has(i)) {
    HEARTH_ASSIGN(std::vector<int64_t> numbers, Numbers(i));
    return std::optional(std::move(numbers));
  }
  const AttributeProto* found = Find(attribute);
  return found == nullptr ? std::nullopt : std::optional(found->ints);
}

Result<int64_t> OpView::Integer(size_t i) const {
  HEARTH_ASSIGN(const std::vector<int64_t> numbers, Numbers(i));
  if (numbers.size() == 1) return numbers[0];
  return Error(StatusCode::kMalformedInput, "its operand {} has {} numbers where one belongs", i, numbers.size());
}

Result<double> OpView::Number(size_t i) const {
  HEARTH_ASSIGN(const ValueId value, In(i));
  return to().Number(value);
}

Result<std::vector<float>> OpView::Floats(size_t i) const {
  HEARTH_ASSIGN(const ValueId value, Optional(i));
  if (value == kNoValue) return std::vector<float>();
  if (to().IsConstant(value)) return ConstantAsFloats(to().graph(), value);
  return Error(StatusCode::kUnsupported, "its operand {}{}", i, to().ComputedFrom(value));
}

bool OpView::IsConstant(size_t i) const {
  const Made value = Has(i) && OrderOf(i) == Order::kPlain ? In(i) : Made(kNoValue);
  return value.ok() && to().IsConstant(*value);
}

bool OpView::HasOpenRows(size_t i) const {
  const Tensor* tensor = Find(i);
  if (tensor == nullptr || tensor->value() == kNoValue) return false;  // a constant that no other node has read
  const ValueId value = tensor->value();
  return HaveRows(to(), {&value, 1});
}

const AttributeProto* OpView::Find(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &AttributeProto::name);
  return found == node_.attributes.end() ? nullptr : Given(*found);
}

const AttributeProto* OpView::Given(const AttributeProto& attribute) const {
  if (attribute.reference.empty()) return &attribute;
  if (scope_.attributes() == nullptr) return nullptr;
  const auto given = scope_.attributes()->find(attribute.reference);
  return given == scope_.attributes()->end() ? nullptr : given->second;
}

const AttributeProto* OpView::FindOf(AttributeType type, std::string_view name) const {
  const AttributeProto* found = Find(name);
  if (found == nullptr || found->type == type || found->type == kNoAttributeType) return found;
  misread_ = Error(StatusCode::kMalformedInput, "attribute '{}' has type {}, not {}", name, found->type,
                   static_cast<int32_t>(type));
  return nullptr;
}

int64_t OpView::Int(std::string_view name, int64_t otherwise) const {
  const AttributeProto* found = FindOf(kIntAttribute, name);
  return found == nullptr ? otherwise : found->i;
}
Result<bool> OpView::Flag(std::string_view name) const {
  const int64_t number = Int(name, 0);
  if (number == 0 || number == 1) return number == 1;
  return Error(StatusCode::kMalformedInput, "{}={}", name, number);
}
double OpView::Float(std::string_view name, double otherwise) const {
  const AttributeProto* found = FindOf(kFloatAttribute, name);
  return found == nullptr ? otherwise : static_cast<double>(found->f);
}
std::string_view OpView::Text(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* found = FindOf(kTextAttribute, name);
  return found == nullptr ? otherwise : found->s;
}

Result<size_t> OpView::Choice(std::string_view name, std::initializer_list<std::string_view> choices, StatusCode code,
                              std::string_view what) const {
  const std::string_view text = Text(name, *choices.begin());
  const auto* const found = std::ranges::find(choices, text);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  return Error(code, "the {} '{}'", what.empty() ? name : what, text.substr(0, 40));
}

std::vector<int64_t> OpView::Ints(std::string_view name, std::vector<int64_t> otherwise) const {
  const AttributeProto* found = FindOf(kIntsAttribute, name);
  return found == nullptr ? std::move(otherwise) : found->ints;
}

std::vector<float> OpView::Reals(std::string_view name) const {
  const AttributeProto* found = FindOf(kFloatsAttribute, name);
  return found == nullptr ? std::vector<float>() : found->floats;
}
std::vector<std::string_view> OpView::Texts(std::string_view name) const {
  const AttributeProto* found = FindOf(kTextsAttribute, name);
  return found == nullptr ? std::vector<std::string_view>() : found->strings;
}
const TensorProto* OpView::TensorOf(std::string_view name) const {
  const AttributeProto* found = FindOf(kTensorAttribute, name);
  return found == nullptr ? nullptr : found->tensor.get();
}

Results OpView::Read() {
  static constexpr std::string_view kMoves[] = {"ArrayFeatureExtractor",
                                                "Cast",
                                                "Concat",
                                                "Expand",
                                                "Flatten",
                                                "Gather",
                                                "GatherElements",
                                                "GatherND",
                                                "Identity",
                                                "If",
                                                "Reshape",
                                                "Slice",
                                                "Split",
                                                "Squeeze",
                                                "Tile",
                                                "Transpose",
                                                "Unsqueeze",
                                                "Where"};
  static constexpr std::string_view kCompares[] = {"Equal", "LabelEncoder", "OneHotEncoder", "Shape", "Size"};
  const auto is_among = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, row_->name) != names.end();
  };
  const bool has_texts = HasMarked(to().marks().texts), moves = has_texts && is_among(kMoves);
  if (has_texts && !moves && !is_among(kCompares))
    return Error(StatusCode::kUnsupported, "an operand that holds texts");
  const bool has_narrow = HasMarked(to().marks().narrow_integers);
  Results made = row_->read(*this, to());
  for (size_t k = 0; made.ok() && k < made->size(); ++k) {
    std::vector<ValueId> values = {(*made)[k].plain, (*made)[k].last};
    if ((*made)[k].list) values.insert(values.end(), (*made)[k].list->begin(), (*made)[k].list->end());
    for (const ValueId value : values) {
      const DType dtype = value == kNoValue ? DType::kFloat32 : to().desc(value).dtype;
      if (has_narrow && (dtype == DType::kInt8 || dtype == DType::kUInt8)) to().marks().narrow_integers.insert(value);
      if (moves && dtype == DType::kInt64) to().marks().texts.insert(value);
    }
  }
  return made;
}

bool OpView::HasMarked(const std::set<ValueId>& marked) const {
  for (size_t i = 0; !marked.empty() && i < input_count(); ++i) {
    const Tensor* tensor = Has(i) ? Find(i) : nullptr;
    if (tensor != nullptr && (marked.contains(tensor->plain) || marked.contains(tensor->last))) return true;
  }
  return false;
}

Result<int> OpView::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return Error(StatusCode::kMalformedInput, "axis {} lies outside of rank {}", axis, rank);
}

}  // namespace hearth::onnx
