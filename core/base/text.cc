#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearth {
namespace {

// How many bytes the character at the beginning of `text` has; 0 if there is none.
size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // Overlong forms, surrogates, beyond U+10FFFF.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
                        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : length;
}

bool IsBetween(char c, unsigned char least, unsigned char most) {
  const auto byte = static_cast<unsigned char>(c);
  return least <= byte && byte <= most;
}

// How many bytes the control character at the beginning of `text` has in UTF-8; 0 for any other character.
size_t ControlBytes(std::string_view text) {
  if (IsBetween(text[0], 0x00, 0x1f) || text[0] == 0x7f) return 1;
  if (text.size() > 1 && IsBetween(text[0], 0xc2, 0xc2) && IsBetween(text[1], 0x80, 0x9f)) return 2;  // C1
  // U+202A to U+202E and U+2066 to U+2069.
  const bool is_bidirectional = text.starts_with("\xe2\x80") && text.size() > 2 && IsBetween(text[2], 0xaa, 0xae);
  const bool is_isolate = text.starts_with("\xe2\x81") && text.size() > 2 && IsBetween(text[2], 0xa6, 0xa9);
  // U+FFFE and U+FFFF, which are no characters.
  const bool is_none = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
  return is_bidirectional || is_isolate || is_none ? 3 : 0;
}

// Damerau's distance in the form that edits no part twice.
size_t Mistakes(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t changed = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, changed});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterBytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = CharacterBytes(text);
    valid += length != 0 ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(length != 0 ? length : 1);
  }
  return valid;
}

std::string Printable(std::string_view text, char replacement, std::string_view kept) {
  std::string printable(text);
  for (size_t at = 0; at < text.size();) {
    const size_t size_bytes = kept.find(text[at]) == std::string_view::npos ? ControlBytes(text.substr(at)) : 0;
    std::fill_n(printable.begin() + static_cast<std::ptrdiff_t>(at), size_bytes, replacement);
    at += std::max<size_t>(size_bytes, 1);
  }
  return printable;
}

std::string XmlEscaped(std::string_view text) {
  std::string out;
  for (const char c : Printable(text, '?', "\n\t")) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string NearestName(std::string_view word, std::span<const std::string> names) {
  constexpr size_t kMostMistakes = 2;
  constexpr size_t kMostLetters = 64;  // the longest word that is compared
  std::string nearest;
  size_t fewest = kMostMistakes + 1;
  for (const std::string& name : names) {
    if (word.size() > kMostLetters) break;
    const size_t mistakes = Mistakes(word, name);
    if (mistakes >= fewest || 2 * mistakes >= word.size()) continue;
    fewest = mistakes;
    nearest = name;
  }
  return nearest;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::vector<std::string_view> PartsOf(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

Result<uint64_t> ParseSizeBytes(std::string_view text) {
  const auto no_size = [&] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is not a size: give bytes, or a number with K, M, G or T (also MiB, and MB of 1000 "
                              "x 1000), like 1.5G",
                              text));
  };
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !(number >= 0)) return no_size();
  std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  constexpr std::string_view kUnits = "KMGT";
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    const size_t power = kUnits.find(unit[0]);
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB")) return no_size();
    factor = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number * factor;
  constexpr double kMost = 9e18;
  const bool is_rounded_to_none = bytes > 0 && bytes < 1;  // which would delete all
  if (bytes > kMost || is_rounded_to_none || (factor == 1 && bytes != std::floor(bytes))) return no_size();
  return static_cast<uint64_t>(bytes);
}

}  // namespace hearth
