// What the layers of a profile calculate: operations, shapes, and sums by kind.
#ifndef HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_
#define HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_

#include <span>
#include <string>
#include <vector>

#include "hearth/session.h"

namespace hearth {

struct LayerCost {
  std::string op;         // "conv_2d"; the whole entry's name for what is not an operator of the file
  std::string output;     // "1x112x112x32"; empty where unknown
  double operations = 0;  // multiplications and additions; 0 where unknown
  double giga_per_second = 0;
};

// One for each entry. Several entries of one operator share its operations by their time.
std::vector<LayerCost> CostsOf(std::span<const ProfileEntry> profile, const Model& model);

struct KindCost {
  std::string op;
  size_t entries = 0;
  double milliseconds = 0;
};
// Sums by operation, the longest first.
std::vector<KindCost> SumsByKind(std::span<const ProfileEntry> profile, std::span<const LayerCost> costs);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_LAYER_COSTS_H_
