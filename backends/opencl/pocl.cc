#include "backends/opencl/pocl.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "hal/device/driver_files.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// A program of 12 kernels takes 0.3 to 2 MB while it is built.
constexpr uint64_t kLeastFreeBytes = uint64_t{8} << 20;

// The folder that PoCL 3.1 would choose.
fs::path FolderOfPocl() {
  if (const std::string_view own = EnvironmentVariable("POCL_CACHE_DIR"); !own.empty()) return own;
  if (const std::string_view cache = EnvironmentVariable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "pocl" / "kcache";
  if (const std::string_view home = EnvironmentVariable("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "pocl" / "kcache";
  return "/tmp/pocl/kcache";
}

// The folder, or if it does not exist, the one that would contain it.
fs::path ExistingPart(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder.empty() ? "." : folder;
}

bool MayBeWritten(const fs::path& folder) {
  return ::access(ExistingPart(folder).c_str(), W_OK | X_OK) == 0;
}

// Why programs can't be opened from the folder, or not be stored; empty if they can.
std::string WhyUnfit(const fs::path& folder) {
  struct statvfs system;
  if (::statvfs(ExistingPart(folder).c_str(), &system) != 0) return "";
  if ((system.f_flag & ST_NOEXEC) != 0) return "lies on a mount without exec";
  const uint64_t free_bytes = uint64_t{system.f_bavail} * system.f_frsize;
  const bool is_full = system.f_blocks > 0 && free_bytes < kLeastFreeBytes;
  return is_full ? fmt::format("has only {:.1f} MB left", static_cast<double>(free_bytes) / 1e6) : "";
}

bool Serves(const fs::path& folder) {
  return MayBeWritten(folder) && WhyUnfit(folder).empty();
}

// PoCL opens what lies there as code, so it must be this user's, and nobody else may write to it.
bool IsPrivate(const fs::path& folder) {
  struct stat info;
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool IgnoresChildren() {
  struct sigaction action;
  return ::sigaction(SIGCHLD, nullptr, &action) == 0 &&
         (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0);
}

}  // namespace

void ChoosePoclFolder(const fs::path& given) {
  if (!EnvironmentVariable("POCL_CACHE_DIR").empty() || Serves(FolderOfPocl())) return;
  if (!given.empty() && Serves(given)) {
    ::setenv("POCL_CACHE_DIR", DriversFolderIn(given, "pocl").c_str(), 1);
    return;
  }
  for (const std::string_view parent :
       {EnvironmentVariable("XDG_RUNTIME_DIR"), std::string_view("/var/tmp"), std::string_view("/tmp")}) {
    if (parent.empty()) continue;
    const fs::path folder = fs::path(parent) / fmt::format("hearth-pocl-{}", ::geteuid());
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) continue;
    if (!IsPrivate(folder) || !Serves(folder)) continue;
    ::setenv("POCL_CACHE_DIR", folder.c_str(), 1);
    return;
  }
}

Status CheckPoclSurvives() {
  if (IgnoresChildren()) {
    return Error(StatusCode::kUnavailable,
                 "SIGCHLD is ignored in this process, and PoCL aborts it when a child that links a program can't be "
                 "waited for; set SIGCHLD to SIG_DFL while programs are built");
  }
  const fs::path folder = FolderOfPocl();
  const std::string why = WhyUnfit(folder);
  if (why.empty()) return Status::Ok();
  return Error(StatusCode::kUnavailable,
               "PoCL stores programs in {}, which {}, and ends the process then; set POCL_CACHE_DIR to another folder",
               folder.string(), why);
}

std::string HintOfPoclFolder() {
  const fs::path folder = FolderOfPocl();
  if (MayBeWritten(folder)) return "";
  return fmt::format("; PoCL stores programs in {}, which can't be written: set POCL_CACHE_DIR to a writable folder",
                     folder.string());
}

}  // namespace hearth
