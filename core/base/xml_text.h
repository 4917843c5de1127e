#ifndef HEARTH_CORE_BASE_XML_TEXT_H_
#define HEARTH_CORE_BASE_XML_TEXT_H_

#include <string>
#include <string_view>

namespace hearth {

// Escapes text for XML, HTML and SVG, also in attributes. Control characters, which XML cannot express, become '?'.
std::string XmlEscaped(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_XML_TEXT_H_
