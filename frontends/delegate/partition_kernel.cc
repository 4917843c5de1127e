// Runs a partition of the interpreter's network as one operator, by a session.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/threads.h"
#include "core/graph/evaluate.h"
#include "frontends/delegate/delegate.h"
#include "frontends/delegate/device_memory.h"
#include "frontends/delegate/interpreter_model.h"
#include "frontends/delegate/support.h"
#include "runtime/model/model_data.h"
#include "runtime/session/session_data.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

constexpr size_t kMostProfileLines = 40;

// Allocated with malloc, because the interpreter frees it. ResizeTensorExplicit would copy, but not every interpreter
// has it.
TfLiteIntArray* NewArray(const std::vector<int32_t>& numbers) {
  auto* array = static_cast<TfLiteIntArray*>(std::malloc(sizeof(TfLiteIntArray) + numbers.size() * sizeof(int)));
  if (array == nullptr) throw std::bad_alloc();
  array->size = static_cast<int>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), array->data);
  return array;
}

TfLiteStatus Tell(TfLiteContext* context, const Status& status) {
  if (status.ok()) return kTfLiteOk;
  if (context->ReportError != nullptr) context->ReportError(context, "Hearth: %s. ", status.message().c_str());
  return kTfLiteDelegateError;
}

// Members are destroyed last to first, so the session goes before the members that it borrows.
class PartitionKernel {
 public:
  explicit PartitionKernel(std::shared_ptr<Delegate> delegate)
      : delegate_(std::move(delegate)), number_(delegate_->NextKernel()) {}

  // Called while the delegate is prepared: only then does the interpreter show its nodes.
  void Init(TfLiteContext& context, const TfLiteDelegateParams& params) {
    status_ = Guarded([&]() -> Status {
      const PreparedNetwork network = delegate_->NetworkOf(context);
      HEARTH_TRY(ReadNodes(context, params, network));
      HEARTH_TRY(MakeSession(context));
      return delegate_->memory().Announce(context, Sized(inputs_, session_->inputs()),
                                          Sized(outputs_, session_->outputs()), network.others);
    });
    if (!status_.ok()) delegate_->NoteFailure(context, status_);
  }

  // Called before the first invocation and when shapes may have changed; earlier nodes are prepared already.
  Status Prepare(TfLiteContext& context) {
    if (!is_read_) return status_;
    HEARTH_TRY(Join());
    if (TakeInputShapes(context) || !session_) status_ = MakeSession(context);
    HEARTH_TRY(status_);
    return ResizeOutputs(context);
  }

  Status Invoke(TfLiteContext& context) {
    HEARTH_TRY(Join());
    HEARTH_TRY(status_);
    // Stores after the first result was used, which is thereby not delayed.
    if (invocations_of_session_ == 1 && !delegate_->options().stores_at_once) Save(context);
    HEARTH_ASSIGN(std::unique_ptr<BoundMemory> held, delegate_->memory().Hold(context, inputs_, outputs_));
    if (held->is_async) {
      beside_.emplace([this, shared = std::shared_ptr<BoundMemory>(std::move(held))]() mutable {
        const Status status = Run(*shared);
        shared.reset();  // now, not when this function is destroyed
        return status;
      });
      return Status::Ok();
    }
    HEARTH_TRY(Run(*held));
    if (invocations_of_session_ == 1 && delegate_->options().stores_at_once) Save(context);
    return Status::Ok();
  }

  // Call before the session is destroyed.
  void Finish(TfLiteContext& context) {
    Tell(&context, Join());
    if (!session_) return;
    Save(context);
    UpdateReport(context);
    if (!profile_.empty()) delegate_->Log(context, ProfileText());
  }

 private:
  static std::vector<SizedTensor> Sized(const std::vector<int>& tensors, const std::vector<TensorInfo>& infos) {
    std::vector<SizedTensor> sized;
    for (size_t k = 0; k < tensors.size(); ++k) sized.push_back({tensors[k], infos[k].size_bytes});
    return sized;
  }

  Status ReadNodes(TfLiteContext& context, const TfLiteDelegateParams& params, const PreparedNetwork& network) {
    nodes_ = CopyOf(params.nodes_to_replace);
    HEARTH_ASSIGN(const std::vector<InterpreterNode> own, NodesAt(context, nodes_));
    HEARTH_ASSIGN(const std::vector<InterpreterNode> nodes, WithTheirConstants(context, own, network.constant_nodes));
    HEARTH_ASSIGN(network_, ModelOfNodes(context, nodes, CopyOf(params.output_tensors), network.shapes));
    is_read_ = true;
    return Status::Ok();
  }

  // Waits for an invocation that has returned before its end, and gives its error to the one that comes after it.
  Status Join() {
    if (!beside_) return Status::Ok();
    const Status status = beside_->Join();
    beside_.reset();
    return status.Within("the invocation before this one");
  }

  Status Run(BoundMemory& held) {
    HEARTH_TRY(held.Wait());
    const auto stays = [](const DeviceMemory* memory) { return memory != nullptr; };
    const bool is_lent =
        std::ranges::any_of(held.inputs_on_device, stays) || std::ranges::any_of(held.outputs_on_device, stays);
    HEARTH_TRY(is_lent ? RunWithBorrowed(held) : RunOn(held.inputs, held.outputs));
    ++invocations_;
    ++invocations_of_session_;
    if (!delegate_->options().report_path.empty()) {
      transfers_.to_device_bytes += session_->report().transfers.to_device_bytes;
      transfers_.to_host_bytes += session_->report().transfers.to_host_bytes;
    }
    return Status::Ok();
  }

  // Without memory: on the session's own.
  template <typename... Memory>
  Status RunOn(const Memory&... memory) {
    if (!delegate_->is_profiling()) return session_->Run(memory...);
    HEARTH_ASSIGN(const std::vector<ProfileEntry> entries, session_->RunProfiled(memory...));
    if (delegate_->options().is_profiling) AddToProfile(entries);
    delegate_->Count(entries);
    return Status::Ok();
  }

  // With tensors that stay on the device, as far as the session can bind them: the host copies the others.
  Status RunWithBorrowed(BoundMemory& held) {
    using Access = DeviceMemory::Access;
    if (lent_.empty()) lent_ = NothingBorrowed();
    for (size_t k = 0; k < inputs_.size(); ++k) {
      DeviceMemory* memory = held.inputs_on_device[k];
      const TensorInfo& tensor = session_->inputs()[k];
      HEARTH_ASSIGN(const bool is_lent, Lend(memory, Access::kRead, lent_[k], [&](const Binding& binding) {
                      return binding.handle != 0 ? session_->BindInput(tensor.name, binding)
                                                 : session_->UnbindInput(tensor.name);
                    }));
      if (is_lent) continue;
      std::span<const std::byte> bytes = held.inputs[k];
      if (memory != nullptr) {
        HEARTH_ASSIGN(const std::byte* host, memory->OnHost(Access::kRead));
        bytes = {host, memory->size_bytes()};
      }
      HEARTH_TRY(session_->SetInput(k, bytes));
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const TensorInfo& tensor = session_->outputs()[k];
      BorrowedTensor& lent = lent_[inputs_.size() + k];
      HEARTH_TRY(Lend(held.outputs_on_device[k], Access::kWrite, lent, [&](const Binding& binding) {
                   return binding.handle != 0 ? session_->BindOutput(tensor.name, binding)
                                              : session_->UnbindOutput(tensor.name);
                 }).status());
    }
    HEARTH_TRY(RunOn());
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (lent_[inputs_.size() + k].buffer != nullptr) continue;
      DeviceMemory* memory = held.outputs_on_device[k];
      std::byte* target = held.outputs[k].data();
      if (memory != nullptr) {
        HEARTH_ASSIGN(target, memory->OnHost(Access::kWrite));
      }
      std::ranges::copy(session_->output(k), target);
      if (memory != nullptr) HEARTH_TRY(memory->EndHost());
    }
    return Status::Ok();
  }

  // An input or output that was bound in the last run.
  struct BorrowedTensor {
    std::shared_ptr<Buffer> buffer;  // null: it was not
    bool is_refused = false;         // the session can't
  };

  // Sessions bind by name.
  std::vector<BorrowedTensor> NothingBorrowed() const {
    std::vector<BorrowedTensor> lent;
    for (const std::vector<TensorInfo>* tensors : {&session_->inputs(), &session_->outputs()}) {
      std::set<std::string> names;
      for (const TensorInfo& tensor : *tensors)
        lent.push_back({.is_refused = tensor.name.empty() || !names.insert(tensor.name).second});
    }
    return lent;
  }

  // Binds the memory's buffer, if there is memory, by `bind`; false if nothing is bound now.
  template <typename Bind>
  Result<bool> Lend(DeviceMemory* memory, DeviceMemory::Access access, BorrowedTensor& lent, const Bind& bind) {
    std::shared_ptr<Buffer> buffer;
    const std::shared_ptr<Device> device = DeviceOf(*session_);
    if (memory != nullptr && !lent.is_refused && device != nullptr) {
      Result<std::shared_ptr<Buffer>> on_device = memory->OnDevice(device, access, transfers_);
      if (!on_device.ok() && on_device.status().code() != StatusCode::kUnsupported) return on_device.status();
      if (on_device.ok()) buffer = std::move(on_device).value();
    }
    if (buffer == lent.buffer) return buffer != nullptr;
    if (buffer != nullptr) {
      const Binding binding = {kOwnBuffer, reinterpret_cast<uintptr_t>(&buffer), buffer->size_bytes()};
      lent.is_refused = !bind(binding).ok();
      if (lent.is_refused) buffer.reset();
    }
    if (buffer == nullptr && lent.buffer != nullptr) HEARTH_TRY(bind({}));
    lent.buffer = std::move(buffer);
    return lent.buffer != nullptr;
  }

  // Whether the shape of an input has changed.
  bool TakeInputShapes(const TfLiteContext& context) {
    bool has_changed = false;
    for (size_t k = 0; k < network_.inputs.size(); ++k) {
      const TfLiteTensor* tensor = TensorAt(context, network_.inputs[k]);
      if (tensor == nullptr) continue;
      std::vector<int32_t>& shape = network_.model.tensors[network_.model.inputs[k]].shape;
      std::vector<int32_t> dims = CopyOf(tensor->dims);
      has_changed = has_changed || dims != shape;
      shape = std::move(dims);
    }
    return has_changed;
  }

  // Makes the session for the input shapes in network_.
  Status MakeSession(TfLiteContext& context) {
    Finish(context);
    profile_.clear();
    session_.reset();
    model_.reset();
    HEARTH_ASSIGN(written_, WriteModel(network_.model));
    HEARTH_ASSIGN(InterpreterGraph read, ReadInterpreterGraph(network_, written_));
    HEARTH_TRY(InferShapes(read.graph));
    inputs_ = std::move(read.inputs);
    outputs_ = std::move(read.outputs);
    auto data = std::make_unique<ModelData>();
    data->path = fmt::format("partition of {} nodes", nodes_.size());
    data->bytes = std::as_const(written_).bytes();
    data->graph = std::move(read.graph);
    data->KnowFingerprint(FingerprintOf(data->bytes).ToHex());
    DescribeModel(*data);
    model_.emplace(std::move(data));

    SessionOptions options = delegate_->options().session;
    options.device = delegate_->device_id();
    if (options.threads == 0) options.threads = std::max(0, context.recommended_num_threads);
    const OpenedDevice* shared = delegate_->shared_device();
    Result<Session> session =
        shared != nullptr ? CreateSessionOn(*shared, *model_, options) : Session::Create(*model_, options);
    if (shared != nullptr && session.status().code() == StatusCode::kDeviceLost)
      session = Session::Create(*model_, options);
    HEARTH_TRY(session.status());
    session_.emplace(std::move(session).value());
    lent_.clear();
    invocations_of_session_ = 0;
    for (const std::string& warning : session_->report().warnings) delegate_->LogOnce(context, warning);
    UpdateReport(context);
    return Status::Ok();
  }

  Status ResizeOutputs(TfLiteContext& context) {
    for (size_t k = 0; k < outputs_.size(); ++k) {
      TfLiteTensor* tensor = TensorAt(context, outputs_[k]);
      const std::vector<int32_t>& shape = session_->outputs()[k].shape;
      if (tensor == nullptr || CopyOf(tensor->dims) == shape) continue;
      if (context.ResizeTensor == nullptr || context.ResizeTensor(&context, tensor, NewArray(shape)) != kTfLiteOk) {
        return Error(StatusCode::kInternal, "the interpreter does not resize {}", TensorLabel(context, outputs_[k]));
      }
    }
    return Status::Ok();
  }

  void Save(TfLiteContext& context) {
    session_->SaveToCache();
    for (const std::string& warning : session_->report().warnings) delegate_->LogOnce(context, warning);
    UpdateReport(context);
  }

  void UpdateReport(TfLiteContext& context) {
    if (delegate_->options().report_path.empty()) return;
    delegate_->Report(context, number_, {nodes_, session_->report().ToJson(-1), invocations_, profile_, transfers_});
  }

  void AddToProfile(const std::vector<ProfileEntry>& entries) {
    if (profile_.empty()) {
      profile_ = entries;
      return;
    }
    for (size_t k = 0; k < entries.size() && k < profile_.size(); ++k)
      profile_[k].milliseconds += entries[k].milliseconds;
  }

  std::string ProfileText() const {
    std::vector<ProfileEntry> rows = profile_;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ProfileEntry& a, const ProfileEntry& b) { return a.milliseconds > b.milliseconds; });
    const auto count = static_cast<double>(invocations_of_session_);
    double total = 0;
    for (const ProfileEntry& row : rows) total += row.milliseconds;
    std::string text =
        fmt::format("Hearth: {} nodes on {}, {} invocations of {:.3f} ms on the device; the longest:", nodes_.size(),
                    delegate_->device_id(), invocations_of_session_, total / count);
    for (size_t k = 0; k < std::min(rows.size(), kMostProfileLines); ++k) {
      text += fmt::format("\n  {:9.3f} ms  {:24} {}", rows[k].milliseconds / count, rows[k].kernel, rows[k].node);
    }
    return text;
  }

  std::shared_ptr<Delegate> delegate_;
  int64_t number_;
  Status status_;  // of making the session
  bool is_read_ = false;
  std::vector<int> nodes_;  // of the partition
  InterpreterModel network_;
  std::vector<int> inputs_, outputs_;  // the interpreter's tensors for the model's inputs and outputs
  int64_t invocations_ = 0, invocations_of_session_ = 0;
  std::vector<ProfileEntry> profile_;  // sums over this session's runs
  TransferCounts transfers_;           // of all runs, counted for the report
  std::vector<BorrowedTensor> lent_;   // inputs, then outputs, of this session
  WrittenModel written_;
  std::optional<Model> model_;
  std::optional<Session> session_;
  std::optional<WorkBeside> beside_;
};

PartitionKernel* KernelOf(void* user_data) {
  return static_cast<PartitionKernel*>(user_data);
}

void* InitKernel(TfLiteContext* context, const char* buffer, size_t /*length*/) {
  PartitionKernel* kernel = nullptr;
  const Status status = Guarded([&] {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    kernel = new PartitionKernel(Delegate::Of(params.delegate));
    kernel->Init(*context, params);
    return Status::Ok();
  });
  Tell(context, status);
  return kernel;
}

void FreeKernel(TfLiteContext* context, void* user_data) {
  if (user_data == nullptr) return;
  Tell(context, Guarded([&] {
         const std::unique_ptr<PartitionKernel> kernel(KernelOf(user_data));
         kernel->Finish(*context);
         return Status::Ok();
       }));
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  if (node->user_data == nullptr) return kTfLiteDelegateError;
  return Tell(context, Guarded([&] { return KernelOf(node->user_data)->Prepare(*context); }));
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  if (node->user_data == nullptr) return kTfLiteDelegateError;
  return Tell(context, Guarded([&] { return KernelOf(node->user_data)->Invoke(*context); }));
}

}  // namespace

TfLiteRegistration PartitionKernelRegistration() {
  TfLiteRegistration registration = {};
  registration.init = InitKernel;
  registration.free = FreeKernel;
  registration.prepare = PrepareKernel;
  registration.invoke = InvokeKernel;
  registration.custom_name = "HearthDelegate";
  registration.version = 1;
  return registration;
}

}  // namespace hearth
