#include "frontends/delegate/delegate.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/device_rules.h"
#include "frontends/delegate/partitions.h"
#include "hearth/version.h"
#include "runtime/devices/device_choice.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* native) {
  const Status status = Guarded([&] { return Delegate::Of(native)->Prepare(*context); });
  if (status.ok()) return kTfLiteOk;
  if (context->ReportError != nullptr) context->ReportError(context, "Hearth: %s. ", status.message().c_str());
  return kTfLiteDelegateError;
}

Result<std::vector<InterpreterNode>> NodesOfPlan(TfLiteContext& context) {
  TfLiteIntArray* plan = nullptr;
  if (context.GetExecutionPlan == nullptr || context.GetExecutionPlan(&context, &plan) != kTfLiteOk) {
    return Error(StatusCode::kInternal, "the interpreter does not give its execution plan");
  }
  return NodesAt(context, CopyOf(plan));
}

// The inputs and outputs of all nodes but those of `taken`, which is sorted.
Result<std::set<int>> TensorsOfOthers(TfLiteContext& context, const std::vector<int>& taken) {
  HEARTH_ASSIGN(const std::vector<InterpreterNode> plan, NodesOfPlan(context));
  std::set<int> tensors;
  for (const InterpreterNode& node : plan) {
    if (std::ranges::binary_search(taken, node.index)) continue;
    for (const TfLiteIntArray* list : {node.node->inputs, node.node->outputs}) {
      const std::span<const int> numbers = Numbers(list);
      tensors.insert(numbers.begin(), numbers.end());
    }
  }
  return tensors;
}

bool AppendLine(const std::string& path, const std::string& text) {
  FILE* file = path == "stderr" ? stderr : std::fopen(path.c_str(), "a");
  if (file == nullptr) return false;
  std::fprintf(file, "%s\n", text.c_str());
  if (file != stderr) std::fclose(file);
  return true;
}

bool WriteInPlace(const std::string& path, const std::string& text) {
  FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_written;
}

// Writes a draft and renames it, so that no reader sees a part. Links, pipes and devices (/dev/stderr) are kept.
bool WriteFile(const std::string& path, const std::string& text) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) return WriteInPlace(path, text);
  const std::string draft = fmt::format("{}.{}", path, getpid());
  if (WriteInPlace(draft, text) && std::rename(draft.c_str(), path.c_str()) == 0) return true;
  std::remove(draft.c_str());
  return false;
}

}  // namespace

Delegate::Delegate(DelegateOptions options, Status broken, std::unique_ptr<InterpreterMemory> memory)
    : options_(std::move(options)),
      broken_(std::move(broken)),
      memory_(std::move(memory)),
      is_profiling_(options_.is_profiling) {
  native_.data_ = this;
  native_.Prepare = PrepareDelegate;
  native_.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
}

TfLiteDelegate* Delegate::Create(DelegateOptions options, Status broken, std::unique_ptr<InterpreterMemory> memory) {
  SilenceDefaultLog();  // warnings go to the interpreter's log
  if (memory == nullptr) memory = std::make_unique<MemoryOfTensors>();
  const std::shared_ptr<Delegate> made(new Delegate(std::move(options), std::move(broken), std::move(memory)));
  made->programs_ = made;
  return &made->native_;
}

void Delegate::Delete(TfLiteDelegate* native) noexcept {
  if (native == nullptr) return;
  const Status status = Guarded([&] {
    const std::shared_ptr<Delegate> share = std::move(Of(native)->programs_);
    return Status::Ok();
  });
  static_cast<void>(status);  // there is no one to report to
}

std::string Delegate::device_id() {
  const std::lock_guard lock(mutex_);
  return device_id_;
}

// Opens the device to learn its limits. Each kernel's session opens it again, unless they share it.
Status Delegate::OpenDevice() {
  const std::lock_guard lock(mutex_);
  if (device_) return Status::Ok();
  OpenedDevice opened;
  if (const OpenedDevice* given = memory_->device(); given != nullptr) {
    opened = *given;
  } else {
    HEARTH_ASSIGN(opened, OpenDeviceAs(options_.session.device, options_.session.simulate));
  }
  device_ = opened.info;
  HEARTH_ASSIGN(device_->forced_rules, ForcedRulesFromText(options_.session.rules));
  device_id_ = opened.id;
  if (memory_->stays_on_device() && opened.device != nullptr) shared_device_ = std::move(opened);
  return Status::Ok();
}

const OpenedDevice* Delegate::shared_device() {
  const std::lock_guard lock(mutex_);
  return shared_device_ ? &*shared_device_ : nullptr;
}

Result<Support> Delegate::FindSupported(TfLiteContext& context) {
  HEARTH_TRY(OpenDevice());
  HEARTH_ASSIGN(const std::vector<InterpreterNode> plan, NodesOfPlan(context));
  LowerOptions lowering;
  if (device_->fp16_storage)
    lowering.precision = PrecisionFromName(options_.session.precision).value_or(Precision::kFp32);
  HEARTH_ASSIGN(Support support,
                FindSupport(context, plan, {&*device_, lowering, options_.cpu_ops, options_.allows_quantized}));
  for (const std::string& name : support.unknown_cpu_ops) {
    LogOnce(context,
            fmt::format("'{}' was to stay with the interpreter, but no operation of the network is called so", name));
  }
  return support;
}

Status Delegate::Replace(TfLiteContext& context, const std::vector<int>& nodes) {
  if (nodes.empty()) return Status::Ok();
  if (context.ReplaceNodeSubsetsWithDelegateKernels == nullptr) {
    return Error(StatusCode::kInternal, "the interpreter does not let a delegate replace nodes");
  }
  const IntArray array(nodes);
  if (context.ReplaceNodeSubsetsWithDelegateKernels(&context, PartitionKernelRegistration(), array.get(), &native_) !=
      kTfLiteOk) {
    return Error(StatusCode::kInternal, "the interpreter could not replace {} nodes", nodes.size());
  }
  return Status::Ok();
}

Status Delegate::Prepare(TfLiteContext& context) {
  HEARTH_TRY(broken_);
  HEARTH_ASSIGN(Support support, FindSupported(context));
  HEARTH_ASSIGN(const std::vector<int> nodes, NodesToReplace(context, options_, support));
  if (const std::string left = LeftNodesText(context, support, nodes.size()); !left.empty()) {
    if (options_.must_take_all)
      return Error(StatusCode::kUnsupported, "{}\n  and nobody else runs them: allow the CPU too (GPU | CPU)", left);
    LogOnce(context, left);
  }
  {
    const std::lock_guard lock(mutex_);
    left_[&context] = support.left;
  }
  HEARTH_ASSIGN(std::set<int> others, TensorsOfOthers(context, nodes));
  const Status status =
      ReplaceKnowing(context, nodes, {ConstantMakers(context, support), support.shapes, std::move(others), {}});
  WriteReport(context);
  return status;
}

Status Delegate::ReplaceKnowing(TfLiteContext& context, const std::vector<int>& nodes, PreparedNetwork network) {
  {
    const std::lock_guard lock(mutex_);
    networks_[&context] = std::move(network);
  }
  const Status status = Replace(context, nodes);
  const std::lock_guard lock(mutex_);
  const Status failure = networks_[&context].failure;
  networks_.erase(&context);
  return status.ok() ? failure : status;
}

std::string Delegate::LeftNodesText(TfLiteContext& context, const Support& support, size_t replaced_count) {
  const auto constants = static_cast<size_t>(std::count_if(
      support.taken.begin(), support.taken.end(), [&](const auto& node) { return node.IsOfConstant(context); }));
  const size_t limited = support.taken.size() - std::min(support.taken.size(), replaced_count + constants);
  if (support.left.empty() && limited == 0) return {};
  std::map<std::pair<std::string, std::string>, std::vector<int>> groups;
  for (const LeftNode& node : support.left) groups[{node.op, node.reason}].push_back(node.index);
  std::string text = fmt::format("Hearth runs {} of {} operations on {}; the interpreter keeps", replaced_count,
                                 support.taken.size() + support.left.size(), device_id());
  for (const auto& [why, nodes] : groups) {
    const size_t shown = std::min<size_t>(nodes.size(), 8);
    text += fmt::format("\n  {} (node {}{}): {}", why.first, fmt::join(nodes.begin(), nodes.begin() + shown, ", "),
                        shown < nodes.size() ? fmt::format(" and {} more", nodes.size() - shown) : "", why.second);
  }
  if (limited > 0) text += fmt::format("\n  {} operations in partitions that the options leave out", limited);
  return text;
}

void Delegate::Log(TfLiteContext& context, const std::string& text) {
  if (!options_.log_path.empty() && AppendLine(options_.log_path, text)) return;
  if (context.ReportError != nullptr) context.ReportError(&context, "%s", text.c_str());
}

void Delegate::LogOnce(TfLiteContext& context, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!logged_.insert(text).second) return;
  }
  Log(context, text);
}

PreparedNetwork Delegate::NetworkOf(const TfLiteContext& context) {
  const std::lock_guard lock(mutex_);
  const auto found = networks_.find(&context);
  return found == networks_.end() ? PreparedNetwork() : found->second;
}

void Delegate::NoteFailure(const TfLiteContext& context, const Status& status) {
  const std::lock_guard lock(mutex_);
  const auto found = networks_.find(&context);
  if (found != networks_.end() && found->second.failure.ok()) found->second.failure = status;
}

void Delegate::Count(const std::vector<ProfileEntry>& entries) {
  const std::lock_guard lock(mutex_);
  ++times_.invocations;
  for (const ProfileEntry& entry : entries)
    times_.milliseconds[fmt::format("{} {}", entry.kernel, entry.node)] += entry.milliseconds;
}

KernelTimes Delegate::TakeTimes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(times_, {});
}

int64_t Delegate::NextKernel() {
  const std::lock_guard lock(mutex_);
  return kernel_count_++;
}

std::string Delegate::ReportText() const {
  using Json = nlohmann::ordered_json;
  Json left = Json::array(), partitions = Json::array();
  for (const auto& [context, nodes] : left_) {
    for (const LeftNode& node : nodes) {
      left.push_back({{"index", node.index}, {"op", node.op}, {"reason", node.reason}});
    }
  }
  for (const auto& [number, kernel] : kernels_) {
    Json profile = Json::array();
    for (const ProfileEntry& row : kernel.profile) {
      profile.push_back({{"node", row.node}, {"kernel", row.kernel}, {"milliseconds", row.milliseconds}});
    }
    partitions.push_back({{"nodes", kernel.nodes},
                          {"invocations", kernel.invocations},
                          {"to_device_bytes", kernel.transfers.to_device_bytes},
                          {"to_host_bytes", kernel.transfers.to_host_bytes},
                          {"session", Json::parse(kernel.session, nullptr, false)},
                          {"profile", profile}});
  }
  const Json report = {
      {"hearth", HEARTH_VERSION}, {"device", device_id_}, {"partitions", partitions}, {"left_to_interpreter", left}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

void Delegate::Report(TfLiteContext& context, int64_t kernel, KernelReport report) {
  {
    const std::lock_guard lock(mutex_);
    kernels_[kernel] = std::move(report);
  }
  WriteReport(context);
}

void Delegate::WriteReport(TfLiteContext& context) {
  bool is_written = true;
  if (!options_.report_path.empty()) {
    const std::lock_guard lock(mutex_);
    is_written = WriteFile(options_.report_path, ReportText());
  }
  if (!is_written) LogOnce(context, fmt::format("the report cannot be written to '{}'", options_.report_path));
}

}  // namespace hearth
