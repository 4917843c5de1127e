// The work of a profile's layers: operations, shapes, and sums by kind.
#ifndef HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_
#define HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_

#include <span>
#include <string>
#include <vector>

#include "hearth/session.h"

namespace hearth {

struct LayerCost {
  std::string op;         // "conv_2d"; the entry's full name if it is no operator of the file
  std::string output;     // "1x112x112x32"; empty if unknown
  double operations = 0;  // multiplications and additions; 0 if unknown
  double giga_per_second = 0;
};

// One for each entry. The entries of one operator share its operations in proportion to their times.
std::vector<LayerCost> CostsOf(std::span<const ProfileEntry> profile, const Model& model);

struct KindCost {
  std::string op;
  size_t entries = 0;
  double milliseconds = 0;
};
// Sums by operation, longest first.
std::vector<KindCost> SumsByKind(std::span<const ProfileEntry> profile, std::span<const LayerCost> costs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_
