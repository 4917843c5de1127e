#include "frontends/delegate/partition_kernel.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "frontends/api/model_data.h"
#include "frontends/delegate/delegate.h"
#include "frontends/delegate/guard.h"
#include "frontends/delegate/interpreter_model.h"
#include "frontends/delegate/support.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

constexpr size_t kMostProfileLines = 40;

// Members are destroyed from the last to the first: the session before what it borrows.
class PartitionKernel {
 public:
  explicit PartitionKernel(Delegate& delegate) : delegate_(delegate), number_(delegate.NextKernel()) {}

  void Init(TfLiteContext& context, const TfLiteDelegateParams& params) {
    status_ = Guarded([&] { return MakeSession(context, params); });
    if (!status_.ok()) return;
    for (const std::string& warning : session_->report().warnings) delegate_.LogOnce(context, warning);
    UpdateReport(context);
  }

  const Status& status() const { return status_; }

  Status Invoke(TfLiteContext& context) {
    HEARTH_TRY(status_);
    // The first result was used by now: storing what made it delays nobody's first result.
    if (invocations_ == 1) Save(context);
    HEARTH_TRY(Bind(context));
    if (delegate_.options().is_profiling) {
      HEARTH_ASSIGN(const std::vector<ProfileEntry> entries, session_->RunProfiled(input_bytes_, output_bytes_));
      AddToProfile(entries);
    } else {
      HEARTH_TRY(session_->Run(input_bytes_, output_bytes_));
    }
    ++invocations_;
    return Status::Ok();
  }

  // Before it is destroyed.
  void Finish(TfLiteContext& context) {
    if (!session_) return;
    Save(context);
    UpdateReport(context);
    if (!profile_.empty()) delegate_.Log(context, ProfileText());
  }

 private:
  Status MakeSession(TfLiteContext& context, const TfLiteDelegateParams& params) {
    nodes_ = CopyOf(params.nodes_to_replace);
    HEARTH_ASSIGN(const std::vector<InterpreterNode> own, NodesAt(context, nodes_));
    HEARTH_ASSIGN(const std::vector<InterpreterNode> nodes,
                  WithTheirConstants(context, own, delegate_.ConstantNodesOf(context)));
    HEARTH_ASSIGN(const InterpreterModel model, ModelOfNodes(context, nodes, CopyOf(params.output_tensors)));
    HEARTH_ASSIGN(written_, WriteModel(model.model));
    HEARTH_ASSIGN(InterpreterGraph read, ReadInterpreterGraph(model, written_));
    inputs_ = std::move(read.inputs);
    outputs_ = std::move(read.outputs);
    auto data = std::make_unique<ModelData>();
    data->path = fmt::format("partition of {} nodes", nodes_.size());
    data->bytes = std::as_const(written_).bytes();
    data->graph = std::move(read.graph);
    data->fingerprint = FingerprintOf(data->bytes);
    DescribeModel(*data);
    model_.emplace(std::move(data));

    const DelegateOptions& chosen = delegate_.options();
    SessionOptions options;
    options.device = delegate_.device_id();
    options.precision = chosen.precision;
    options.preference = chosen.preference;
    options.use_cache = chosen.use_cache;
    options.cache_folder = chosen.cache_folder;
    options.cache_max_bytes = chosen.cache_max_bytes;
    options.model_token = chosen.model_token;
    options.threads = std::max(0, context.recommended_num_threads);
    HEARTH_ASSIGN(Session session, Session::Create(*model_, options));
    session_.emplace(std::move(session));
    return Status::Ok();
  }

  // The interpreter's tensors as they lie now: it may move them between two invocations.
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
    for (const std::string& warning : session_->report().warnings) delegate_.LogOnce(context, warning);
    UpdateReport(context);
  }

  void UpdateReport(TfLiteContext& context) {
    if (delegate_.options().report_path.empty()) return;
    delegate_.Report(context, number_, {nodes_, session_->report().ToJson(-1), invocations_, profile_});
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
    const auto count = static_cast<double>(invocations_);
    double total = 0;
    for (const ProfileEntry& row : rows) total += row.milliseconds;
    std::string text =
        fmt::format("Hearth: {} nodes on {}, {} invocations of {:.3f} ms on the device; the longest:", nodes_.size(),
                    delegate_.device_id(), invocations_, total / count);
    for (size_t k = 0; k < std::min(rows.size(), kMostProfileLines); ++k) {
      text += fmt::format("\n  {:9.3f} ms  {:24} {}", rows[k].milliseconds / count, rows[k].kernel, rows[k].node);
    }
    return text;
  }

  Delegate& delegate_;
  int64_t number_;
  Status status_;
  std::vector<int> nodes_;             // of the partition
  std::vector<int> inputs_, outputs_;  // the interpreter's tensors behind the model's
  std::vector<std::span<const std::byte>> input_bytes_;
  std::vector<std::span<std::byte>> output_bytes_;
  int64_t invocations_ = 0;
  std::vector<ProfileEntry> profile_;  // sums
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
    kernel = new PartitionKernel(*Delegate::Of(params.delegate));
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
  return Tell(context, KernelOf(node->user_data)->status());
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
