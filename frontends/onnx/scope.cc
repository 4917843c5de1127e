#include "frontends/onnx/scope.h"

#include "core/base/error.h"
#include "frontends/writer/names.h"

namespace hearth::onnx {

Tensor* Scope::Find(std::string_view name) {
  if (const auto found = names_.find(name); found != names_.end()) return &found->second;
  if (initializers_.contains(name)) return nullptr;
  return outer_ == nullptr ? nullptr : outer_->Find(name);
}

Result<Tensor*> Scope::Read(std::string_view name) {
  if (Tensor* tensor = Find(name); tensor != nullptr) return tensor;
  const auto constant = initializers_.find(name);
  if (constant == initializers_.end()) {
    if (outer_ != nullptr) return outer_->Read(name);
    return Error(StatusCode::kMalformedInput, "'{}' is read, which no node before it makes",
                 CleanName(ShortName(name)));
  }
  HEARTH_ASSIGN(const Tensor tensor, AddTensor(reading_, to_, *constant->second, CleanName(name)));
  initializers_.erase(constant);
  Bind(name, tensor);
  return Find(name);
}

Made Scope::ValueOf(std::string_view name) {
  HEARTH_ASSIGN(Tensor* const tensor, Read(name));
  if (tensor->list) {
    return Error(StatusCode::kUnsupported,
                 "'{}' is a sequence: only its tensors can be read, by SequenceAt and the like",
                 CleanName(ShortName(name)));
  }
  if (tensor->plain == kNoValue) {
    const auto in_plain_order = [&]() -> Made {
      if (tensor->last != kNoValue) return ToOrder(to_, tensor->last, Order::kLast, Order::kPlain);
      return tensor->stored != kNoValue ? AddReadable(to_, tensor->stored)
                                        : AddPermuted(to_, AddReadable(to_, tensor->turned), {1, 0});
    };
    HEARTH_ASSIGN(tensor->plain, in_plain_order());
  }
  return tensor->plain;
}

Status Scope::AddInitializers(const GraphProto& graph) {
  if (graph.has_sparse) {
    return Error(StatusCode::kUnsupported, "the graph has sparse constants: export the model with dense ones");
  }
  for (const TensorProto& tensor : graph.initializers) initializers_.insert_or_assign(tensor.name, &tensor);
  return Status::Ok();
}

}  // namespace hearth::onnx
