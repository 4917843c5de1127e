// A text file compiled into the library (cmake/EmbedFiles.cmake).
#ifndef HEARTH_CORE_BASE_EMBEDDED_FILE_H_
#define HEARTH_CORE_BASE_EMBEDDED_FILE_H_

#include <cstddef>
#include <string_view>

namespace hearth {

struct EmbeddedFile {
  std::string_view name;  // the file's name without its ending
  std::string_view text;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_EMBEDDED_FILE_H_
