// LiteRT's C interface for a test's program: its functions by name, and what a compiled model is made of.
#ifndef HEARTH_TESTS_ACCELERATOR_LITERT_OBJECTS_H_
#define HEARTH_TESTS_ACCELERATOR_LITERT_OBJECTS_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "frontends/accelerator/litert_c.h"

namespace hearth::litert_c {

struct LiteRtCompiledModelT;
struct LiteRtModelT;
struct LiteRtSignatureT;
struct LiteRtTensorT;

struct RankedTensorType {
  int32_t element;
  uint32_t rank;
  int32_t dimensions[8];
  uint32_t strides[8];
  size_t elements() const {
    size_t count = 1;
    for (uint32_t k = 0; k < (rank & 127); ++k) count *= static_cast<size_t>(dimensions[k]);
    return count;
  }
};
struct EnvOption {
  int32_t tag, padding, type, padding_of_value;
  const void* value;
};
static_assert(sizeof(RankedTensorType) == 72);

inline constexpr int32_t kRuntimeLibraryDir = 22, kAnyTypeInt = 2, kAnyTypeString = 8;
inline void* litert;  // libLiteRt.so

[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::exit(1);
}

template <typename Function>
Function FunctionOf(const char* name) {
  return reinterpret_cast<Function>(dlsym(litert, name));
}

template <typename... Arguments>
LiteRtStatus Ask(const char* name, Arguments... arguments) {
  const auto function = FunctionOf<LiteRtStatus (*)(Arguments...)>(name);
  if (function == nullptr) Fail(std::string(name) + " is missing");
  return function(arguments...);
}

template <typename... Arguments>
void Call(const char* name, Arguments... arguments) {
  const LiteRtStatus status = Ask(name, arguments...);
  if (status != kLiteRtStatusOk) Fail(std::string(name) + ": " + std::to_string(status));
}

template <typename T>
void Destroy(const char* name, T* object) {
  FunctionOf<void (*)(T*)>(name)(object);
}

inline LiteRtEnvironmentT* NewEnvironment(const char* folder, const std::vector<EnvOption>& more = {}) {
  std::vector<EnvOption> options = {{kRuntimeLibraryDir, 0, kAnyTypeString, 0, folder}};
  options.insert(options.end(), more.begin(), more.end());
  LiteRtEnvironmentT* environment = nullptr;
  Call("LiteRtCreateEnvironment", static_cast<int>(options.size()), static_cast<const EnvOption*>(options.data()),
       &environment);
  return environment;
}

// A compiled model with what it is made of, in the environment of the caller.
struct Network {
  Network(LiteRtEnvironmentT* in, const char* path, int32_t accelerators) : environment(in) {
    Call("LiteRtCreateModelFromFile", environment, path, &model);
    LiteRtOptionsT* options = nullptr;
    Call("LiteRtCreateOptions", &options);
    Call("LiteRtSetOptionsHardwareAccelerators", options, accelerators);
    Call("LiteRtCreateCompiledModel", environment, model, options, &compiled);
    Destroy("LiteRtDestroyOptions", options);
    LiteRtSignatureT* signature = nullptr;
    LiteRtTensorT* tensor = nullptr;
    Call("LiteRtGetModelSignature", model, size_t{0}, &signature);
    Call("LiteRtGetSignatureInputTensorByIndex", signature, size_t{0}, &tensor);
    Call("LiteRtGetRankedTensorType", tensor, &type);
  }
  ~Network() {
    Destroy("LiteRtDestroyCompiledModel", compiled);
    Destroy("LiteRtDestroyModel", model);
  }

  // The memory that the model asks for.
  LiteRtTensorBufferT* NewBuffer(const char* requirements_of) const {
    LiteRtTensorBufferRequirementsT* requirements = nullptr;
    LiteRtTensorBufferT* buffer = nullptr;
    Call(requirements_of, compiled, size_t{0}, size_t{0}, &requirements);
    Call("LiteRtCreateManagedTensorBufferFromRequirements", environment, &type, requirements, &buffer);
    return buffer;
  }
  LiteRtTensorBufferT* NewInput() const { return NewBuffer("LiteRtGetCompiledModelInputBufferRequirements"); }
  LiteRtTensorBufferT* NewOutput() const { return NewBuffer("LiteRtGetCompiledModelOutputBufferRequirements"); }

  LiteRtStatus TryRun(LiteRtTensorBufferT* input, LiteRtTensorBufferT* output) const {
    return Ask("LiteRtRunCompiledModel", compiled, size_t{0}, size_t{1}, &input, size_t{1}, &output);
  }
  bool RunAsync(LiteRtTensorBufferT* input, LiteRtTensorBufferT* output) const {
    bool is_async = true;
    Call("LiteRtClearTensorBufferEvent", output);  // of an earlier run
    Call("LiteRtRunCompiledModelAsync", compiled, size_t{0}, size_t{1}, &input, size_t{1}, &output, &is_async);
    return is_async;
  }

  LiteRtEnvironmentT* environment;
  LiteRtModelT* model = nullptr;
  LiteRtCompiledModelT* compiled = nullptr;
  RankedTensorType type = {};
};

inline void Fill(LiteRtTensorBufferT* buffer, const std::vector<float>& values) {
  void* memory = nullptr;
  Call("LiteRtLockTensorBuffer", buffer, &memory, kLiteRtTensorBufferLockModeWrite);
  std::memcpy(memory, values.data(), values.size() * sizeof(float));
  Call("LiteRtUnlockTensorBuffer", buffer);
}

inline std::vector<float> Content(LiteRtTensorBufferT* buffer, size_t elements) {
  void* memory = nullptr;
  std::vector<float> values(elements);
  Call("LiteRtLockTensorBuffer", buffer, &memory, kLiteRtTensorBufferLockModeRead);
  std::memcpy(values.data(), memory, elements * sizeof(float));
  Call("LiteRtUnlockTensorBuffer", buffer);
  return values;
}

}  // namespace hearth::litert_c

#endif  // HEARTH_TESTS_ACCELERATOR_LITERT_OBJECTS_H_
