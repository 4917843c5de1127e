// The delegate that an interpreter applies: selects nodes, makes kernels of them, writes the log and the report.
#ifndef HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_
#define HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontends/delegate/delegate_options.h"
#include "frontends/delegate/device_memory.h"
#include "frontends/delegate/support.h"
#include "frontends/delegate/tflite_c.h"
#include "hearth/session.h"
#include "runtime/devices/device_choice.h"

namespace hearth {

// The part of the report about one kernel.
struct KernelReport {
  std::vector<int> nodes;  // the interpreter's
  std::string session;     // the session's report as JSON
  int64_t invocations = 0;
  std::vector<ProfileEntry> profile;  // sums over all invocations with the last shapes
  TransferCounts transfers;           // of all invocations
};

// Of profiled invocations.
struct KernelTimes {
  int64_t invocations = 0;
  std::map<std::string, double> milliseconds;  // by "kernel node"
};

// A network whose nodes are being replaced.
struct PreparedNetwork {
  // Nodes that prepare constants (see InterpreterNode::IsOfConstant), by their output tensor: a kernel reads the
  // constant itself.
  std::map<int, int> constant_nodes;
  TensorShapes shapes;
  std::set<int> others;  // tensors that nodes outside of the partitions read or make
  Status failure;        // a kernel's first
};

// May be applied to several interpreters, also at once from several threads. It lives until the program has deleted it
// and the last kernel is gone, in either order: the interface demands that it is deleted last, but Python's garbage
// collector does not comply. Nothing is thrown and nothing aborts: errors are reported to the interpreter, which
// continues without the delegate.
class Delegate : public std::enable_shared_from_this<Delegate> {
 public:
  // The interpreter's view of the delegate. `broken` is the result of applying the delegate, for options that could not
  // be refused when they were given. `memory`: null where inputs and outputs lie in the interpreter's tensors.
  static tflite_c::TfLiteDelegate* Create(DelegateOptions options, Status broken = Status::Ok(),
                                          std::unique_ptr<InterpreterMemory> memory = nullptr);
  // Called when the program deletes it. Null: nothing to do.
  static void Delete(tflite_c::TfLiteDelegate* native) noexcept;
  // Precondition: not deleted, or a kernel of it is alive.
  static std::shared_ptr<Delegate> Of(tflite_c::TfLiteDelegate* native) {
    return static_cast<Delegate*>(native->data_)->shared_from_this();
  }

  const DelegateOptions& options() const { return options_; }
  InterpreterMemory& memory() { return *memory_; }

  // Whether kernels time their dispatches: from the start by the option, later by whoever collects metrics.
  bool is_profiling() const { return is_profiling_; }
  void set_profiling(bool is_on) { is_profiling_ = is_on; }
  // Counts a profiled invocation of a kernel.
  void Count(const std::vector<ProfileEntry>& entries);
  // What was counted since the last call.
  KernelTimes TakeTimes();

  // Opens the device that the options name.
  Status OpenDevice();
  // The device for the sessions of all kernels, because their memory may lie on it; null: each opens its own.
  const OpenedDevice* shared_device();
  // The chosen device's own name ("opencl:0"). Precondition: Prepare was called.
  std::string device_id();

  // TfLiteDelegate::Prepare: takes nodes of the interpreter.
  Status Prepare(tflite_c::TfLiteContext& context);

  // Logs to the file of the option `log`, else to the interpreter's log. The same text is logged once.
  void LogOnce(tflite_c::TfLiteContext& context, const std::string& text);

  // Logs each time.
  void Log(tflite_c::TfLiteContext& context, const std::string& text);

  // A copy of the data of a network that is being prepared.
  PreparedNetwork NetworkOf(const tflite_c::TfLiteContext& context);
  // Records that a kernel could not be made while a network is prepared: Prepare then fails, and the interpreter
  // continues without the delegate.
  void NoteFailure(const tflite_c::TfLiteContext& context, const Status& status);

  // A unique number for each kernel of this delegate.
  int64_t NextKernel();
  // Replaces the report's part about `kernel` and writes the file if one is wanted.
  void Report(tflite_c::TfLiteContext& context, int64_t kernel, KernelReport report);

 private:
  Delegate(DelegateOptions options, Status broken, std::unique_ptr<InterpreterMemory> memory);
  Result<Support> FindSupported(tflite_c::TfLiteContext& context);
  Status Replace(tflite_c::TfLiteContext& context, const std::vector<int>& nodes);
  Status ReplaceKnowing(tflite_c::TfLiteContext& context, const std::vector<int>& nodes, PreparedNetwork network);
  // Empty if all are taken.
  std::string LeftNodesText(tflite_c::TfLiteContext& context, const Support& support, size_t replaced_count);
  std::string ReportText() const;
  void WriteReport(tflite_c::TfLiteContext& context);

  DelegateOptions options_;
  Status broken_;
  std::unique_ptr<InterpreterMemory> memory_;
  std::atomic<bool> is_profiling_;
  tflite_c::TfLiteDelegate native_ = {};
  std::shared_ptr<Delegate> programs_;  // the program's share, until it deletes the delegate
  std::mutex mutex_;                    // guards everything below
  std::optional<DeviceInfo> device_;
  std::optional<OpenedDevice> shared_device_;
  std::string device_id_;
  std::set<std::string> logged_;
  std::map<const tflite_c::TfLiteContext*, std::vector<LeftNode>> left_;  // by the interpreter's subgraph
  std::map<const tflite_c::TfLiteContext*, PreparedNetwork> networks_;    // while they are prepared
  int64_t kernel_count_ = 0;
  KernelTimes times_;
  std::map<int64_t, KernelReport> kernels_;
};

// The functions that the interpreter calls for each partition, which run it as one operator, by a session.
// Initialization reads the nodes and makes the session; a failure becomes the result of the delegate's Prepare, after
// which the interpreter removes the delegate. Preparation makes another session if shapes have changed, and sets the
// shapes of the outputs.
tflite_c::TfLiteRegistration PartitionKernelRegistration();

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_DELEGATE_DELEGATE_H_
