#include "frontends/onnx/operators.h"

#include <algorithm>

#include "core/base/error.h"

namespace hearth::onnx {

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  for (const OperatorList* list : kOperatorLists) {
    const auto found = std::ranges::find_if(
        *list, [&](const OperatorRow& row) { return row.name == name && DomainName(row.domain) == domain; });
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

int64_t OpsetOf(const OperatorSets& sets, std::string_view domain) {
  const auto set = sets.find(domain);
  if (set != sets.end()) return set->second;
  return domain.empty() ? kFirstOpset : 1;
}

Status CheckOpset(const OperatorSets& sets) {
  const int64_t opset = OpsetOf(sets, "");
  if (opset >= kFirstOpset && opset <= kLastOpset) return Status::Ok();
  return Error(StatusCode::kUnsupported,
               "an ONNX model of opset {}; {} to {} are known: convert it (onnx.version_converter.convert_version), or "
               "export it for one of these",
               opset, kFirstOpset, kLastOpset);
}

}  // namespace hearth::onnx
