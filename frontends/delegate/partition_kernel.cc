#include "frontends/delegate/partition_kernel.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/graph/evaluate.h"
#include "frontends/api/model_data.h"
#include "frontends/delegate/delegate.h"
#include "frontends/delegate/interpreter_model.h"
#include "frontends/delegate/support.h"

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

// Members are destroyed last to first, so the session goes before the members that it borrows.
class PartitionKernel {
 public:
  explicit PartitionKernel(std::shared_ptr<Delegate> delegate)
      : delegate_(std::move(delegate)), number_(delegate_->NextKernel()) {}

  // Called while the delegate is prepared: only then does the interpreter show its nodes.
  void Init(TfLiteContext& context, const TfLiteDelegateParams& params) {
    status_ = Guarded([&]() -> Status {
      HEARTH_TRY(ReadNodes(context, params));
      return MakeSession(context);
    });
    if (!status_.ok()) delegate_->NoteFailure(context, status_);
  }

  // Called before the first invocation and when shapes may have changed; earlier nodes are prepared already.
  Status Prepare(TfLiteContext& context) {
    if (!is_read_) return status_;
    if (TakeInputShapes(context) || !session_) status_ = MakeSession(context);
    HEARTH_TRY(status_);
    return ResizeOutputs(context);
  }

  Status Invoke(TfLiteContext& context) {
    HEARTH_TRY(status_);
    // Stores after the first result was used, which is thereby not delayed.
    if (invocations_of_session_ == 1 && !delegate_->options().stores_at_once) Save(context);
    HEARTH_TRY(Bind(context));
    if (delegate_->options().is_profiling) {
      HEARTH_ASSIGN(const std::vector<ProfileEntry> entries, session_->RunProfiled(input_bytes_, output_bytes_));
      AddToProfile(entries);
    } else {
      HEARTH_TRY(session_->Run(input_bytes_, output_bytes_));
    }
    ++invocations_;
    ++invocations_of_session_;
    if (invocations_of_session_ == 1 && delegate_->options().stores_at_once) Save(context);
    return Status::Ok();
  }

  // Call before the session is destroyed.
  void Finish(TfLiteContext& context) {
    if (!session_) return;
    Save(context);
    UpdateReport(context);
    if (!profile_.empty()) delegate_->Log(context, ProfileText());
  }

 private:
  Status ReadNodes(TfLiteContext& context, const TfLiteDelegateParams& params) {
    nodes_ = CopyOf(params.nodes_to_replace);
    const PreparedNetwork network = delegate_->NetworkOf(context);
    HEARTH_ASSIGN(const std::vector<InterpreterNode> own, NodesAt(context, nodes_));
    HEARTH_ASSIGN(const std::vector<InterpreterNode> nodes, WithTheirConstants(context, own, network.constant_nodes));
    HEARTH_ASSIGN(network_, ModelOfNodes(context, nodes, CopyOf(params.output_tensors), network.shapes));
    is_read_ = true;
    return Status::Ok();
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
    HEARTH_ASSIGN(Session session, Session::Create(*model_, options));
    session_.emplace(std::move(session));
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

  // Finds the interpreter's tensors again, which it may move between invocations.
  Status Bind(TfLiteContext& context) {
    input_bytes_.clear();
    output_bytes_.clear();
    for (const int index : inputs_) {
      HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOf(context, index));
      input_bytes_.emplace_back(bytes);
    }
    for (const int index : outputs_) {
      HEARTH_ASSIGN(const std::span<std::byte> bytes, BytesOf(context, index));
      output_bytes_.push_back(bytes);
    }
    return Status::Ok();
  }

  static Result<std::span<std::byte>> BytesOf(const TfLiteContext& context, int index) {
    const TfLiteTensor* tensor = TensorAt(context, index);
    if (tensor == nullptr || (tensor->data == nullptr && tensor->bytes > 0)) {
      return Error(StatusCode::kInvalidArgument, "the interpreter gave no memory to {}", TensorLabel(context, index));
    }
    return std::span<std::byte>(static_cast<std::byte*>(tensor->data), tensor->bytes);
  }

  void Save(TfLiteContext& context) {
    session_->SaveToCache();
    for (const std::string& warning : session_->report().warnings) delegate_->LogOnce(context, warning);
    UpdateReport(context);
  }

  void UpdateReport(TfLiteContext& context) {
    if (delegate_->options().report_path.empty()) return;
    delegate_->Report(context, number_, {nodes_, session_->report().ToJson(-1), invocations_, profile_});
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
  std::vector<std::span<const std::byte>> input_bytes_;
  std::vector<std::span<std::byte>> output_bytes_;
  int64_t invocations_ = 0, invocations_of_session_ = 0;
  std::vector<ProfileEntry> profile_;  // sums over this session's runs
  WrittenModel written_;
  std::optional<Model> model_;
  std::optional<Session> session_;
};

PartitionKernel* KernelOf(void* user_data) {
  return static_cast<PartitionKernel*>(user_data);
}

TfLiteStatus Tell(TfLiteContext* context, const Status& status) {
  if (status.ok()) return kTfLiteOk;
  if (context->ReportError != nullptr) context->ReportError(context, "Hearth: %s. ", status.message().c_str());
  return kTfLiteDelegateError;
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
