#ifndef HEARTH_CORE_BASE_XML_TEXT_H_
#define HEARTH_CORE_BASE_XML_TEXT_H_

#include <string>
#include <string_view>

namespace hearth {

// For XML, HTML and SVG, in text and in attributes. Control characters, which XML has no way to write, become '?'.
std::string XmlEscaped(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_XML_TEXT_H_
