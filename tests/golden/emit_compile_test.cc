// Compiles every emitted text without a driver, so that a machine without any GPU finds a broken kernel.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/golden/emitted_kernels.h"
#include "tests/testing/temporary_folder.h"
#ifdef HEARTH_WITH_VULKAN
#include "backends/vulkan/spirv_compiler.h"
#endif

namespace hearth {
namespace {

using testing::EmittedKernel;
using testing::EmittedKernels;

struct ToolResult {
  int exit_code = -1;
  std::string output;
};

ToolResult RunTool(const std::string& command) {
  ToolResult result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char chunk[4096];
  for (size_t size = fread(chunk, 1, sizeof(chunk), pipe); size > 0; size = fread(chunk, 1, sizeof(chunk), pipe)) {
    result.output.append(chunk, size);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool HasTool(const char* name) {
  return RunTool(std::string("command -v ") + name).exit_code == 0;
}

TEST(EmittedText, CompilesAsOneOpenClProgram) {
  if (!HasTool("clang")) GTEST_SKIP() << "no clang to compile OpenCL C with";
  const TemporaryFolder folder;
  const auto path = folder.path() / "kernels.cl";
  // All of them in one program, as PoCL gets them: no kernel's macros may reach the next.
  std::ofstream file(path);
  file << EmitOpenClPrelude();
  for (const EmittedKernel& kernel : EmittedKernels()) {
    if (kernel.dialects[0] == Dialect::kOpenCl) file << EmitOpenClKernel(kernel.source);
  }
  file.close();
  const ToolResult result = RunTool(
      "clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -Wall "
      "-Werror=implicit-function-declaration " +
      path.string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(EmittedText, CompilesAsGlslEs) {
  if (!HasTool("glslangValidator"))
    GTEST_SKIP() << "no glslangValidator (Debian: glslang-tools) to compile GLSL ES with";
  const TemporaryFolder folder;
  std::string command = "glslangValidator -S comp";
  for (const EmittedKernel& kernel : EmittedKernels()) {
    if (std::find(kernel.dialects.begin(), kernel.dialects.end(), Dialect::kGles) == kernel.dialects.end()) continue;
    const auto path = folder.path() / (kernel.name + ".comp");
    std::ofstream(path) << Emit(kernel.source, Dialect::kGles);
    command += " " + path.string();
  }
  const ToolResult result = RunTool(command);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(EmittedText, CompilesToSpirv) {
#ifdef HEARTH_WITH_VULKAN
  for (const EmittedKernel& kernel : EmittedKernels()) {
    const auto words = vulkan::CompileToSpirv(Emit(kernel.source, Dialect::kVulkan));
    ASSERT_TRUE(words.ok()) << kernel.name << ": " << words.status().message();
    EXPECT_TRUE(vulkan::CheckSpirv(*words).ok()) << kernel.name;
  }
#else
  GTEST_SKIP() << "this build has no Vulkan backend, whose glslang compiles the text";
#endif
}

}  // namespace
}  // namespace hearth
