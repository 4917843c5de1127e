// Session options as text, for other languages and configuration files.
#ifndef HEARTH_SESSION_OPTION_H_
#define HEARTH_SESSION_OPTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "hearth/export.h"
#include "hearth/session.h"
#include "hearth/status.h"

namespace hearth {

struct SessionOptionName {
  std::string_view name;    // usually that of the field of SessionOptions
  std::string_view values;  // allowed values: "on, off", "a number", ...
};

// Every option that SetSessionOption knows. It also takes names that other interfaces use for the same option, such as
// cache_dir for cache_folder.
HEARTH_EXPORT const std::vector<SessionOptionName>& SessionOptionNames();

// kInvalidArgument for an unknown name (the message lists all) and for text that is not a value of the option's kind. A
// device, precision or file that does not exist is reported when the session is opened.
HEARTH_EXPORT Status SetSessionOption(SessionOptions& options, std::string_view name, std::string_view value);

}  // namespace hearth

#endif  // HEARTH_SESSION_OPTION_H_
