#include "core/plan/tuning.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

constexpr std::string_view kTitle = "tuned layers\n", kOfAll = ", of all";

std::string OperandText(const Graph& graph, ValueId value) {
  if (value == kNoValue) return "none";
  const TensorDesc& desc = graph.value(value).desc;
  return fmt::format("{}[{}]{}", DTypeName(desc.dtype), desc.shape.ToString(),
                     graph.IsConstant(value) ? " constant" : "");
}

}  // namespace

std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options) {
  std::string key = OpName(node.op);
  if (const std::string attributes = AttributesToText(node.op); !attributes.empty()) key += " " + attributes;
  key += ":";
  for (ValueId input : node.inputs) key += " " + OperandText(graph, input);
  key += " ->";
  for (ValueId output : node.outputs) key += " " + OperandText(graph, output);
  return key + fmt::format(", {}, {}", PrecisionName(options.precision),
                           AccessPathName(options.read_path.value_or(DefaultReadPath(device))));
}

std::string ToText(const TuningTable& table) {
  std::string text(kTitle);
  for (const auto& [key, tuned] : table)
    text += fmt::format("{} = {}{}\n", key, ToText(tuned.choice), tuned.of_all ? kOfAll : "");
  return text;
}

Result<TuningTable> TuningTableFromText(std::string_view text) {
  TuningTable table;
  if (!text.starts_with(kTitle)) return Error(StatusCode::kMalformedInput, "a tuning record without its title");
  text.remove_prefix(kTitle.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t equals = line.rfind(" = ");
    std::string_view choice_text = equals == std::string_view::npos ? "" : line.substr(equals + 3);
    const bool of_all = choice_text.ends_with(kOfAll);
    if (of_all) choice_text.remove_suffix(kOfAll.size());
    const auto choice = KernelChoiceFromText(choice_text);
    if (end == std::string_view::npos || !choice.has_value() || equals == 0) {
      return Error(StatusCode::kMalformedInput, "line {} of a tuning record is not a choice", table.size() + 1);
    }
    table.insert_or_assign(std::string(line.substr(0, equals)), TunedLayer{*choice, of_all});
    text.remove_prefix(end + 1);
  }
  return table;
}

}  // namespace hearth
