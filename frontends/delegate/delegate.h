// The delegate that an interpreter applies: chooses nodes, makes kernels of them, keeps the log and the report.
#ifndef HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_
#define HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontends/delegate/delegate_options.h"
#include "frontends/delegate/support.h"
#include "frontends/delegate/tflite_c.h"
#include "hearth/session.h"

namespace hearth {

// What the report says of one kernel.
struct KernelReport {
  std::vector<int> nodes;  // the interpreter's
  std::string session;     // JSON, see CONTRACT.md
  int64_t invocations = 0;
  std::vector<ProfileEntry> profile;  // sums over all invocations
};

// May be applied to several interpreters, also at once from several threads; outlives them, as the interface demands.
// Nothing is thrown and nothing aborts: what goes wrong is told to the interpreter, which goes on without the delegate.
class Delegate {
 public:
  // `broken`: what applying it answers; for options that could not be refused when they were given.
  Delegate(DelegateOptions options, Status broken);

  // What the interpreter holds. Delegate::Of(native()) is this.
  tflite_c::TfLiteDelegate* native() { return &native_; }
  static Delegate* Of(tflite_c::TfLiteDelegate* native) { return static_cast<Delegate*>(native->data_); }

  const DelegateOptions& options() const { return options_; }
  // The chosen device's own name ("opencl:0"). Precondition: Prepare was called.
  std::string device_id();

  // TfLiteDelegate::Prepare: takes nodes of the interpreter.
  Status Prepare(tflite_c::TfLiteContext& context);

  // To the file of the option `log`, else to the interpreter's log. One text is written once.
  void LogOnce(tflite_c::TfLiteContext& context, const std::string& text);

  // The same, every time.
  void Log(tflite_c::TfLiteContext& context, const std::string& text);

  // Nodes of constants (see InterpreterNode::IsOfConstant) of a network that is being prepared, by the tensor that they
  // make: a kernel reads the constant itself.
  std::map<int, int> ConstantNodesOf(const tflite_c::TfLiteContext& context);

  // A number of its own for each kernel of this delegate.
  int64_t NextKernel();
  // Replaces what the report says of `kernel` and writes the file, when there is to be one.
  void Report(tflite_c::TfLiteContext& context, int64_t kernel, KernelReport report);

 private:
  Status OpenDevice();
  Result<Support> FindSupported(tflite_c::TfLiteContext& context);
  Status Replace(tflite_c::TfLiteContext& context, const std::vector<int>& nodes);
  void LogLeftNodes(tflite_c::TfLiteContext& context, const Support& support, size_t replaced_count);
  std::string ReportText() const;
  void WriteReport(tflite_c::TfLiteContext& context);

  DelegateOptions options_;
  Status broken_;
  tflite_c::TfLiteDelegate native_ = {};
  std::mutex mutex_;  // of everything below
  std::optional<DeviceInfo> device_;
  std::string device_id_;
  std::set<std::string> logged_;
  std::vector<LeftNode> left_;  // of the interpreter that was prepared last
  std::map<const tflite_c::TfLiteContext*, std::map<int, int>> constant_nodes_;  // while they are prepared
  int64_t kernel_count_ = 0;
  std::map<int64_t, KernelReport> kernels_;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_
