#include "tests/testing/mock_interpreter.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

#include "core/base/contains.h"

namespace hearth::testing {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

namespace {

std::span<const int> Numbers(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

}  // namespace

MockInterpreter::MockInterpreter() {
  context_.impl_ = this;
  context_.GetExecutionPlan = GetPlan;
  context_.GetNodeAndRegistration = GetNode;
  context_.ReportError = Report;
  context_.ReplaceNodeSubsetsWithDelegateKernels = Replace;
  context_.PreviewDelegatePartitioning = Preview;
  context_.ResizeTensor = Resize;
  context_.recommended_num_threads = 1;
}

MockInterpreter::~MockInterpreter() {
  TakeBack();
}

TfLiteIntArray* MockInterpreter::NewArray(const std::vector<int>& numbers) {
  std::vector<int>& array = arrays_.emplace_back(numbers);
  array.insert(array.begin(), static_cast<int>(numbers.size()));
  return reinterpret_cast<TfLiteIntArray*>(array.data());
}

int MockInterpreter::AddTensor(const std::vector<int>& dims, TfLiteType type) {
  TfLiteTensor tensor = {};
  tensor.type = type;
  tensor.dims = NewArray(dims);
  tensor.allocation_type = kTfLiteArenaRw;
  tensor.name = "tensor";
  tensors_.push_back(tensor);
  memory_.emplace_back();
  GiveMemory(static_cast<int>(tensors_.size()) - 1);
  context_.tensors = tensors_.data();
  context_.tensors_size = tensors_.size();
  return static_cast<int>(tensors_.size()) - 1;
}

int MockInterpreter::AddConstant(const std::vector<int>& dims, const std::vector<float>& values) {
  const int index = AddTensor(dims);
  std::copy(values.begin(), values.end(), floats(index).begin());
  tensors_[index].allocation_type = kTfLiteMmapRo;
  return index;
}

void MockInterpreter::GiveMemory(int tensor) {
  const std::span<const int> dims = Numbers(tensors_[tensor].dims);
  const int elements = std::accumulate(dims.begin(), dims.end(), 1, [](int a, int b) { return a * b; });
  memory_[tensor].assign(static_cast<size_t>(std::max(0, elements)), 0.0f);
  tensors_[tensor].data = memory_[tensor].data();
  tensors_[tensor].bytes = memory_[tensor].size() * sizeof(float);
}

int MockInterpreter::AddNode(int32_t builtin_code, const std::vector<int>& inputs, const std::vector<int>& outputs,
                             std::span<const std::byte> params) {
  Node& node = nodes_.emplace_back();
  node.params.assign(params.begin(), params.end());
  node.node.inputs = NewArray(inputs);
  node.node.outputs = NewArray(outputs);
  node.node.builtin_data = node.params.empty() ? nullptr : node.params.data();
  node.registration.builtin_code = builtin_code;
  node.registration.version = 1;
  const int index = static_cast<int>(nodes_.size()) - 1;
  plan_.push_back(index);
  own_plan_ = plan_;
  return index;
}

TfLiteStatus MockInterpreter::GetPlan(TfLiteContext* context, TfLiteIntArray** plan) {
  MockInterpreter& self = Of(context);
  if (self.Fails()) return kTfLiteError;
  *plan = self.NewArray(self.plan_);
  return kTfLiteOk;
}

TfLiteStatus MockInterpreter::GetNode(TfLiteContext* context, int index, TfLiteNode** node,
                                      TfLiteRegistration** registration) {
  MockInterpreter& self = Of(context);
  if (self.Fails() || index < 0 || index >= static_cast<int>(self.nodes_.size())) return kTfLiteError;
  *node = &self.nodes_[index].node;
  *registration = &self.nodes_[index].registration;
  return kTfLiteOk;
}

void MockInterpreter::Report(TfLiteContext* context, const char* format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Of(context).messages_ += std::string(text) + "\n";
}

// Adjacent taken nodes form one part.
std::vector<MockInterpreter::Part> MockInterpreter::Divide(std::span<const int> taken) {
  std::vector<Part> parts;
  for (const int node : plan_) {
    const bool is_taken = Contains(taken, node);
    if (parts.empty() || parts.back().is_taken != is_taken) parts.push_back({is_taken, {}, {}, {}});
    parts.back().nodes.push_back(node);
  }
  for (Part& part : parts) {
    std::set<int> made, read, read_elsewhere(outputs_.begin(), outputs_.end());
    for (const int node : plan_) {
      const std::span<const int> inputs = Numbers(nodes_[node].node.inputs),
                                 made_here = Numbers(nodes_[node].node.outputs);
      const bool is_inside = Contains(part.nodes, node);
      (is_inside ? read : read_elsewhere).insert(inputs.begin(), inputs.end());
      if (is_inside) made.insert(made_here.begin(), made_here.end());
    }
    std::set_difference(read.begin(), read.end(), made.begin(), made.end(), std::back_inserter(part.inputs));
    std::set_intersection(made.begin(), made.end(), read_elsewhere.begin(), read_elsewhere.end(),
                          std::back_inserter(part.outputs));
  }
  return parts;
}

TfLiteDelegateParams MockInterpreter::ParamsOf(const Part& part, TfLiteDelegate* delegate) {
  return {delegate, NewArray(part.nodes), NewArray(part.inputs), NewArray(part.outputs)};
}

TfLiteStatus MockInterpreter::Preview(TfLiteContext* context, const TfLiteIntArray* nodes,
                                      TfLiteDelegateParams** partitions, int* count) {
  MockInterpreter& self = Of(context);
  if (self.Fails()) return kTfLiteError;
  self.previews_.clear();
  for (const Part& part : self.Divide(Numbers(nodes))) {
    if (part.is_taken) self.previews_.push_back(self.ParamsOf(part, nullptr));
  }
  *partitions = self.previews_.data();
  *count = static_cast<int>(self.previews_.size());
  return kTfLiteOk;
}

void MockInterpreter::AddKernel(const Part& part, const TfLiteRegistration& registration, TfLiteDelegate* delegate) {
  TfLiteDelegateParams params = ParamsOf(part, delegate);
  Node& kernel = nodes_.emplace_back();
  kernel.replaced = part.nodes;
  kernel.registration = registration;
  kernel.registration.builtin_code = kTfLiteBuiltinDelegate;
  kernel.node.inputs = params.input_tensors;
  kernel.node.outputs = params.output_tensors;
  kernel.node.delegate = delegate;
  kernel.node.user_data = registration.init(&context_, reinterpret_cast<const char*>(&params), 0);
  plan_.push_back(static_cast<int>(nodes_.size()) - 1);
}

TfLiteStatus MockInterpreter::Replace(TfLiteContext* context, TfLiteRegistration registration,
                                      const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  MockInterpreter& self = Of(context);
  if (self.Fails()) return kTfLiteError;
  const std::vector<Part> parts = self.Divide(Numbers(nodes));
  self.plan_.clear();
  for (const Part& part : parts) {
    if (part.is_taken) {
      self.AddKernel(part, registration, delegate);
    } else {
      self.plan_.insert(self.plan_.end(), part.nodes.begin(), part.nodes.end());
    }
  }
  return kTfLiteOk;
}

TfLiteStatus MockInterpreter::Apply(TfLiteDelegate* delegate) {
  TakeBack();
  if (const TfLiteStatus status = delegate->Prepare(&context_, delegate); status != kTfLiteOk) {
    TakeBack();
    return status;
  }
  return PrepareNodes();
}

TfLiteStatus MockInterpreter::PrepareNodes() {
  for (const int index : plan_) {
    Node& node = nodes_[index];
    TfLiteStatus status = kTfLiteOk;
    if (!node.replaced.empty()) {
      status = node.registration.prepare(&context_, &node.node);
    } else if (node.work) {
      const std::span<const int> dims = Numbers(tensors_[Numbers(node.node.inputs)[0]].dims);
      SetShape(Numbers(node.node.outputs)[0], {dims.begin(), dims.end()});
    }
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

void MockInterpreter::SetShape(int tensor, const std::vector<int>& shape) {
  tensors_[tensor].dims = NewArray(shape);
  GiveMemory(tensor);
}

TfLiteStatus MockInterpreter::Resize(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* shape) {
  MockInterpreter& self = Of(context);
  const std::span<const int> dims = Numbers(shape);
  const bool fails = self.Fails();
  if (!fails) self.SetShape(static_cast<int>(tensor - self.tensors_.data()), {dims.begin(), dims.end()});
  std::free(shape);
  return fails ? kTfLiteError : kTfLiteOk;
}

void MockInterpreter::TakeBack() {
  while (!nodes_.empty() && nodes_.size() > own_plan_.size()) {
    Node& kernel = nodes_.back();
    kernel.registration.free(&context_, kernel.node.user_data);
    nodes_.pop_back();
  }
  plan_ = own_plan_;
}

TfLiteStatus MockInterpreter::ResizeFirstDimension(int size) {
  std::set<int> made;
  for (const int index : own_plan_) {
    const std::span<const int> outputs = Numbers(nodes_[index].node.outputs);
    made.insert(outputs.begin(), outputs.end());
  }
  for (int tensor = 0; tensor < static_cast<int>(tensors_.size()); ++tensor) {
    if (tensors_[tensor].allocation_type == kTfLiteMmapRo || made.contains(tensor)) continue;
    tensors_[tensor].dims->data[0] = size;
    GiveMemory(tensor);
  }
  return PrepareNodes();
}

TfLiteStatus MockInterpreter::Invoke() {
  for (const int index : plan_) {
    Node& node = nodes_[index];
    if (!node.replaced.empty()) {
      const TfLiteStatus status = node.registration.invoke(&context_, &node.node);
      if (status != kTfLiteOk) return status;
    } else if (node.work) {
      node.work();
    }
  }
  return kTfLiteOk;
}

std::vector<std::vector<int>> MockInterpreter::partitions() const {
  std::vector<std::vector<int>> partitions;
  for (const Node& node : nodes_) {
    if (!node.replaced.empty()) partitions.push_back(node.replaced);
  }
  return partitions;
}

}  // namespace hearth::testing
