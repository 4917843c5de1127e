// The texts of the kernels that lowering picks, against files that were reviewed. After an intended change:
//   HEARTH_UPDATE_GOLDENS=1 ctest -L golden && git diff tests/golden/emitted

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/golden/picks.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::KernelPicks;
using testing::Pick;

std::filesystem::path GoldenFolder() {
  return SourceFolder() / "tests" / "golden" / "emitted";
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

// By kernel.
std::map<std::string, std::string> Goldens(const std::vector<Pick>& picks) {
  std::map<std::string, std::string> texts;
  for (const Pick& pick : picks) {
    texts[pick.source.name] += "== " + std::string(DialectName(pick.dialect)) + ": " + pick.where + "\n" + pick.lines;
  }
  return texts;
}

void ExpectFiles(const std::vector<Pick>& picks, const std::filesystem::path& folder) {
  const std::map<std::string, std::string> texts = Goldens(picks);
  if (UpdateGoldens()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : texts) std::ofstream(folder / (name + ".txt"), std::ios::binary) << text;
  }
  for (const auto& [name, text] : texts) {
    const std::string golden = ReadText(folder / (name + ".txt"));
    EXPECT_TRUE(golden == text) << name << ".txt differs at " << FirstDifference(golden, text);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(texts.contains(entry.path().stem())) << entry.path() << " is of a kernel that nothing picks";
  }
}

TEST(EmittedText, IsTheReviewedOneForSingleOperators) {
  ExpectFiles(KernelPicks().oracle, GoldenFolder() / "operators");
}

TEST(EmittedText, IsTheReviewedOneForSharedModels) {
  HEARTH_SKIP_WITHOUT(SharedFolder() / "models");
  ExpectFiles(KernelPicks().shared, GoldenFolder() / "shared_models");
}

}  // namespace
}  // namespace hearth
