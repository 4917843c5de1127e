#include "frontends/onnx/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/operators.h"
#include "frontends/writer/names.h"

namespace hearth::onnx {
namespace {

constexpr std::string_view kClasses = "classlabels_strings";

class TextCollector {
 public:
  void Add(const GraphProto& graph) {
    Add(graph.nodes);
    for (const TensorProto& tensor : graph.initializers) AddTexts(tensor.texts);
  }
  void Add(const std::vector<NodeProto>& nodes) {
    for (const NodeProto& node : nodes) {
      for (const AttributeProto& attribute : node.attributes) {
        if (node.domain == DomainName(kClassic) && attribute.name.ends_with("_strings")) AddTexts(attribute.strings);
        if (node.domain == DomainName(kClassic) && attribute.name == "default_string") AddTexts({attribute.s});
        if (attribute.tensor != nullptr) AddTexts(attribute.tensor->texts);
        if (attribute.graph != nullptr) Add(*attribute.graph);
      }
    }
  }
  std::vector<std::string_view> TakeTexts() { return std::move(texts_); }

 private:
  void AddTexts(const std::vector<std::string_view>& texts) {
    for (const std::string_view text : texts) {
      if (known_.insert(text).second) texts_.push_back(text);
    }
  }

  std::vector<std::string_view> texts_;
  std::set<std::string_view> known_;
};

std::vector<std::string> Cleaned(const std::vector<std::string_view>& texts) {
  std::vector<std::string> made;
  made.reserve(texts.size());
  for (const std::string_view text : texts) made.push_back(CleanName(ShortName(text)));
  return made;
}

// The classes whose scores a node's result is, perhaps behind others that keep them in order.
std::vector<std::string> ClassesBehind(const std::map<std::string_view, const NodeProto*>& makers,
                                       std::string_view result) {
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto maker = makers.find(result);
    if (maker == makers.end()) return {};
    const NodeProto& node = *maker->second;
    const auto classes = std::ranges::find(node.attributes, kClasses, &AttributeProto::name);
    if (classes != node.attributes.end()) return Cleaned(classes->strings);
    if (node.inputs.size() != 1) return {};
    result = node.inputs[0];
  }
  return {};
}

// "{0: 'person', 1: 'traffic light'}", a Python dict by class, as YOLO's exporter (ultralytics) writes it. None if it
// is anything else.
std::vector<std::string> NamesOf(std::string_view dict) {
  std::vector<std::string> names;
  const auto take = [&dict](std::string_view wanted) {
    const bool is_next = dict.starts_with(wanted);
    if (is_next) dict.remove_prefix(wanted.size());
    return is_next;
  };
  if (!take("{")) return {};
  while (take(fmt::format("{}: ", names.size())) && !dict.empty()) {
    const char quote = dict[0];
    std::string name;
    for (dict.remove_prefix(1); !dict.empty() && dict[0] != quote; dict.remove_prefix(1)) {
      if (dict[0] == '\\' && dict.size() > 1) dict.remove_prefix(1);
      name += dict[0];
    }
    names.push_back(CleanName(ShortName(name)));
    if ((quote != '\'' && quote != '"') || dict.empty()) return {};
    dict.remove_prefix(1);
    if (!take(", ")) break;
  }
  return dict == "}" ? names : std::vector<std::string>();
}

}  // namespace

std::vector<std::string_view> TextsOf(const ModelProto& model) {
  TextCollector collector;
  if (model.graph) collector.Add(*model.graph);
  for (const FunctionProto& function : model.functions) collector.Add(function.nodes);
  return collector.TakeTexts();
}

std::vector<TensorMetadata> OutputLabels(const ModelProto& model) {
  const std::vector<std::string> texts = Cleaned(TextsOf(model));
  const auto dict = std::ranges::find(model.metadata, "names", &Pairs::value_type::first);
  std::vector<std::string> names;
  if (dict != model.metadata.end()) names = NamesOf(dict->second);
  if (texts.empty() && names.empty()) return {};
  std::map<std::string_view, const NodeProto*> makers;
  for (const NodeProto& node : model.graph->nodes) {
    for (const std::string_view output : node.outputs) makers.emplace(output, &node);
  }
  std::vector<TensorMetadata> outputs;
  for (const ValueInfoProto& output : model.graph->outputs) {
    TensorMetadata& made = outputs.emplace_back();
    made.name = CleanName(output.name);
    if (output.type == kString) {
      made.value_labels = texts;
    } else {
      made.axis_labels = ClassesBehind(makers, output.name);
    }
  }
  if (!outputs.empty() && outputs[0].axis_labels.empty()) outputs[0].axis_labels = std::move(names);
  return outputs;
}

}  // namespace hearth::onnx
