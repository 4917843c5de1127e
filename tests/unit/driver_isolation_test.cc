// Drivers beside another LLVM in the process, and which files drivers are.
#include "hal/device/driver_isolation.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hal/device/driver_files.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void Write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(DriverFiles, VulkansComeFromTheManifestsThatTheVariableNames) {
  const TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  Write(root / "absolute.json", R"({"ICD": {"library_path": "/opt/libvulkan_x.so"}})");
  Write(root / "relative.json", R"({"ICD": {"library_path": "./libvulkan_y.so"}})");
  Write(root / "plain.json", R"({"ICD": {"library_path": "libvulkan_z.so"}})");
  Write(root / "broken.json", "{");
  Write(root / "strange.json", R"({"ICD": {"library_path": 3}})");
  std::string list;
  for (const char* name : {"absolute", "relative", "plain", "broken", "strange", "missing"}) {
    list += (root / name).string() + ".json:";
  }
  setenv("VK_DRIVER_FILES", list.c_str(), 1);
  const std::vector<std::string> files = VulkanDriverFiles();
  unsetenv("VK_DRIVER_FILES");
  EXPECT_THAT(files, ElementsAre("/opt/libvulkan_x.so", (root / "./libvulkan_y.so").string(), "libvulkan_z.so"));
}

TEST(DriverFiles, OpenClsAreTheFirstLinesOfTheVendorsFiles) {
  const TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  Write(root / "b.icd", "libsecond.so\n");
  Write(root / "a.icd", "/opt/libfirst.so");
  Write(root / "empty.icd", "");
  Write(root / "readme.txt", "no driver");
  setenv("OCL_ICD_VENDORS", root.c_str(), 1);
  const std::vector<std::string> files = OpenClDriverFiles();
  unsetenv("OCL_ICD_VENDORS");
  EXPECT_THAT(files, ElementsAre("/opt/libfirst.so", "libsecond.so"));
}

TEST(DriverIsolation, NothingIsInTheWayInAProcessWithoutASecondLlvm) {
  EXPECT_EQ(GlobalLlvm(), "");
  EXPECT_TRUE(IsolateDrivers("fake", []() -> std::vector<std::string> {
                ADD_FAILURE() << "the drivers' files are not looked for";
                return {};
              }).ok());
  EXPECT_TRUE(CheckNoNewLlvm("fake").ok());
}

std::vector<std::string> OneMissingDriver() {
  return {"/nonexistent/libdriver.so"};
}

// Runs in a process of its own: 0 when everything is as `late` asks for.
[[noreturn]] void BesideAForeignLlvm(bool late) {
  if (late) {
    if (!IsolateDrivers("fake", OneMissingDriver).ok()) std::_Exit(1);
  }
  if (dlopen(HEARTH_FOREIGN_LLVM, RTLD_NOW | RTLD_GLOBAL) == nullptr) std::_Exit(2);
  if (GlobalLlvm() != HEARTH_FOREIGN_LLVM) std::_Exit(3);
  if (!late) {
    // A sanitizer does not let drivers be kept apart; that is an error then, not a crash.
    const Status isolated = IsolateDrivers("fake", OneMissingDriver);
    if (!isolated.ok() && isolated.code() != StatusCode::kUnavailable) std::_Exit(4);
  }
  const Status status = CheckNoNewLlvm("fake");
  std::fprintf(stderr, "status: %s\n", status.message().c_str());
  std::_Exit(status.ok() == !late ? 0 : 5);
}

TEST(DriverIsolation, AnLlvmThatWasThereBeforeTheDriversIsNoError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(BesideAForeignLlvm(false), ::testing::ExitedWithCode(0), "");
}

TEST(DriverIsolation, AnLlvmThatCameAfterTheDriversIsAnErrorThatNamesIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(BesideAForeignLlvm(true), ::testing::ExitedWithCode(0), "foreign_llvm");
}

TEST(DriverIsolation, AnotherBackendsDriversMayCompileBesideAnLlvmThatCameAfterTheirs) {
  EXPECT_TRUE(CheckNoNewLlvm("one that was never opened").ok());
}

}  // namespace
}  // namespace hearth
