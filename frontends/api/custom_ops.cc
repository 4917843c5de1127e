#include "frontends/api/custom_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

class OperatorInC final : public CustomOperator {
 public:
  OperatorInC(const hearth_op& op, std::shared_ptr<const void> library) : library_(std::move(library)), op_(op) {}
  ~OperatorInC() override {
    // Each model that is opened reads a library's table anew.
    if (op_.destroy != nullptr && library_ == nullptr) op_.destroy(op_.user_data);
  }
  OperatorInC(const OperatorInC&) = delete;
  OperatorInC& operator=(const OperatorInC&) = delete;

  Status Infer(const hearth_op_call& call) const override { return Call(op_.infer, call); }
  Status Run(const hearth_op_call& call) const override { return Call(op_.run, call); }

 private:
  Status Call(int32_t (*function)(const hearth_op_call*), hearth_op_call call) const {
    std::array<char, 1024> text{};
    call.user_data = op_.user_data;
    call.error = text.data();
    call.error_bytes = text.size();
    const int32_t code = function(&call);
    if (code == 0) return Status::Ok();
    text.back() = 0;
    const std::string why = ValidUtf8(text.data());
    return Error(StatusCode::kInvalidArgument, "{}", why.empty() ? fmt::format("it returned {}", code) : why);
  }

  std::shared_ptr<const void> library_;  // destroyed last
  hearth_op op_;
};

Status AddLibrary(const std::string& path, std::vector<CustomOp>& ops) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return Error(StatusCode::kNotFound, "no such file: check the path");
  if (std::filesystem::is_directory(path, failed))
    return Error(StatusCode::kInvalidArgument, "a folder: name a library in it");
  // The system's loader takes a name without a folder for one of its own libraries.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  Result<DynamicLibrary> opened = DynamicLibrary::Open(std::array{file.c_str()});
  if (!opened.ok()) {
    return Error(StatusCode::kInvalidArgument, "it is no shared library for this machine, or lacks one: {}",
                 opened.status().message());
  }
  const auto library = std::make_shared<const DynamicLibrary>(*std::move(opened));
  const auto table_of = library->Symbol<const hearth_ops* (*)()>("hearth_ops_v1");
  if (table_of == nullptr) {
    return Error(StatusCode::kInvalidArgument,
                 "it has no function hearth_ops_v1: export one that returns its table (hearth/hearth_ops.h)");
  }
  const hearth_ops* table = table_of();
  if (table != nullptr && table->ops == nullptr && table->op_count > 0)
    return Error(StatusCode::kInvalidArgument, "its table counts {} operators and has none", table->op_count);
  if (table == nullptr || table->version != HEARTH_OPS_VERSION) {
    return Error(StatusCode::kInvalidArgument,
                 "its table is of version {}, this Hearth knows version {}: build it anew",
                 table == nullptr ? 0 : table->version, HEARTH_OPS_VERSION);
  }
  for (uint32_t k = 0; k < table->op_count; ++k) {
    if (table->ops[k] == nullptr) return Error(StatusCode::kInvalidArgument, "its operator {} is null", k);
    HEARTH_ASSIGN(CustomOp op, CustomOpOf(*table->ops[k], library));
    ops.push_back(std::move(op));
  }
  return Status::Ok();
}

}  // namespace

Result<CustomOp> CustomOpOf(const hearth_op& op, std::shared_ptr<const void> library) {
  // Those built before a later member was added are to be copied member by member.
  static_assert(sizeof(hearth_op) == offsetof(hearth_op, destroy) + sizeof(hearth_op::destroy));
  if (op.struct_size < sizeof(hearth_op)) {
    return Error(StatusCode::kInvalidArgument, "an operator's struct_size is {}, sizeof(hearth_op) is {}",
                 op.struct_size, sizeof(hearth_op));
  }
  if (op.name == nullptr || op.infer == nullptr || op.run == nullptr)
    return Error(StatusCode::kInvalidArgument, "an operator has no name, no infer or no run");
  return CustomOp{op.name, op.version == nullptr ? "" : op.version,
                  std::make_shared<OperatorInC>(op, std::move(library))};
}

Result<std::vector<CustomOp>> AllCustomOps(const ModelOptions& options) {
  std::vector<CustomOp> ops = options.custom_ops;
  for (const std::string& path : options.op_libraries)
    HEARTH_TRY(AddLibrary(path, ops).Within(fmt::format("the library of operators '{}'", path)));
  for (size_t k = 0; k < ops.size(); ++k) {
    const bool is_twice = std::any_of(ops.begin(), ops.begin() + static_cast<ptrdiff_t>(k),
                                      [&](const CustomOp& other) { return other.name == ops[k].name; });
    if (!ops[k].name.empty() && ops[k].functions != nullptr && !is_twice) continue;
    return Error(StatusCode::kInvalidArgument, "the operator '{}' is registered {}", ops[k].name,
                 is_twice ? "twice" : "without a name or without functions");
  }
  return ops;
}

}  // namespace hearth
