// A small interpreter with the C interface of TFLite: it can apply a delegate, divide its network, run it and remove
// the delegate. It is checked for leaks, and its calls can be made to fail.
#ifndef HEARTH_TESTS_TESTING_MOCK_INTERPRETER_H_
#define HEARTH_TESTS_TESTING_MOCK_INTERPRETER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontends/delegate/tflite_c.h"

namespace hearth::testing {

// For one thread. The applied delegate outlives it.
class MockInterpreter {
 public:
  MockInterpreter();
  ~MockInterpreter();
  MockInterpreter(const MockInterpreter&) = delete;
  MockInterpreter& operator=(const MockInterpreter&) = delete;

  // Returns an index as the interface has it.
  int AddTensor(const std::vector<int>& dims, tflite_c::TfLiteType type = tflite_c::kTfLiteFloat32);
  int AddConstant(const std::vector<int>& dims, const std::vector<float>& values);
  // `params`: copied for builtin_data; empty: none.
  int AddNode(int32_t builtin_code, const std::vector<int>& inputs, const std::vector<int>& outputs,
              std::span<const std::byte> params = {});
  template <typename Params>
  int AddNodeWith(int32_t builtin_code, const std::vector<int>& inputs, const std::vector<int>& outputs,
                  const Params& params) {
    return AddNode(builtin_code, inputs, outputs, std::as_bytes(std::span(&params, 1)));
  }
  // The work of a node that no delegate takes.
  void RunHere(int node, std::function<void()> work) { nodes_[node].work = std::move(work); }
  void SetOutputs(std::vector<int> tensors) { outputs_ = std::move(tensors); }

  tflite_c::TfLiteContext& context() { return context_; }
  tflite_c::TfLiteTensor& tensor(int index) { return tensors_[index]; }
  tflite_c::TfLiteNode& node(int index) { return nodes_[index].node; }
  std::span<float> floats(int tensor) {
    return {static_cast<float*>(tensors_[tensor].data), tensors_[tensor].bytes / sizeof(float)};
  }

  // As in the interpreter: prepares the delegate, then its nodes; a failure of the delegate restores the network.
  tflite_c::TfLiteStatus Apply(tflite_c::TfLiteDelegate* delegate);
  void TakeBack();
  // Gives the network's inputs this first dimension and new memory, then prepares all nodes. A node of RunHere has the
  // shape of its first input.
  tflite_c::TfLiteStatus ResizeFirstDimension(int size);
  tflite_c::TfLiteStatus Invoke();

  // The nodes that delegates took, by kernel.
  std::vector<std::vector<int>> partitions() const;
  const std::string& messages() const { return messages_; }

  // Call number `call` (from 1) of the context's functions that can fail will fail; calls_made() counts them.
  void FailAt(int call) {
    fail_at_ = call;
    calls_made_ = 0;
  }
  int calls_made() const { return calls_made_; }

 private:
  struct Node {
    tflite_c::TfLiteNode node = {};
    tflite_c::TfLiteRegistration registration = {};
    std::function<void()> work;
    std::vector<std::byte> params;
    std::vector<int> replaced;  // by a delegate's kernel
  };
  struct Part {
    bool is_taken = false;
    std::vector<int> nodes, inputs, outputs;
  };

  static MockInterpreter& Of(const tflite_c::TfLiteContext* context) {
    return *static_cast<MockInterpreter*>(context->impl_);
  }
  static tflite_c::TfLiteStatus GetPlan(tflite_c::TfLiteContext* context, tflite_c::TfLiteIntArray** plan);
  static tflite_c::TfLiteStatus GetNode(tflite_c::TfLiteContext* context, int index, tflite_c::TfLiteNode** node,
                                        tflite_c::TfLiteRegistration** registration);
  static tflite_c::TfLiteStatus Resize(tflite_c::TfLiteContext* context, tflite_c::TfLiteTensor* tensor,
                                       tflite_c::TfLiteIntArray* shape);
  static void Report(tflite_c::TfLiteContext* context, const char* format, ...);
  static tflite_c::TfLiteStatus Replace(tflite_c::TfLiteContext* context, tflite_c::TfLiteRegistration registration,
                                        const tflite_c::TfLiteIntArray* nodes, tflite_c::TfLiteDelegate* delegate);
  static tflite_c::TfLiteStatus Preview(tflite_c::TfLiteContext* context, const tflite_c::TfLiteIntArray* nodes,
                                        tflite_c::TfLiteDelegateParams** partitions, int* count);

  bool Fails() { return ++calls_made_ == fail_at_; }
  tflite_c::TfLiteIntArray* NewArray(const std::vector<int>& numbers);
  void GiveMemory(int tensor);
  void SetShape(int tensor, const std::vector<int>& shape);
  tflite_c::TfLiteStatus PrepareNodes();
  std::vector<Part> Divide(std::span<const int> taken);
  tflite_c::TfLiteDelegateParams ParamsOf(const Part& part, tflite_c::TfLiteDelegate* delegate);
  void AddKernel(const Part& part, const tflite_c::TfLiteRegistration& registration,
                 tflite_c::TfLiteDelegate* delegate);

  tflite_c::TfLiteContext context_ = {};
  std::vector<tflite_c::TfLiteTensor> tensors_;
  std::vector<std::vector<float>> memory_;  // by tensor
  std::deque<Node> nodes_;
  std::vector<int> plan_, own_plan_, outputs_;
  std::deque<std::vector<int>> arrays_;
  std::vector<tflite_c::TfLiteDelegateParams> previews_;
  std::string messages_;
  int fail_at_ = std::numeric_limits<int>::max(), calls_made_ = 0;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_MOCK_INTERPRETER_H_
