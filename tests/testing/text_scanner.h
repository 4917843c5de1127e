// Reading one line of text piece by piece, for the parsers of graph texts and attributes.
#ifndef HEARTH_TESTS_TESTING_TEXT_SCANNER_H_
#define HEARTH_TESTS_TESTING_TEXT_SCANNER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/graph/types.h"

namespace hearth {

// Every method skips spaces first. If it returns false (or an empty word) it takes nothing. Borrows the text.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  bool AtEnd();
  size_t column() const { return position_ + 1; }

  bool Take(char expected);
  // Letters, digits and '_', starting with a letter.
  std::string_view Word();
  // The word that must come next.
  bool TakeWord(std::string_view expected);
  bool Number(int32_t& value);
  bool Number(int64_t& value);
  bool Number(float& value);
  bool Number(double& value);
  // "1x224x224x3", or nothing for rank 0. Takes at most Shape::kMaxRank dimensions.
  bool Dims(Shape& shape);
  // A text in double quotes, unescaped (see Quoted in op_text.h).
  bool QuotedText(std::string& text);
  // Everything up to the next space or the end.
  std::string_view UntilSpace();

 private:
  void SkipSpaces();
  template <typename T>
  bool FromChars(T& value);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_TEXT_SCANNER_H_
