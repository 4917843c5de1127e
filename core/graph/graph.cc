#include "core/graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/contains.h"

namespace hearth {

Graph Graph::Clone() const {
  Graph copy;
  copy.name = name;
  copy.inputs = inputs;
  copy.outputs = outputs;
  copy.states = states;
  copy.shape_inputs = shape_inputs;
  copy.source_operator_count = source_operator_count;
  copy.values_ = values_;
  copy.constants_ = constants_;
  copy.owned_bytes_ = owned_bytes_;
  copy.room_bytes_ = room_bytes_;
  copy.nodes_ = nodes_;
  for (Constant& constant : copy.constants_) constant.was_read = {};
  return copy;
}

ValueId Graph::AddValue(Value value) {
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::AddConstantValue(std::string name, TensorDesc desc, std::vector<std::byte> bytes) {
  const ConstantId constant = BorrowConstant(Own(std::move(bytes)), std::nullopt);
  return AddValue({.name = std::move(name), .desc = std::move(desc), .constant = constant});
}

void Graph::MakeConstant(ValueId id, std::vector<std::byte> bytes) {
  values_[id].constant = BorrowConstant(Own(std::move(bytes)), std::nullopt);
}

std::span<const std::byte> Graph::Own(std::vector<std::byte> bytes) {
  room_bytes_ -= std::min(room_bytes_, bytes.size());
  return *owned_bytes_.emplace_back(std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
}

size_t Graph::ConstantsSizeBytes() const {
  size_t sum = 0;
  for (const Constant& constant : constants_) sum += constant.bytes.size();
  return sum;
}

void Graph::DropUnusedConstants() {
  std::vector<bool> is_used(constants_.size());  // or lies in a file, where it takes no memory
  for (size_t k = 0; k < constants_.size(); ++k) is_used[k] = constants_[k].source.has_value();
  const auto use = [&](ValueId id) {
    if (IsConstant(id)) is_used[static_cast<size_t>(*values_[id].constant)] = true;
  };
  for (const Node& node : nodes_) std::ranges::for_each(node.inputs, use);
  std::ranges::for_each(outputs, use);
  std::set<const std::byte*> used;
  for (size_t k = 0; k < constants_.size(); ++k) {
    if (is_used[k]) used.insert(constants_[k].bytes.data());
  }
  const auto is_unused = [&](const std::shared_ptr<const std::vector<std::byte>>& owned) {
    const auto first = used.lower_bound(owned->data());
    return first == used.end() || *first >= owned->data() + owned->size();
  };
  std::erase_if(owned_bytes_, is_unused);
  for (Value& value : values_) {
    if (value.constant && !is_used[static_cast<size_t>(*value.constant)]) value.constant.reset();
  }
  for (size_t k = 0; k < constants_.size(); ++k) {
    if (!is_used[k]) constants_[k] = {};
    if (auto& own = constants_[k].elements; own != nullptr)
      own = std::make_shared<const StoredElements>(own->form(), own->bits());
  }
}

ValueId Graph::AddFloatConstant(std::string name, const Shape& shape, std::span<const float> data) {
  const std::span<const std::byte> bytes = std::as_bytes(data);
  return AddConstantValue(std::move(name), {.dtype = DType::kFloat32, .shape = shape}, {bytes.begin(), bytes.end()});
}

ConstantId Graph::AddConstant(Constant constant) {
  constants_.push_back(std::move(constant));
  return static_cast<ConstantId>(constants_.size() - 1);
}

std::optional<ConstantId> Graph::AddInForm(ValueId id, const StoredForm& form, int64_t bits) {
  constexpr size_t kLeastBytes = 256;
  const Constant& constant = constants_[*values_[id].constant];
  const bool is_large = constant.source && constant.bytes.size() >= kLeastBytes;
  if (!is_large || !CheckForm(form, bits, constant.bytes.size()).ok()) return std::nullopt;
  return AddConstant({constant.bytes, constant.source, {}, std::make_shared<const StoredElements>(form, bits)});
}

StoredForm Graph::FormOf(ValueId id) const {
  const std::shared_ptr<const StoredElements>& elements = constants_[*values_[id].constant].elements;
  return elements == nullptr ? StoredForm{{0, {{values_[id].desc.shape.element_count(), 1}}}} : elements->form();
}

std::optional<ConstantId> Graph::AddReordered(ValueId id, const StridedView& view) {
  StoredForm form = FormOf(id);
  const bool is_in_order = constants_[*values_[id].constant].elements == nullptr;
  const auto stored = is_in_order ? Simplified(view) : Composed(view, form.view);
  if (!form.factors.empty() || !stored) return std::nullopt;
  form.view = *stored;
  return AddInForm(id, form, BitsOf(values_[id].desc.dtype));
}

std::optional<ConstantId> Graph::AddOf4Bits(ValueId id) {
  const StoredForm form = FormOf(id);
  const bool has_nibbles = form.type == FileType::kInt4 || form.type == FileType::kUInt4;
  const Constant& constant = constants_[*values_[id].constant];
  if (has_nibbles && Simplified(form.view).is_identity()) return AddConstant({constant.bytes, constant.source});
  return AddInForm(id, form, 4);
}

std::optional<ConstantId> Graph::AddScaled(ValueId id, StoredForm::Factors factors) {
  StoredForm form = FormOf(id);
  form.factors.push_back(std::move(factors));
  return AddInForm(id, form, BitsOf(values_[id].desc.dtype));
}

Node& Graph::AddNode(Node node) {
  return nodes_.emplace_back(std::move(node));
}

bool Graph::IsOutput(ValueId id) const {
  return Contains(outputs, id);
}

bool Graph::IsState(ValueId id) const {
  return std::any_of(states.begin(), states.end(), [&](const StatePair& state) { return state.read == id; });
}

bool Graph::IsKept(ValueId id) const {
  return IsOutput(id) ||
         std::any_of(states.begin(), states.end(), [&](const StatePair& state) { return state.written == id; });
}

int Graph::ProducerOf(ValueId id) const {
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) { return Contains(node.outputs, id); });
  return found == nodes_.end() ? -1 : static_cast<int>(found - nodes_.begin());
}

std::vector<int> Graph::Producers() const {
  std::vector<int> producers(values_.size(), -1);
  for (size_t index = 0; index < nodes_.size(); ++index) {
    for (ValueId output : nodes_[index].outputs) producers[output] = static_cast<int>(index);
  }
  return producers;
}

std::vector<int> Graph::ReadCounts() const {
  std::vector<int> reads(values_.size(), 0);
  for (const Node& node : nodes_) {
    for (ValueId input : Present(node.inputs)) ++reads[input];
  }
  return reads;
}

}  // namespace hearth
