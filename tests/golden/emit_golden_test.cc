// The text of every kernel in every dialect, against files that were reviewed. After an intended change:
//   HEARTH_UPDATE_GOLDENS=1 ctest -L golden && git diff tests/golden/emitted

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/golden/emitted_kernels.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::EmittedKernel;
using testing::EmittedKernels;

std::filesystem::path GoldenFolder() {
  return SourceFolder() / "tests" / "golden" / "emitted";
}

std::string FileName(const EmittedKernel& kernel, Dialect dialect) {
  return kernel.name + "." + std::string(DialectName(dialect)) + ".txt";
}

bool UpdateGoldens() {
  const char* set = std::getenv("HEARTH_UPDATE_GOLDENS");
  return set != nullptr && *set != '\0' && std::string_view(set) != "0";
}

std::string ReadText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The first line in which two texts differ, for a message that fits a screen.
std::string FirstDifference(const std::string& golden, const std::string& emitted) {
  std::istringstream golden_lines(golden), emitted_lines(emitted);
  for (int line = 1;; ++line) {
    std::string expected, actual;
    const bool more_expected = static_cast<bool>(std::getline(golden_lines, expected));
    const bool more_actual = static_cast<bool>(std::getline(emitted_lines, actual));
    if (!more_expected && !more_actual) return "equal lines";
    if (expected != actual || more_expected != more_actual) {
      return "line " + std::to_string(line) + "\n  golden:  " + expected + "\n  emitted: " + actual;
    }
  }
}

TEST(EmittedText, IsTheReviewedOneForEveryKernelAndDialect) {
  for (const EmittedKernel& kernel : EmittedKernels()) {
    for (Dialect dialect : kernel.dialects) {
      const std::filesystem::path path = GoldenFolder() / FileName(kernel, dialect);
      const std::string emitted = Emit(kernel.source, dialect);
      if (UpdateGoldens()) {
        std::filesystem::create_directories(GoldenFolder());
        std::ofstream(path, std::ios::binary) << emitted;
      }
      const std::string golden = ReadText(path);
      EXPECT_TRUE(golden == emitted) << path.filename() << " differs at " << FirstDifference(golden, emitted);
    }
  }
}

TEST(EmittedText, HasNoGoldenOfAKernelThatIsGone) {
  std::set<std::string> expected;
  for (const EmittedKernel& kernel : EmittedKernels()) {
    for (Dialect dialect : kernel.dialects) expected.insert(FileName(kernel, dialect));
  }
  for (const auto& entry : std::filesystem::directory_iterator(GoldenFolder())) {
    EXPECT_TRUE(expected.contains(entry.path().filename().string())) << entry.path().filename();
  }
}

}  // namespace
}  // namespace hearth
