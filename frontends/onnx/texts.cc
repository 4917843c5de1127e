#include "frontends/onnx/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/base/contains.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/names.h"

namespace hearth::onnx {
namespace {

constexpr std::string_view kClasses = "classlabels_strings";

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

// What the file's metadata say of `key`; empty if they say nothing.
std::string_view EntryOf(const ModelProto& model, std::string_view key) {
  const auto entry = std::ranges::find(model.metadata, key, &Pairs::value_type::first);
  return entry == model.metadata.end() ? std::string_view() : entry->second;
}

// Takes a byte, or an escape of Python's, from the beginning of a text that is not empty.
std::string TakeCharacter(std::string_view& text) {
  const char first = text[0];
  text.remove_prefix(1);
  if (first != '\\' || text.empty()) return std::string(1, first);
  const char kind = text[0];
  text.remove_prefix(1);
  const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  uint32_t code = 0;
  const char* const end = text.data() + std::min(digits, text.size());
  if (digits == 0 || std::from_chars(text.data(), end, code, 16).ptr != end)
    return std::string(1, kind == 't' || kind == 'n' || kind == 'r' ? ' ' : kind);
  text.remove_prefix(std::min(digits, text.size()));
  const auto byte = [&](uint32_t mark, int shift) { return static_cast<char>(mark | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {byte(0xc0, 6), byte(0x80, 0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), byte(0x80, 6), byte(0x80, 0)};
  return {static_cast<char>(0xf0 | (code >> 18 & 7)), byte(0x80, 12), byte(0x80, 6), byte(0x80, 0)};
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
    dict.remove_prefix(1);
    while (!dict.empty() && dict[0] != quote) name += TakeCharacter(dict);
    names.push_back(CleanName(ShortName(name)));
    if ((quote != '\'' && quote != '"') || dict.empty()) return {};
    dict.remove_prefix(1);
    if (!take(", ")) break;
  }
  return dict == "}" ? names : std::vector<std::string>();
}

}  // namespace

std::vector<std::string_view> TextsOf(const ModelProto& model) {
  std::vector<std::string_view> texts;
  std::set<std::string_view> known;
  const auto add = [&](const std::vector<std::string_view>& listed) {
    for (const std::string_view text : listed) {
      if (known.insert(text).second) texts.push_back(text);
    }
  };
  const auto add_listed = [&](const NodeProto& node, const AttributeProto& attribute) {
    if (node.domain != DomainName(kClassic)) return;
    if (attribute.name.ends_with("_strings")) add(attribute.strings);
    if (attribute.name == "default_string") add({attribute.s});
  };
  Visit(model, {.attribute = add_listed, .tensor = [&](const TensorProto& tensor) { add(tensor.texts); }});
  return texts;
}

std::vector<TensorMetadata> OutputLabels(const ModelProto& model) {
  const std::vector<std::string> texts = Cleaned(TextsOf(model));
  std::vector<std::string> names = NamesOf(EntryOf(model, "names"));
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

void ReadTask(const ModelProto& model, ModelMetadata& metadata) {
  constexpr std::string_view kTasks[] = {"detect", "segment", "pose", "obb", "classify"};
  const std::string_view task = EntryOf(model, "task");
  if (Contains(kTasks, task)) metadata.task = task;
  // "[17, 3]"
  const std::string_view points = EntryOf(model, "kpt_shape");
  const size_t comma = points.find(", ");
  if (task != "pose" || !points.starts_with('[') || !points.ends_with(']') || comma == std::string_view::npos) return;
  int32_t count = 0, numbers = 0;
  const auto reads = [&](size_t first, size_t behind, int32_t& number) {
    const auto [end, error] = std::from_chars(points.data() + first, points.data() + behind, number);
    return error == std::errc() && end == points.data() + behind;
  };
  if (!reads(1, comma, count) || !reads(comma + 2, points.size() - 1, numbers)) return;
  if (count < 1 || count > 1000 || numbers < 2 || numbers > 3) return;
  metadata.pose_points = count;
  metadata.pose_numbers = numbers;
}

}  // namespace hearth::onnx
