// How a JPEG's camera was held: the orientation that its EXIF data record.
#ifndef HEARTH_TOOLS_HEARTH_EXIF_H_
#define HEARTH_TOOLS_HEARTH_EXIF_H_

#include <cstddef>
#include <span>

namespace hearth {

// 1 to 8 as the standard has them (CIPA DC-008, tag 0x0112); 1, upright, for any file that does not say. `file`: its
// beginning is enough; nothing that it holds is believed before it is checked.
int ExifOrientation(std::span<const std::byte> file);

// Whether width and height change places.
inline bool TurnsSideways(int orientation) {
  return orientation >= 5;
}

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_EXIF_H_
