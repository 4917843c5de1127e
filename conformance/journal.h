// A file in which a run notes what it began and what passed, so that one that was stopped, or died with its driver,
// goes on where it was. Each line is a word and a key; the last word about a key counts.
#ifndef HEARTH_CONFORMANCE_JOURNAL_H_
#define HEARTH_CONFORMANCE_JOURNAL_H_

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "hearth/status.h"

namespace hearth::conformance {

// Not thread-safe.
class Journal {
 public:
  enum class Word : uint8_t {
    kRan,       // it did not pass: it runs again
    kPassed,    // it does not run again
    kTogether,  // it began with others, and the process died: it runs alone
    kAlone,     // it began alone, and the process died
  };

  // Reads what earlier runs noted, if there is such a file, and notes more at its end. kMalformedInput: it is no
  // journal. kIoError: it can't be written.
  static Result<Journal> Open(const std::string& path);

  // `key`: device, driver, path and case, without line breaks.
  Word LastOf(const std::string& key) const;
  void Note(Word word, const std::string& key);  // written at once
  // kIoError: a note is not in the file, as on a full disk, so that a run can't go on from there.
  Status status() const;

 private:
  std::string path_;
  std::map<std::string, Word> last_;
  std::ofstream file_;
};

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_JOURNAL_H_
