#include "tools/hearth/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

Status CantWrite(const std::string& path, const std::string& reason) {
  return Error(StatusCode::kIoError, "can't write {}: {}", path, reason);
}

}  // namespace

std::string EndingOf(const std::string& path) {
  return LowerCase(std::filesystem::path(path).extension().string());
}

Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t most_bytes) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::directory) {
    return Error(StatusCode::kNotFound, "can't read {}: it is a folder", path);
  }
  if (type == std::filesystem::file_type::character || type == std::filesystem::file_type::block) {
    return Error(StatusCode::kNotFound, "can't read {}: it is a device, not a file", path);
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return Error(StatusCode::kNotFound, "can't read {}: {}", path, std::strerror(errno));
  std::vector<std::byte> bytes;
  std::vector<std::byte> chunk(1 << 20);
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    if (count > most_bytes - bytes.size()) {
      return Error(StatusCode::kInvalidArgument, "{} is too large: at most {} bytes belong there", path, most_bytes);
    }
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (std::ferror(file.get()) != 0) return Error(StatusCode::kNotFound, "can't read {} to its end", path);
  return bytes;
}

Status WriteFile(const std::string& path, std::string_view contents) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return CantWrite(path, std::strerror(errno));
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  const int error_number = errno;
  if (std::fclose(file) != 0 || !written) return CantWrite(path, std::strerror(written ? errno : error_number));
  return Status::Ok();
}

Status CheckWritable(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CantWrite(path, "it is a folder");
  if (access(path.c_str(), F_OK) == 0) {
    return access(path.c_str(), W_OK) == 0 ? Status::Ok() : CantWrite(path, std::strerror(errno));
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!std::filesystem::is_directory(folder, error)) return CantWrite(path, "there is no folder " + folder);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::Ok() : CantWrite(path, std::strerror(errno));
}

Status CheckReplacesNone(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  const auto is_same = [](const std::string& a, const std::string& b) {
    std::error_code error;
    if (a.empty() || b.empty() || a == "-" || b == "-") return false;
    return std::filesystem::equivalent(a, b, error) ||
           std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
  };
  for (const std::string& target : written) {
    const auto replaced = std::ranges::find_if(read, [&](const std::string& path) { return is_same(target, path); });
    if (replaced != read.end())
      return Error(StatusCode::kInvalidArgument, "{} would be replaced by what is written: give another name",
                   *replaced);
  }
  return Status::Ok();
}

Status CheckPictureWritable(const std::string& path, std::string_view ending) {
  const std::string given = EndingOf(path);
  for (const std::string_view other : {".png", ".svg", ".jpg", ".jpeg", ".bmp", ".gif", ".pdf", ".tflite", ".npy"}) {
    if (given == other && given != ending)
      return Error(StatusCode::kInvalidArgument, "{}: the name of this picture must end in {}", path, ending);
  }
  return CheckWritable(path);
}

Status CheckFolderWritable(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error(StatusCode::kIoError, "can't make the folder {}: {}", folder, error.message());
  if (!std::filesystem::is_directory(folder, error)) return CantWrite(folder, "it is not a folder");
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::Ok() : CantWrite(folder, std::strerror(errno));
}

}  // namespace hearth
