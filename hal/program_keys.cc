#include "hal/program_keys.h"

#include <string>

#include "core/emit/emit.h"
#include "core/plan/key_fields.h"

namespace hearth {
namespace {

void AddTexts(CacheKey& key, std::span<const KernelSource> sources, Dialect dialect) {
  for (const KernelSource& source : sources) {
    const std::string text = Emit(source, dialect);
    key.Add(kKernelField.name, source.name).AddContent(kTextField.name, std::as_bytes(std::span(text)));
  }
}

}  // namespace

CacheKey ProgramKey(std::span<const KernelSource> sources, const DeviceInfo& info) {
  CacheKey key(BlobKind::kProgram);
  AddDevice(key, info, DevicePart::kIdentity);
  // llvmpipe's binaries hold how many CPUs the process had, and are refused with any other number.
  if (info.backend == "gles" && info.is_software()) key.Add(kCpusField.name, info.compute_units);
  AddTexts(key, sources, info.dialect);
  return key;
}

CacheKey SourceKey(std::span<const KernelSource> sources, const DeviceInfo& info, std::string_view compiler) {
  CacheKey key(BlobKind::kSource);
  key.Add(kCompilerField.name, compiler);
  AddTexts(key, sources, info.dialect);
  return key;
}

}  // namespace hearth
