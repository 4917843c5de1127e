#include "conformance/journal.h"

#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth::conformance {
namespace {

constexpr std::string_view kWords[] = {"ran", "passed", "together", "alone"};  // as Word has them

}  // namespace

Result<Journal> Journal::Open(const std::string& path) {
  Journal journal;
  journal.path_ = path;
  const auto is_no_journal = [&] {
    return Error(StatusCode::kMalformedInput, "{} is no journal of `hearth conformance --resume`", path);
  };
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (exists(found) && !is_regular_file(found)) return is_no_journal();  // /dev/zero and pipes have no end
  std::ifstream earlier(path);
  for (std::string line; std::getline(earlier, line);) {
    const size_t blank = line.find(' ');
    const auto word = EnumNamed<Word>(kWords, std::string_view(line).substr(0, blank));
    if (word && blank != std::string::npos) {
      journal.last_[line.substr(blank + 1)] = *word;
    } else if (journal.last_.empty()) {  // else a line that was cut short
      return is_no_journal();
    }
  }
  const bool is_new = journal.last_.empty();
  journal.file_.open(path, std::ios::app);
  if (!is_new) journal.file_ << '\n' << std::flush;  // ends a line that was cut short
  if (!journal.file_) return Error(StatusCode::kIoError, "{} can't be written", path);
  return journal;
}

Status Journal::status() const {
  return file_ ? Status::Ok()
               : Error(StatusCode::kIoError, "{} lacks what this run noted last: make room there", path_);
}

Journal::Word Journal::LastOf(const std::string& key) const {
  const auto found = last_.find(key);
  return found == last_.end() ? Word::kRan : found->second;
}

void Journal::Note(Word word, const std::string& key) {
  file_ << kWords[static_cast<size_t>(word)] << ' ' << key << '\n' << std::flush;
}

}  // namespace hearth::conformance
