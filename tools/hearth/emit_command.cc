// hearth emit KERNEL
#include <map>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/device/options.h"
#include "core/emit/arithmetic.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_source.h"
#include "runtime/devices/device_choice.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

const std::map<std::string, Dialect> kDialects = {
    {"opencl", Dialect::kOpenCl}, {"gles", Dialect::kGles}, {"vulkan", Dialect::kVulkan}};

// Sets what the rules for a device decide whatever the layer is. Group sizes and variants are each layer's own.
Status ApplyRules(const DeviceInfo& device, KernelSource& source) {
  for (TensorArg& tensor : source.tensors) {
    const bool is_written = tensor.direction == ArgDirection::kWrite;
    if (is_written && tensor.storage == StorageType::kFloat32 && Applies(Rule::kWideStores, device))
      tensor.path = AccessPath::kBuffer64;
  }
  const bool has_chains = Contains(source.defines, Define{std::string(kChained), "0"});
  return has_chains && Applies(Rule::kChainedSums, device) ? SetDefine(source, kChained, "1") : Status::Ok();
}

class EmitCommand final : public Verb {
 public:
  EmitCommand()
      : Verb({"emit", "The text of a kernel that a driver would get", "hearth emit softmax --dialect vulkan"}) {}

  void AddOptions(CLI::App& app) override {
    app.add_option("KERNEL", kernel_, "A kernel's name; a wrong one lists them all")->required()->type_name("");
    app.add_option("--dialect", dialect_, "opencl, gles or vulkan")
        ->required()
        ->check(CLI::IsMember({"opencl", "gles", "vulkan"}))
        ->type_name("DIALECT");
    app.add_option("--read-path", read_path_, "How tensors are read: buffer or texel-buffer")
        ->check(CLI::IsMember({"buffer", "texel-buffer"}))
        ->type_name("PATH")
        ->default_str("buffer, or as the simulated device reads");
    AddSimulateOption(app, simulate_);
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_ASSIGN(KernelSource source, LoadKernel(kernel_));
    const Dialect dialect = kDialects.at(dialect_);
    AccessPath read_path = read_path_ == "texel-buffer" ? AccessPath::kTexelBuffer : AccessPath::kBuffer;
    if (!simulate_.empty()) {
      HEARTH_ASSIGN(const OpenedDevice opened, OpenSimulatedDevice(dialect_, simulate_));
      if (read_path_.empty()) read_path = DefaultReadPath(opened.info);
      HEARTH_TRY(ApplyRules(opened.info, source));
    }
    if (read_path == AccessPath::kTexelBuffer) {
      if (dialect == Dialect::kOpenCl) {
        return Error(StatusCode::kInvalidArgument, "OpenCL kernels have no texel buffers; use --read-path buffer");
      }
      for (TensorArg& tensor : source.tensors) {
        if (tensor.direction == ArgDirection::kRead) tensor.path = AccessPath::kTexelBuffer;
      }
    }
    const std::string text = Emit(source, dialect);
    output_.PrintText(text);
    HEARTH_TRY(output_.WriteJson({{"kernel", kernel_},
                                  {"dialect", dialect_},
                                  {"simulates", simulate_},
                                  {"read_path", AccessPathName(read_path)},
                                  {"text", text}}));
    return ExitCode::kFine;
  }

 private:
  std::string kernel_, dialect_, read_path_, simulate_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeEmitCommand() {
  return std::make_unique<EmitCommand>();
}

}  // namespace hearth
