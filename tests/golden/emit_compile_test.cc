// Compiles every emitted text without a driver, so that a machine without any GPU finds a broken kernel.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "core/emit/emit.h"
#include "hal/run/watchdog_slices.h"
#include "tests/golden/picks.h"
#include "tests/testing/temporary_folder.h"
#ifdef HEARTH_WITH_VULKAN
#include "backends/vulkan/spirv_compiler.h"
#endif

namespace hearth {
namespace {

using testing::KernelPicks;
using testing::Pick;

std::vector<Pick> PicksOf(Dialect dialect) {
  std::vector<Pick> found;
  for (const std::vector<Pick>* picks : {&KernelPicks().oracle, &KernelPicks().shared}) {
    std::ranges::copy_if(*picks, std::back_inserter(found), [&](const Pick& pick) { return pick.dialect == dialect; });
  }
  // Of each kernel once more what parts of its dispatches run.
  std::set<std::string> names;
  for (size_t k = 0, count = found.size(); k < count; ++k) {
    if (!names.insert(found[k].source.name).second) continue;
    const KernelSource source = WithFirstGroup(found[k].source);
    found.push_back({source, dialect, found[k].where + ", in parts", Emit(source, dialect), {}});
  }
  return found;
}

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
  std::vector<KernelSource> sources;
  for (const Pick& pick : PicksOf(Dialect::kOpenCl)) sources.push_back(pick.source);
  std::ofstream(path) << EmitOpenClProgram(sources);
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
  int count = 0;
  for (const Pick& pick : PicksOf(Dialect::kGles)) {
    const auto path = folder.path() / fmt::format("{}.comp", ++count);
    std::ofstream(path) << pick.text;
    command += " " + path.string();
  }
  const ToolResult result = RunTool(command);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(EmittedText, CompilesToSpirv) {
#ifdef HEARTH_WITH_VULKAN
  for (const Pick& pick : PicksOf(Dialect::kVulkan)) {
    const auto words = vulkan::CompileToSpirv(pick.text);
    ASSERT_TRUE(words.ok()) << pick.source.name << ", " << pick.where << ": " << words.status().message();
    EXPECT_TRUE(vulkan::CheckSpirv(*words).ok()) << pick.source.name << ", " << pick.where;
  }
#else
  GTEST_SKIP() << "this build has no Vulkan backend, whose glslang compiles the text";
#endif
}

}  // namespace
}  // namespace hearth
