#include "core/base/dynamic_library.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace hearth {
namespace {

TEST(DynamicLibrary, AMissingLibraryIsUnavailableAndEachNameIsInTheMessage) {
  constexpr const char* kNames[] = {"libhearth_no_such_a.so", "libhearth_no_such_b.so"};
  const auto library = DynamicLibrary::Open(kNames);
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  for (const char* name : kNames) EXPECT_NE(library.status().message().find(name), std::string::npos) << name;
}

TEST(DynamicLibrary, TheFirstNameThatExistsIsOpenedAndItsSymbolsAreCalled) {
  constexpr const char* kNames[] = {"libhearth_no_such_a.so", "libm.so.6"};
  auto library = DynamicLibrary::Open(kNames);
  ASSERT_TRUE(library.ok()) << library.status().message();
  const auto cosine = library->Symbol<double (*)(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->Symbol<void (*)()>("hearth_no_such_symbol"), nullptr);
}

TEST(DynamicLibrary, AnEmptyOneHasNoSymbols) {
  const DynamicLibrary library;
  EXPECT_EQ(library.Symbol<void (*)()>("cos"), nullptr);
}

// As in a bare chroot.
TEST(FolderOfThisCode, IsKnownWithoutProc) {
  constexpr int kNotAllowed = 77;
  const std::string folder = FolderOfThisCode();
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool hidden = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
    if (!hidden) _exit(kNotAllowed);
    _exit(FolderOfThisCode() == folder ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "hiding /proc needs the right to mount";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hearth
