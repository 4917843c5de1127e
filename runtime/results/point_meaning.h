// Which outputs are key points.
#ifndef HEARTH_RUNTIME_RESULTS_POINT_MEANING_H_
#define HEARTH_RUNTIME_RESULTS_POINT_MEANING_H_

#include <optional>

#include "hearth/results.h"
#include "runtime/results/output_facts.h"

namespace hearth {

std::optional<ResultGroup> FindHeatmaps(const Outputs& outputs);
std::optional<ResultGroup> FindLandmarks(const Outputs& outputs);
std::optional<ResultGroup> FindScoredPoints(const Outputs& outputs);

// How an output's shape can be read as key points, if it can.
std::optional<Layout> PointLayoutFor(const Outputs& outputs, size_t k);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_POINT_MEANING_H_
