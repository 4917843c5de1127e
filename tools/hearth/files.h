// Whole files, read and written; errors name the file and the reason.
#ifndef HEARTH_TOOLS_HEARTH_FILES_H_
#define HEARTH_TOOLS_HEARTH_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// The extension with its dot, in lower case.
std::string EndingOf(const std::string& path);

// A file or what comes out of a pipe. kNotFound, for folders and devices too; kInvalidArgument if it holds more than
// `most_bytes`, of which no more are read.
Result<std::vector<std::byte>> ReadFile(const std::string& path, uint64_t most_bytes);

// Replaces the file. kIoError.
Status WriteFile(const std::string& path, std::string_view contents);

// Whether WriteFile would succeed, checked before the work. Changes nothing. kIoError.
Status CheckWritable(const std::string& path);
// The same for a picture in the format that `ending` names. kInvalidArgument: a name that ends like another format's.
Status CheckPictureWritable(const std::string& path, std::string_view ending);
// The same for files in a folder, which is created if missing.
Status CheckFolderWritable(const std::string& folder);

// kInvalidArgument if a file that is written would replace one that is read. "" and "-" are none.
Status CheckReplacesNone(const std::vector<std::string>& written, const std::vector<std::string>& read);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_FILES_H_
