// The names that nodes of a graph see: its own, and those of the graphs around it.
#ifndef HEARTH_FRONTENDS_ONNX_SCOPE_H_
#define HEARTH_FRONTENDS_ONNX_SCOPE_H_

#include <map>
#include <set>
#include <string_view>

#include "frontends/onnx/order.h"
#include "frontends/onnx/proto.h"
#include "frontends/onnx/tensors.h"
#include "frontends/writer/graph_writer.h"

namespace hearth::onnx {

using Attributes = std::map<std::string_view, const AttributeProto*>;

class Scope {
 public:
  // `outer`: of the graph around a subgraph. `sets` are the model's or the function's. `attributes`: what a function's
  // caller gives.
  Scope(Reading& reading, GraphWriter& to, const OperatorSets& sets, Scope* outer = nullptr,
        const Attributes* attributes = nullptr)
      : reading_(reading), to_(to), sets_(sets), outer_(outer), attributes_(attributes) {}

  Reading& reading() const { return reading_; }
  GraphWriter& to() const { return to_; }
  const OperatorSets& sets() const { return sets_; }
  const Attributes* attributes() const { return attributes_; }

  // The tensor of that name; null if there is none yet, or if it is a constant that nothing has read.
  Tensor* Find(std::string_view name);
  // The same; reads a constant.
  Result<Tensor*> Read(std::string_view name);
  // The same in plain order.
  Made ValueOf(std::string_view name);
  void Bind(std::string_view name, const Tensor& tensor) { names_.insert_or_assign(name, tensor); }
  // Whether it is an optional input of a function that its caller leaves out.
  bool IsAbsent(std::string_view name) const {
    return absent_.contains(name) || (outer_ != nullptr && outer_->IsAbsent(name));
  }
  void SetAbsent(std::string_view name) { absent_.insert(name); }
  // Whether the graph itself has the name.
  bool Has(std::string_view name) const { return names_.contains(name) || initializers_.contains(name); }
  Status AddInitializers(const GraphProto& graph);

 private:
  Reading& reading_;
  GraphWriter& to_;
  const OperatorSets& sets_;
  Scope* outer_;
  const Attributes* attributes_;
  std::map<std::string_view, Tensor> names_;
  std::set<std::string_view> absent_;
  std::map<std::string_view, const TensorProto*> initializers_;  // that nothing has read yet
};

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_SCOPE_H_
