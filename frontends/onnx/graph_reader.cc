#include "frontends/onnx/graph_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/custom.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/names.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

// "node 'conv1' (Conv, opset 13)".
std::string NodeLabelOf(const NodeProto& node, int64_t opset) {
  const std::string domain = node.domain.empty() ? std::string() : CleanName(ShortName(node.domain)) + ".";
  const std::string_view name = node.name.empty() ? node.outputs[0] : node.name;
  return fmt::format("node '{}' ({}{}, opset {})", CleanName(ShortName(name)), domain,
                     CleanName(ShortName(node.op_type)), opset);
}

void AddOuterNames(const GraphProto& graph, std::set<std::string_view>& outer) {
  std::set<std::string_view> own;
  for (const ValueInfoProto& input : graph.inputs) own.insert(input.name);
  for (const TensorProto& tensor : graph.initializers) own.insert(tensor.name);
  const auto add = [&](std::string_view name) {
    if (!name.empty() && !own.contains(name)) outer.insert(name);
  };
  for (const NodeProto& node : graph.nodes) {
    for (const std::string_view name : node.inputs) add(name);
    for (const AttributeProto& attribute : node.attributes) {
      if (attribute.graph == nullptr) continue;
      for (const std::string_view name : OuterNames(*attribute.graph)) add(name);
    }
    own.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueInfoProto& output : graph.outputs) add(output.name);
}

// What a node reads, in its subgraphs too.
std::set<std::string_view> NamesRead(const NodeProto& node) {
  std::set<std::string_view> names(node.inputs.begin(), node.inputs.end());
  for (const AttributeProto& attribute : node.attributes) {
    if (attribute.graph != nullptr) names.merge(OuterNames(*attribute.graph));
  }
  return names;
}

// The nodes on which outputs depend: in the file's order, but for those that read what a later one makes. onnxruntime's
// quantizer writes such files.
Result<std::vector<size_t>> NodesInOrder(const GraphProto& graph, ReadingBudget& budget) {
  const std::vector<NodeProto>& nodes = graph.nodes;
  std::map<std::string_view, size_t> makers;
  std::vector<std::set<std::string_view>> reads;
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const std::string_view name : nodes[k].outputs) {
      if (!name.empty() && !makers.emplace(name, k).second)  // "" as an operand is an absent one
        return Error(StatusCode::kMalformedInput, "'{}' is made twice", CleanName(ShortName(name)));
    }
    reads.push_back(NamesRead(nodes[k]));
  }
  std::vector<bool> waits(nodes.size(), false);
  std::vector<std::string_view> needed;
  for (const ValueInfoProto& output : graph.outputs) needed.push_back(output.name);
  while (!needed.empty()) {
    const auto maker = makers.find(needed.back());
    needed.pop_back();
    if (maker == makers.end() || waits[maker->second]) continue;
    waits[maker->second] = true;
    const auto& names = reads[maker->second];
    needed.insert(needed.end(), names.begin(), names.end());
  }
  const auto is_waited_for = [&](std::string_view name) {
    const auto maker = makers.find(name);
    return maker != makers.end() && waits[maker->second];
  };
  std::vector<size_t> order;
  for (size_t before = 1; before != order.size();) {
    before = order.size();
    HEARTH_TRY(budget.ChargeSteps(nodes.size()));
    for (size_t k = 0; k < nodes.size(); ++k) {
      if (!waits[k] || std::ranges::any_of(reads[k], is_waited_for)) continue;
      order.push_back(k);
      waits[k] = false;
    }
  }
  // A ring of nodes: the first one of them says what it lacks.
  if (const auto ring = std::ranges::find(waits, true); ring != waits.end()) {
    order.push_back(static_cast<size_t>(ring - waits.begin()));
  }
  return order;
}

Result<Shape> ShapeGiven(const TensorDeclaration& declared, const std::vector<int32_t>& dims) {
  const bool is_shape = dims.size() <= Shape::kMaxRank &&
                        std::ranges::all_of(dims, [](int32_t dim) { return dim >= 0; }) &&
                        CheckedElementCount(Shape::FromSpan(dims)).has_value();
  if (!is_shape || (declared.has_shape && dims.size() != declared.shape.size())) {
    return Error(StatusCode::kInvalidArgument, "the shape {} does not fit input '{}', which the file declares as {}",
                 ShapeText(dims), declared.name, declared.has_shape ? ShapeText(declared.shape) : "of any rank");
  }
  return Shape::FromSpan(dims);
}

}  // namespace

std::set<std::string_view> OuterNames(const GraphProto& graph) {
  std::set<std::string_view> names;
  AddOuterNames(graph, names);
  return names;
}

TensorDeclaration DeclarationOf(const ValueInfoProto& info) {
  TensorDeclaration declared{.name = CleanName(info.name), .has_shape = info.dims.has_value()};
  for (const Dimension& dim : info.dims.value_or(std::vector<Dimension>())) {
    const bool is_known = dim.size >= 0 && dim.size <= std::numeric_limits<int32_t>::max();
    declared.shape.push_back(is_known ? static_cast<int32_t>(dim.size) : -1);
    declared.dimensions.push_back(CleanName(ShortName(dim.param)));
  }
  if (std::ranges::all_of(declared.dimensions, &std::string::empty)) declared.dimensions.clear();
  return declared;
}

std::vector<const ValueInfoProto*> InputsOf(const GraphProto& graph) {
  std::set<std::string_view> known;
  for (const TensorProto& tensor : graph.initializers) known.insert(tensor.name);
  std::vector<const ValueInfoProto*> inputs;
  for (const ValueInfoProto& input : graph.inputs) {
    if (!known.contains(input.name)) inputs.push_back(&input);
  }
  return inputs;
}

Result<std::map<std::string_view, int32_t>> NamedDimensions(const GraphProto& graph, const ReadOptions& options) {
  std::map<std::string_view, int32_t> sizes;
  for (const ValueInfoProto* input : InputsOf(graph)) {
    const auto given = options.input_shapes.find(CleanName(input->name));
    if (given == options.input_shapes.end() || !input->dims) continue;
    for (size_t d = 0; d < std::min(input->dims->size(), given->second.size()); ++d) {
      const Dimension& dim = (*input->dims)[d];
      if (dim.size >= 0 || dim.param.empty() || dim.param == "?") continue;
      const auto [known, is_new] = sizes.emplace(dim.param, given->second[d]);
      if (is_new || known->second == given->second[d]) continue;
      return Error(StatusCode::kInvalidArgument, "the shapes give dimension '{}' the sizes {} and {}",
                   CleanName(ShortName(dim.param)), known->second, given->second[d]);
    }
  }
  std::set<std::string> names;
  for (const ValueInfoProto& input : graph.inputs) {
    for (const Dimension& dim : input.dims.value_or(std::vector<Dimension>())) {
      if (dim.size >= 0 || dim.param.empty()) continue;
      const std::string name = CleanName(dim.param);
      names.insert(fmt::format("'{}'", ShortName(name)));
      if (const auto chosen = options.dimensions.find(name); chosen != options.dimensions.end()) {
        sizes.emplace(dim.param, chosen->second);
      }
    }
  }
  for (const auto& [name, size] : options.dimensions) {
    if (names.contains(fmt::format("'{}'", ShortName(name)))) continue;
    return Error(StatusCode::kInvalidArgument, "no open dimension of an input is called '{}'; there {}", name,
                 names.empty() ? "is none with a name" : fmt::format("are {}", fmt::join(names, ", ")));
  }
  return sizes;
}

Status GraphReader::AddInputs(const GraphProto& graph) {
  auto given = reading().options.input_shapes;
  auto constants = reading().options.constants;
  if (!given.empty() || !reading().options.dimensions.empty()) to().RequireShapes();
  HEARTH_ASSIGN(const auto sizes, NamedDimensions(graph, reading().options));
  std::string names;
  for (const ValueInfoProto* input : InputsOf(graph)) {
    const TensorDeclaration declared = DeclarationOf(*input);
    const std::string label = fmt::format("input '{}'", ShortName(declared.name));
    if (!input->is_tensor)
      return Error(StatusCode::kUnsupported, "{} is no tensor, but a sequence, map or optional", label);
    const std::optional<DType> type = InterfaceTypeOf(input->type);
    if (!type) return UnknownType(input->type).Within(label);
    if (declared.shape.size() > Shape::kMaxRank)
      return Error(StatusCode::kUnsupported, "{}: rank {}", label, declared.shape.size());
    if (!reading().budget.copies.Charge(declared.name.size())) return CopyBudget::Exceeded(label);
    for (const Dimension& dim : input->dims.value_or(std::vector<Dimension>())) {
      if (dim.size > std::numeric_limits<int32_t>::max())
        return Error(StatusCode::kUnsupported, "{}: a dimension of {}", label, dim.size);
    }
    std::vector<int32_t> dims = declared.shape;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] >= 0) continue;
      const auto named = sizes.find((*input->dims)[d].param);
      dims[d] = named == sizes.end() ? 1 : named->second;
    }
    TensorDesc desc{*type, Shape::FromSpan(dims), std::nullopt};
    const auto shape = given.extract(declared.name);
    const auto fixed = constants.extract(declared.name);
    if (!shape.empty() && !fixed.empty())
      return Error(StatusCode::kInvalidArgument, "{} is given a shape and a content", label);
    if (!shape.empty()) {
      HEARTH_ASSIGN(desc.shape, ShapeGiven(declared, shape.mapped()));
    } else if (!fixed.empty() && !fixed.mapped().shape.empty()) {
      HEARTH_ASSIGN(desc.shape, ShapeGiven(declared, fixed.mapped().shape));
    }
    if (!CheckedElementCount(desc.shape)) return Error(StatusCode::kMalformedInput, "{}: too many elements", label);
    if (names.size() < 1000) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", declared.name);
    HEARTH_ASSIGN(ValueId value, fixed.empty() ? Made(to().AddInput(declared.name, desc))
                                               : to().AddFixedInput(declared.name, desc, fixed.mapped()));
    if (to().IsEmpty(value)) value = to().graph().AddConstantValue(declared.name, desc, {});
    // Devices compute with float32.
    HEARTH_ASSIGN(value, *type == DType::kFloat16 ? to().AddCast(value, DType::kFloat32) : Made(value));
    Bind(input->name, {.plain = value});
  }
  if (given.empty() && constants.empty()) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "a {} was given for '{}', which is not an input of the model; it has {}",
               given.empty() ? "content" : "shape", given.empty() ? constants.begin()->first : given.begin()->first,
               names.empty() ? "none" : names);
}

Status GraphReader::ReadNodes(const std::vector<NodeProto>& nodes) {
  for (const NodeProto& node : nodes) HEARTH_TRY(ReadNode(node));
  return Status::Ok();
}

Status GraphReader::ReadNode(const NodeProto& node) {
  if (node.outputs.empty()) return Status::Ok();  // nothing can read what it makes
  const int64_t opset = OpsetOf(sets(), node.domain);
  const OperatorRow* row = FindOperator(node.domain, node.op_type);
  OpView view(*this, node, row, opset);
  to().origin().name = row == nullptr ? std::string_view("function") : row->name;
  const size_t first_value = to().graph().values().size(), first_node = to().graph().nodes().size();
  Results made = MakeNode(view);
  if (made.ok() && !view.misread().ok()) made = view.misread();
  if (Status kept = KeepRows(to(), first_node); made.ok() && !kept.ok()) made = kept;
  if (!made.ok()) return made.status().Within(NodeLabelOf(node, opset));
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (k >= made->size() || !(*made)[k].is_made()) {
      return Error(StatusCode::kUnsupported, "its output {} is not made", k).Within(NodeLabelOf(node, opset));
    }
    if (Has(node.outputs[k])) {
      return Error(StatusCode::kMalformedInput, "'{}' is made twice", CleanName(ShortName(node.outputs[k])))
          .Within(NodeLabelOf(node, opset));
    }
    Bind(node.outputs[k], (*made)[k]);
  }
  NameValues(node, *made, first_value);
  return Status::Ok();
}

Results GraphReader::MakeNode(OpView& view) {
  const NodeProto& node = view.node();
  size_t steps = 1 + node.inputs.size() + node.outputs.size();
  for (const AttributeProto& attribute : node.attributes) {
    steps += 1 + attribute.ints.size() + attribute.floats.size() + attribute.strings.size();
  }
  HEARTH_TRY(reading().budget.ChargeSteps(steps));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (view.Has(i)) HEARTH_TRY(Read(node.inputs[i]).status());
  }
  const CustomOp* custom = RegisteredOp(reading().options.custom_ops, node);
  if (custom != nullptr) return AddCustom(view, *custom);
  // A file's own functions come before operators of the same name.
  const auto function = reading().functions.find({node.domain, node.op_type, node.overload});
  if (function != reading().functions.end()) return CallFunction(view, *function->second);
  if (view.known() == nullptr) return NotRegistered(node);
  return ReadKnownCentered(view, view.to());
}

Results GraphReader::CallFunction(const OpView& view, const FunctionProto& function) {
  if (reading().levels >= kMostLevels) {
    return Error(StatusCode::kUnsupported, "functions and subgraphs are nested more than {} deep", kMostLevels);
  }
  HEARTH_TRY(CheckOpset(function.sets));
  HEARTH_TRY(reading().budget.ChargeCall(static_cast<int64_t>(function.nodes.size()) + 1));
  HEARTH_TRY(reading().budget.ChargeSteps(function.inputs.size() + function.outputs.size() + function.defaults.size()));
  Attributes attributes;
  for (const AttributeProto& attribute : function.defaults) attributes.insert_or_assign(attribute.name, &attribute);
  for (const AttributeProto& attribute : view.node().attributes) {
    if (const AttributeProto* given = view.Given(attribute)) attributes.insert_or_assign(attribute.name, given);
  }
  std::vector<Tensor> inputs;
  for (const std::string_view name : view.node().inputs) {
    const Tensor* tensor = name.empty() || IsAbsent(name) ? nullptr : Find(name);
    inputs.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  const Origin origin = to().origin();
  ++reading().levels;
  Results made = GraphReader(reading(), to(), function.sets, nullptr, &attributes).ReadFunction(function, inputs);
  --reading().levels;
  to().origin() = origin;
  return made;
}

Results GraphReader::ReadFunction(const FunctionProto& function, const std::vector<Tensor>& inputs) {
  for (size_t k = 0; k < std::min(inputs.size(), function.inputs.size()); ++k) {
    if (inputs[k].is_made()) Bind(function.inputs[k], inputs[k]);
  }
  for (const std::string_view name : function.inputs) {
    if (!Has(name)) SetAbsent(name);
  }
  HEARTH_TRY(ReadNodes(function.nodes));
  std::vector<Tensor> outputs;
  for (const std::string_view name : function.outputs) {
    const Tensor* tensor = Find(name);
    outputs.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  return outputs;
}

// Gives values that a node made the names of its outputs, so that reports show those.
void GraphReader::NameValues(const NodeProto& node, const std::vector<Tensor>& made, size_t first_value) {
  for (size_t k = 0; k < std::min(node.outputs.size(), made.size()); ++k) {
    for (const ValueId value : {made[k].plain, made[k].last}) {
      if (value == kNoValue || static_cast<size_t>(value) < first_value || node.outputs[k].empty()) continue;
      if (!reading().budget.copies.Charge(node.outputs[k].size())) return;
      to().graph().value(value).name = CleanName(node.outputs[k]);
    }
  }
}

Status GraphReader::ReadOutputs(const GraphProto& graph) {
  if (graph.outputs.empty()) return Error(StatusCode::kMalformedInput, "the model has no outputs");
  const size_t first_node = to().graph().nodes().size();
  for (const ValueInfoProto& output : graph.outputs) {
    const std::string name = CleanName(output.name);
    Made read = ValueOf(output.name);
    if (!read.ok()) return read.status().Within(fmt::format("output '{}'", ShortName(name)));
    const std::optional<DType> type = TypeOfOutput(to(), *read, output.type);
    if (!type) return UnknownType(output.type).Within(fmt::format("output '{}'", ShortName(name)));
    const DType made = to().desc(*read).dtype;  // narrow real numbers are calculated as float32
    if (IsFloat(made) != IsFloat(*type)) {
      return Error(StatusCode::kMalformedInput, "output '{}' is declared as {}, but its node makes {}", ShortName(name),
                   DTypeName(*type), DTypeName(made));
    }
    HEARTH_ASSIGN(ValueId value, to().AddCast(read, *type));
    Graph& written = to().graph();
    if (!reading().budget.copies.Charge(name.size())) return CopyBudget::Exceeded("the names of outputs");
    if (to().IsEmpty(value)) {
      value = written.AddConstantValue(name, to().desc(value), {});
      if (HaveRows(to(), {&*read, 1})) to().marks().open.emplace(value, to().marks().OpenOf(*read));
    } else if (to().ProducerOf(value) == nullptr || written.IsOutput(value)) {
      HEARTH_ASSIGN(value, to().AddCopy(value, name));
    } else {
      written.value(value).name = name;
    }
    written.outputs.push_back(value);
  }
  return KeepRows(to(), first_node);
}

Status GraphReader::ReadModel(const GraphProto& graph) {
  HEARTH_TRY(AddInitializers(graph));
  HEARTH_TRY(AddInputs(graph));
  HEARTH_ASSIGN(const std::vector<size_t> order, NodesInOrder(graph, reading().budget));
  for (const size_t k : order) {
    to().origin().source_index = static_cast<int32_t>(k);
    HEARTH_TRY(ReadNode(graph.nodes[k]));
  }
  HEARTH_TRY(ReadOutputs(graph));
  to().graph().name = CleanName(graph.name);
  to().graph().source_operator_count = static_cast<int32_t>(graph.nodes.size());
  return to().Finish();
}

Results GraphReader::ReadSubgraph(const GraphProto& graph, std::span<const Tensor> inputs) {
  if (reading().levels >= kMostLevels) {
    return Error(StatusCode::kUnsupported, "functions and subgraphs are nested more than {} deep", kMostLevels);
  }
  HEARTH_TRY(reading().budget.ChargeCall(static_cast<int64_t>(graph.nodes.size()) + 1));
  HEARTH_TRY(reading().budget.ChargeSteps(graph.initializers.size() + graph.inputs.size() + graph.outputs.size()));
  HEARTH_TRY(AddInitializers(graph));
  if (inputs.size() != graph.inputs.size()) {
    return Error(StatusCode::kMalformedInput, "its subgraph takes {} inputs, {} are given", graph.inputs.size(),
                 inputs.size());
  }
  for (size_t k = 0; k < inputs.size(); ++k) Bind(graph.inputs[k].name, inputs[k]);
  const Origin origin = to().origin();
  ++reading().levels;
  const Status read = ReadNodes(graph.nodes);
  --reading().levels;
  to().origin() = origin;
  HEARTH_TRY(read);
  std::vector<Tensor> outputs;
  for (const ValueInfoProto& output : graph.outputs) {
    HEARTH_ASSIGN(const Tensor* made, Read(output.name));
    if (!made->list) HEARTH_TRY(ValueOf(output.name).status());
    outputs.push_back(*made);
  }
  return outputs;
}

}  // namespace hearth::onnx
