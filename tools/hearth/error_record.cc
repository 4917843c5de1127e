#include "tools/hearth/error_record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cache/files/folder.h"
#include "hearth/version.h"

namespace hearth {
namespace {

constexpr size_t kMostErrors = 20, kMostBytes = 400;  // lines, and bytes of each

std::filesystem::path RecordFile() {
  const Result<std::filesystem::path> folder = DefaultCacheFolder();
  if (!folder.ok()) return {};
  const Result<std::filesystem::path> used = PrepareFolder(*folder, FolderUse::kExisting);
  return used.ok() ? *used / "last_errors.txt" : std::filesystem::path();
}

bool IsFileName(std::string_view word) {
  const size_t dot = word.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view ending = word.substr(dot + 1);
  for (const char* known :
       {"tflite", "npy", "bin", "png", "jpg", "jpeg", "bmp", "txt", "json", "db", "onnx", "dot", "svg"}) {
    if (ending == known) return true;
  }
  return false;
}

// The word without punctuation around it.
std::string CleanWord(std::string_view word) {
  constexpr std::string_view kPunctuation = ",;:()!?";
  const size_t first = word.find_first_not_of(kPunctuation);
  if (first == std::string_view::npos) return std::string(word);
  const size_t last = word.find_last_not_of(kPunctuation);
  const std::string_view core = word.substr(first, last - first + 1);
  if (core.find('/') == std::string_view::npos && !IsFileName(core)) return std::string(word);
  return fmt::format("{}<path>{}", word.substr(0, first), word.substr(last + 1));
}

}  // namespace

std::string WithoutUserData(std::string_view text) {
  std::string clean, word;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '\'' && (is_quoted || word.empty() || word.find_first_not_of("(,") == std::string::npos)) {
      clean += is_quoted ? "<name>" : word;
      word.clear();
      is_quoted = !is_quoted;
    } else if (is_quoted) {
      continue;
    } else if (c == ' ' || static_cast<unsigned char>(c) < 0x20) {
      clean += CleanWord(word) + ' ';
      word.clear();
    } else {
      word += c;
    }
  }
  return clean + (is_quoted ? "<name>" : CleanWord(word));
}

void RecordError(const std::string& verb, int exit_code, std::string_view message) {
  const std::filesystem::path file = RecordFile();
  if (file.empty()) return;
  std::vector<std::string> lines = RecordedErrors();
  lines.push_back(fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {} {} exit {}: {}", fmt::gmtime(std::time(nullptr)),
                              HEARTH_VERSION, verb, exit_code, WithoutUserData(message).substr(0, kMostBytes)));
  if (lines.size() > kMostErrors) lines.erase(lines.begin(), lines.end() - kMostErrors);
  // Written to another file and renamed, so that no process reads a part.
  const std::filesystem::path made = file.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(made);
    for (const std::string& line : lines) out << line << "\n";
  }
  std::error_code error;
  std::filesystem::permissions(made, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  std::filesystem::rename(made, file, error);
  if (error) std::filesystem::remove(made, error);
}

std::vector<std::string> RecordedErrors() {
  std::vector<std::string> lines;
  std::ifstream in(RecordFile());
  for (std::string line; lines.size() < kMostErrors && std::getline(in, line);) {
    lines.push_back(WithoutUserData(line.substr(0, 2 * kMostBytes)));
  }
  return lines;
}

}  // namespace hearth
