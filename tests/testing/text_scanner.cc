#include "tests/testing/text_scanner.h"

#include <charconv>
#include <vector>

namespace hearth {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

void TextScanner::SkipSpaces() {
  while (position_ < text_.size() &&
         (text_[position_] == ' ' || text_[position_] == '\t' || text_[position_] == '\r')) {
    ++position_;
  }
}

bool TextScanner::AtEnd() {
  SkipSpaces();
  return position_ == text_.size();
}

bool TextScanner::Take(char expected) {
  if (AtEnd() || text_[position_] != expected) return false;
  ++position_;
  return true;
}

std::string_view TextScanner::Word() {
  SkipSpaces();
  size_t end = position_;
  while (end < text_.size() && (IsLetter(text_[end]) || (end > position_ && IsDigit(text_[end])))) ++end;
  const std::string_view word = text_.substr(position_, end - position_);
  position_ = end;
  return word;
}

bool TextScanner::TakeWord(std::string_view expected) {
  const size_t start = position_;
  if (Word() == expected) return true;
  position_ = start;
  return false;
}

template <typename T>
bool TextScanner::FromChars(T& value) {
  SkipSpaces();
  const char* end = text_.data() + text_.size();
  const auto [next, error] = std::from_chars(text_.data() + position_, end, value);
  if (error != std::errc()) return false;
  position_ = static_cast<size_t>(next - text_.data());
  return true;
}

bool TextScanner::Number(int32_t& value) {
  return FromChars(value);
}
bool TextScanner::Number(int64_t& value) {
  return FromChars(value);
}
bool TextScanner::Number(float& value) {
  return FromChars(value);
}
bool TextScanner::Number(double& value) {
  return FromChars(value);
}

bool TextScanner::Dims(Shape& shape) {
  std::vector<int32_t> dims;
  int32_t dim = 0;
  while (Number(dim)) {
    dims.push_back(dim);
    if (position_ >= text_.size() || text_[position_] != 'x') break;
    ++position_;
  }
  if (dims.size() > Shape::kMaxRank) return false;
  shape = Shape::FromSpan(dims);
  return true;
}

bool TextScanner::QuotedText(std::string& text) {
  const size_t start = position_;
  text.clear();
  if (!Take('"')) return false;
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '"') return true;
    if (c != '\\') {
      text += c;
      continue;
    }
    if (position_ == text_.size()) break;
    const char escaped = text_[position_++];
    unsigned code = static_cast<unsigned char>(escaped);
    if (escaped == 'x') {
      const std::string_view digits = text_.substr(position_, 2);
      if (std::from_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr != digits.data() + 2) break;
      position_ += 2;
    }
    text += static_cast<char>(code);
  }
  position_ = start;
  return false;
}

std::string_view TextScanner::UntilSpace() {
  SkipSpaces();
  const size_t end = std::min(text_.find(' ', position_), text_.size());
  const std::string_view piece = text_.substr(position_, end - position_);
  position_ = end;
  return piece;
}

}  // namespace hearth
