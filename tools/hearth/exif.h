// The orientation in a JPEG's EXIF data.
#ifndef HEARTH_TOOLS_HEARTH_EXIF_H_
#define HEARTH_TOOLS_HEARTH_EXIF_H_

#include <cstddef>
#include <span>

namespace hearth {

// 1 to 8 as in the standard (CIPA DC-008, tag 0x0112); 1, upright, if the file has none. The beginning of `file`
// suffices. All of its content is checked before use.
int ExifOrientation(std::span<const std::byte> file);

// Whether width and height are exchanged.
inline bool TurnsSideways(int orientation) {
  return orientation >= 5;
}

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_EXIF_H_
