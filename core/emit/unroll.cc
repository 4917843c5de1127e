#include "core/emit/unroll.h"

#include <cctype>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/helpers.h"

namespace hearth {
namespace {

constexpr std::string_view kKeyword = "UNROLL";
constexpr int kMaxDepth = 8;           // nested loops, and defines within defines
constexpr size_t kMaxText = 1u << 20;  // a kernel that grows past this is a mistake

// Recursive descent over: sum = product (+|- product)*, product = atom (*|/ atom)*.
class ConstantExpression {
 public:
  ConstantExpression(std::string_view text, std::span<const Define> defines, int depth)
      : rest_(text), defines_(defines), depth_(depth) {}

  std::optional<int64_t> Evaluate() {
    const std::optional<int64_t> value = Sum();
    SkipSpace();
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  void SkipSpace() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  bool Take(char c) {
    SkipSpace();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<int64_t> Sum() {
    std::optional<int64_t> value = Product();
    while (value) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) return value;
      const std::optional<int64_t> next = Product();
      if (!next) return std::nullopt;
      value = plus ? *value + *next : *value - *next;
    }
    return value;
  }

  std::optional<int64_t> Product() {
    std::optional<int64_t> value = Atom();
    while (value) {
      const bool times = Take('*');
      if (!times && !Take('/')) return value;
      const std::optional<int64_t> next = Atom();
      if (!next || (!times && *next == 0)) return std::nullopt;
      value = times ? *value * *next : *value / *next;
    }
    return value;
  }

  std::optional<int64_t> Atom() {
    if (Take('(')) {
      const std::optional<int64_t> value = Sum();
      return Take(')') ? value : std::nullopt;
    }
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && IsOfIdentifier(rest_[size])) ++size;
    const std::string_view word = rest_.substr(0, size);
    if (word.empty()) return std::nullopt;
    rest_.remove_prefix(size);
    int64_t number = 0;
    if (NumberFrom(word, number)) return number;
    for (const Define& define : defines_) {
      if (define.name == word && depth_ < kMaxDepth) {
        return ConstantExpression(define.value, defines_, depth_ + 1).Evaluate();
      }
    }
    return std::nullopt;
  }

  std::string_view rest_;
  std::span<const Define> defines_;
  int depth_;
};

struct CountedLoop {
  size_t begin = 0, end = 0;  // the statement's range in the text
  std::string variable;
  int64_t first = 0, last = 0;  // [first, last)
  std::string_view body;
};

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && (std::isspace(static_cast<unsigned char>(text[at])) != 0 || text[at] == '\\')) ++at;
  return at;
}

// One past the bracket that closes the bracket at `at`.
size_t EndOfBrackets(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == '}' || text[at] == ']') --depth;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// One past the statement at `at`: a block, a nested for, or an expression up to its semicolon.
size_t EndOfStatement(std::string_view text, size_t at) {
  at = SkipBlanks(text, at);
  if (at >= text.size()) return std::string_view::npos;
  if (text[at] == '{') return EndOfBrackets(text, at);
  for (std::string_view keyword : {kKeyword, std::string_view("for"), std::string_view("if")}) {
    if (text.substr(at, keyword.size()) != keyword || IsOfIdentifier(text[at + keyword.size()])) continue;
    if (keyword == kKeyword) return EndOfStatement(text, at + keyword.size());
    const size_t after_head = EndOfBrackets(text, SkipBlanks(text, at + keyword.size()));
    return after_head == std::string_view::npos ? after_head : EndOfStatement(text, after_head);
  }
  for (; at < text.size(); ++at) {
    if (text[at] == ';') return at + 1;
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') {
      const size_t end = EndOfBrackets(text, at);
      if (end == std::string_view::npos) return end;
      at = end - 1;
    }
  }
  return std::string_view::npos;
}

// Parses "int i = A; i < B; ++i".
bool ParseHead(std::string_view head, std::span<const Define> defines, CountedLoop& loop) {
  const size_t first_semicolon = head.find(';');
  const size_t second_semicolon = head.find(';', first_semicolon + 1);
  if (first_semicolon == std::string_view::npos || second_semicolon == std::string_view::npos) return false;
  const std::string_view init = Trimmed(head.substr(0, first_semicolon));
  const std::string_view test = head.substr(first_semicolon + 1, second_semicolon - first_semicolon - 1);
  const size_t equals = init.find('=');
  const size_t less = test.find('<');
  if (!init.starts_with("int ") || equals == std::string_view::npos || less == std::string_view::npos) return false;
  loop.variable = std::string(Trimmed(init.substr(4, equals - 4)));
  if (Trimmed(test.substr(0, less)) != loop.variable) return false;
  if (Trimmed(head.substr(second_semicolon + 1)) != "++" + loop.variable) return false;
  const auto first = ConstantExpression(init.substr(equals + 1), defines, 0).Evaluate();
  const auto last = ConstantExpression(test.substr(less + 1), defines, 0).Evaluate();
  if (!first || !last) return false;
  loop.first = *first;
  loop.last = *last;
  return true;
}

Result<CountedLoop> ParseLoop(std::string_view text, size_t begin, std::span<const Define> defines) {
  const Status malformed =
      Error(StatusCode::kInternal, "UNROLL must stand before 'for (int i = A; i < B; ++i)' with constant A and B: '{}'",
            text.substr(begin, 80));
  CountedLoop loop;
  loop.begin = begin;
  const size_t keyword = SkipBlanks(text, begin + kKeyword.size());
  if (text.substr(keyword, 3) != "for") return malformed;
  const size_t head = SkipBlanks(text, keyword + 3);
  const size_t after_head = EndOfBrackets(text, head);
  if (head >= text.size() || text[head] != '(' || after_head == std::string_view::npos) return malformed;
  if (!ParseHead(text.substr(head + 1, after_head - head - 2), defines, loop)) return malformed;
  loop.end = EndOfStatement(text, after_head);
  if (loop.end == std::string_view::npos) return malformed;
  loop.body = text.substr(after_head, loop.end - after_head);
  return loop;
}

size_t FindKeyword(std::string_view text, size_t from) {
  for (size_t at = text.find(kKeyword, from); at != std::string_view::npos; at = text.find(kKeyword, at + 1)) {
    const bool starts_word = at == 0 || !IsOfIdentifier(text[at - 1]);
    const size_t after = at + kKeyword.size();
    if (starts_word && (after >= text.size() || !IsOfIdentifier(text[after]))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::string> ExpandUnrolledLoops(std::string_view text, std::span<const Define> defines) {
  std::string out;
  size_t done = 0;
  for (size_t at = FindKeyword(text, 0); at != std::string_view::npos; at = FindKeyword(text, done)) {
    HEARTH_ASSIGN(const CountedLoop loop, ParseLoop(text, at, defines));
    HEARTH_ASSIGN(const std::string body, ExpandUnrolledLoops(loop.body, defines));
    out += text.substr(done, at - done);
    for (int64_t k = loop.first; k < loop.last; ++k) {
      out += fmt::format("{{ const int {} = {};{} }} ", loop.variable, k, body);
      if (out.size() > kMaxText) return Error(StatusCode::kInternal, "an unrolled kernel grew past {} bytes", kMaxText);
    }
    done = loop.end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace hearth
