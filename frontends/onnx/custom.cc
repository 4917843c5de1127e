#include "frontends/onnx/custom.h"

#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/graph/op_text.h"
#include "frontends/writer/names.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {

namespace {

// The name under which a program registers the node's operator.
std::string RegisteredName(const NodeProto& node) {
  return node.domain.empty() ? std::string(node.op_type) : fmt::format("{}::{}", node.domain, node.op_type);
}

// Old writers leave the type out: then it is that of what the attribute holds.
int32_t TypeOf(const AttributeProto& attribute) {
  const bool has_several = !attribute.ints.empty() || !attribute.floats.empty() || !attribute.strings.empty();
  if (attribute.type != kNoAttributeType || has_several || attribute.tensor || attribute.graph) return attribute.type;
  if (!attribute.s.empty()) return kTextAttribute;
  return attribute.f != 0 ? kFloatAttribute : kIntAttribute;
}

}  // namespace

const CustomOp* RegisteredOp(std::span<const CustomOp> ops, const NodeProto& node) {
  return ops.empty() ? nullptr : FindCustomOp(ops, RegisteredName(node));
}

Status NotRegistered(const NodeProto& node) {
  return Error(StatusCode::kUnsupported,
               "Hearth does not know this operator: register it as '{}' ({}), export the model without it, or fold it "
               "away (onnxsim)",
               CleanName(ShortName(RegisteredName(node))), kRegisterAdvice);
}

Results AddCustom(const OpView& view, const CustomOp& op) {
  const auto custom = std::make_shared<CustomNode>();
  custom->op = op;
  size_t bytes = 0;
  for (const AttributeProto& written : view.node().attributes) {
    const AttributeProto* given = view.Given(written);
    if (given == nullptr) continue;
    CustomAttribute& attribute = custom->attributes.emplace_back();
    attribute.name = written.name;
    attribute.ints = given->ints;
    attribute.floats = given->floats;
    attribute.texts.assign(given->strings.begin(), given->strings.end());
    const int32_t type = TypeOf(*given);
    if (type == kIntAttribute) attribute.ints = {given->i};
    if (type == kFloatAttribute) attribute.floats = {given->f};
    if (type == kTextAttribute) attribute.texts = {std::string(given->s)};
    attribute.is_list = type != kIntAttribute && type != kFloatAttribute && type != kTextAttribute;
    bytes += written.name.size() + given->s.size() + 8 * given->ints.size() + 4 * given->floats.size();
    for (const std::string_view text : given->strings) bytes += text.size();
  }
  if (!view.to().budget().copies.Charge(bytes)) return CopyBudget::Exceeded("its attributes");
  Operands operands;
  for (size_t i = 0; i < view.input_count(); ++i) operands.Append(view.Optional(i));
  if (operands.status.ok() && HaveRows(view.to(), operands.ids)) return NeedsAllRows();
  std::vector<TensorDesc> results(view.output_count(), PlainType(DType::kFloat32));
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                view.to().AddSeveral(Custom{custom}, std::move(operands), std::move(results)));
  return Plain(made);
}

}  // namespace hearth::onnx
