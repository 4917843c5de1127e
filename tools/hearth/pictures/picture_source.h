// The pictures of several runs: files, or the frames of a video.
#ifndef HEARTH_TOOLS_HEARTH_PICTURES_PICTURE_SOURCE_H_
#define HEARTH_TOOLS_HEARTH_PICTURES_PICTURE_SOURCE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

struct SourcePicture {
  std::string path;  // a file, for frames only until the next one is asked for
  std::string name;  // for people: "photos/cat.jpg", "frame 12"
  std::string stem;  // of files that are made from it; no two pictures have the same
};

class PictureSource {
 public:
  virtual ~PictureSource() = default;
  // Nothing after the last one. kIoError, kMalformedInput.
  virtual Result<std::optional<SourcePicture>> Next() = 0;
};

// Whether the name ends like that of a picture that ReadImage reads.
bool IsPicture(const std::string& path);
// The pictures in a folder, by name. kNotFound if there are none.
Result<std::vector<std::string>> PicturesIn(const std::string& folder);

std::unique_ptr<PictureSource> PicturesOf(std::vector<std::string> paths);
// The frames of a video file, or of a camera if the path is that of a device, read by the program ffmpeg. kNotFound;
// kUnavailable if ffmpeg is not installed.
Result<std::unique_ptr<PictureSource>> FramesOf(const std::string& path);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PICTURES_PICTURE_SOURCE_H_
