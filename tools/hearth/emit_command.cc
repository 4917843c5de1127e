// hearth emit KERNEL
#include <map>

#include "core/base/error.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_source.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

const std::map<std::string, Dialect> kDialects = {
    {"opencl", Dialect::kOpenCl}, {"gles", Dialect::kGles}, {"vulkan", Dialect::kVulkan}};

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
        ->capture_default_str();
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    HEARTH_ASSIGN(KernelSource source, LoadKernel(kernel_));
    const Dialect dialect = kDialects.at(dialect_);
    if (read_path_ == "texel-buffer") {
      if (dialect == Dialect::kOpenCl) {
        return Error(StatusCode::kInvalidArgument, "OpenCL kernels have no texel buffers; use --read-path buffer");
      }
      for (TensorArg& tensor : source.tensors) {
        if (tensor.direction == ArgDirection::kRead) tensor.path = AccessPath::kTexelBuffer;
      }
    }
    const std::string text = Emit(source, dialect);
    output_.PrintText(text);
    HEARTH_TRY(
        output_.WriteJson({{"kernel", kernel_}, {"dialect", dialect_}, {"read_path", read_path_}, {"text", text}}));
    return ExitCode::kFine;
  }

 private:
  std::string kernel_, dialect_, read_path_ = "buffer";
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeEmitCommand() {
  return std::make_unique<EmitCommand>();
}

}  // namespace hearth
