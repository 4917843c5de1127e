#include "tests/golden/emitted_kernels.h"

#include "core/base/error.h"
#include "core/emit/kernel_library.h"

namespace hearth::testing {
namespace {

const std::vector<Dialect> kAllDialects = {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan};
const std::vector<Dialect> kGlsl = {Dialect::kGles, Dialect::kVulkan};

KernelSource Loaded(const std::string& name) {
  Result<KernelSource> source = LoadKernel(name);
  HEARTH_CHECK(source.ok());
  return std::move(source).value();
}

KernelSource ThroughTexels(KernelSource source) {
  for (TensorArg& arg : source.tensors) {
    if (arg.direction == ArgDirection::kRead) arg.path = AccessPath::kTexelBuffer;
  }
  return source;
}

// Adds another tensor, then clamps: what a residual connection with a fused relu6 lowers to.
KernelSource WithEpilogue(KernelSource source) {
  source.tensors.push_back({"rhs", ArgDirection::kRead});
  source.scalars.push_back({"lowest", ScalarType::kFloat});
  source.scalars.push_back({"highest", ScalarType::kFloat});
  source.epilogue = {{.form = StatementForm::kAdd, .arguments = {"rhs"}},
                     {.form = StatementForm::kClamp, .arguments = {"lowest", "highest"}}};
  return source;
}

KernelSource WithDefines(KernelSource source, const std::vector<Define>& defines) {
  for (const Define& define : defines) SetDefine(source, define.name, define.value);
  return source;
}

KernelSource WithHalfStorage(KernelSource source) {
  for (TensorArg& arg : source.tensors) arg.storage = StorageType::kFloat16;
  return source;
}

KernelSource InPairs(KernelSource source) {
  for (TensorArg& arg : source.tensors) {
    if (arg.direction == ArgDirection::kWrite) arg.path = AccessPath::kBuffer64;
  }
  return source;
}

// What a caller lends, at argument `lent`: as numbers, as pixels or as a texture.
KernelSource WithLent(KernelSource source, size_t lent, StorageType storage, AccessPath path) {
  source.tensors[lent].storage = storage;
  source.tensors[lent].path = path;
  SetDefine(source, "PIXELS", storage == StorageType::kScalar ? "0" : "1");
  return source;
}

void AddLent(const std::string& name, size_t lent, std::vector<EmittedKernel>& kernels) {
  const auto with = [&](StorageType storage, AccessPath path) { return WithLent(Loaded(name), lent, storage, path); };
  kernels.push_back({name + ".numbers", with(StorageType::kScalar, AccessPath::kBuffer), kAllDialects});
  kernels.push_back({name + ".rgba8", with(StorageType::kUnorm8, AccessPath::kBuffer), kAllDialects});
  kernels.push_back({name + ".texture", with(StorageType::kUnorm8, AccessPath::kTexture), {Dialect::kGles}});
}

}  // namespace

std::vector<EmittedKernel> EmittedKernels() {
  std::vector<EmittedKernel> kernels;
  for (const std::string& name : KernelNames()) kernels.push_back({name, Loaded(name), kAllDialects});
  for (const char* name : {"map", "pointwise_tile", "softmax"}) {
    kernels.push_back({std::string(name) + ".texel", ThroughTexels(Loaded(name)), kGlsl});
  }
  for (const char* name : {"pointwise_tile", "conv_tile"}) {
    const KernelSource shared = WithDefines(Loaded(name), {{"COLS", "3"}, {"SUBGROUP", "8"}});
    kernels.push_back({std::string(name) + ".subgroup", InPairs(ThroughTexels(shared)), {Dialect::kVulkan}});
  }
  for (const char* name : {"conv_tile", "transpose_conv"}) {
    kernels.push_back({std::string(name) + ".runtime", WithDefines(Loaded(name), {{"RUNTIME", "1"}}), kAllDialects});
  }
  kernels.push_back({"matmul.adjoint", WithDefines(Loaded("matmul"), {{"ADJ_A", "1"}, {"ADJ_B", "1"}}), kAllDialects});
  kernels.push_back({"matmul.flat", WithDefines(Loaded("matmul"), {{"FLAT_A", "1"}, {"ADJ_B", "1"}}), kAllDialects});
  kernels.push_back({"map.epilogue", WithEpilogue(Loaded("map")), kAllDialects});
  kernels.push_back({"pointwise_wide.half", WithHalfStorage(Loaded("pointwise_wide")), kAllDialects});
  AddLent("read_edge", 0, kernels);
  AddLent("write_edge", 1, kernels);
  return kernels;
}

}  // namespace hearth::testing
