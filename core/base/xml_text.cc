#include "core/base/xml_text.h"

#include "core/base/printable.h"

namespace hearth {

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

}  // namespace hearth
