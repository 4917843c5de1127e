#include "hearth/results.h"

#include <fmt/ranges.h>

#include "frontends/c/answer.h"
#include "frontends/c/handles.h"
#include "runtime/results/output_meaning.h"

namespace hearth {
namespace {

std::vector<hearth_results::Item> ItemsOf(const Interpretation& result) {
  std::vector<hearth_results::Item> items;
  for (const ScoredClass& scored : result.classes)
    items.push_back({static_cast<int64_t>(scored.class_index), scored.label, scored.score, {}});
  for (const Box& box : result.boxes) {
    std::vector<float> place = {box.left, box.top, box.right, box.bottom};
    for (const KeyPoint& point : box.points) place.insert(place.end(), {point.x, point.y});
    items.push_back({static_cast<int64_t>(box.class_index), box.label, box.score, std::move(place)});
  }
  for (size_t k = 0; k < result.points.points.size(); ++k) {
    const KeyPoint& point = result.points.points[k];
    items.push_back({-1, PointName(result.points.skeleton, k), point.score, {point.x, point.y}});
  }
  for (const ClassArea& area : result.areas)
    items.push_back({static_cast<int64_t>(area.class_index), area.label, area.share, {}});
  return items;
}

const hearth_results::Of* Find(const hearth_results* results, size_t index) {
  return index < hearth_results_count(results) ? &results->list[index] : nullptr;
}

const hearth_results::Item* FindItem(const hearth_results* results, size_t index, size_t item) {
  const hearth_results::Of* result = Find(results, index);
  return result != nullptr && item < result->items.size() ? &result->items[item] : nullptr;
}

}  // namespace
}  // namespace hearth

hearth_status hearth_session_interpret(hearth_session* session, const char* meaning, size_t top, float min_score,
                                       hearth_results** out) {
  return hearth::AnswerWith(out, [&]() -> hearth::Result<std::unique_ptr<hearth_results>> {
    HEARTH_NOT_NULL(session);
    if (!session->has_run)
      return hearth::Error(hearth::StatusCode::kInvalidArgument, "the session has not run yet: there is no output");
    hearth::InterpretOptions options{.top = top, .min_score = min_score};
    if (meaning != nullptr) {
      if (!hearth::SetShown(meaning, options)) {
        return hearth::Error(hearth::StatusCode::kInvalidArgument, "'{}' is no meaning; there are {}", meaning,
                             fmt::join(hearth::ShowWords(), ", "));
      }
    }
    HEARTH_ASSIGN(const auto results, hearth::Interpret(*session->session, std::move(options)));
    auto made = std::make_unique<hearth_results>();
    for (const hearth::Interpretation& result : results) {
      made->list.push_back({std::string(hearth::MeaningName(result.group.meaning)), result.group.reason,
                            result.group.outputs[0], hearth::ItemsOf(result), result.map});
    }
    return made;
  });
}

void hearth_results_destroy(hearth_results* results) {
  delete results;
}

size_t hearth_results_count(const hearth_results* results) {
  return results == nullptr ? 0 : results->list.size();
}

const char* hearth_result_meaning(const hearth_results* results, size_t index) {
  const auto* result = hearth::Find(results, index);
  return result == nullptr ? nullptr : result->meaning.c_str();
}

const char* hearth_result_reason(const hearth_results* results, size_t index) {
  const auto* result = hearth::Find(results, index);
  return result == nullptr ? nullptr : result->reason.c_str();
}

int64_t hearth_result_output(const hearth_results* results, size_t index) {
  const auto* result = hearth::Find(results, index);
  return result == nullptr ? -1 : static_cast<int64_t>(result->output);
}

size_t hearth_result_item_count(const hearth_results* results, size_t index) {
  const auto* result = hearth::Find(results, index);
  return result == nullptr ? 0 : result->items.size();
}

int64_t hearth_result_class(const hearth_results* results, size_t index, size_t item) {
  const auto* found = hearth::FindItem(results, index, item);
  return found == nullptr ? -1 : found->class_index;
}

const char* hearth_result_label(const hearth_results* results, size_t index, size_t item) {
  const auto* found = hearth::FindItem(results, index, item);
  return found == nullptr ? nullptr : found->label.c_str();
}

float hearth_result_score(const hearth_results* results, size_t index, size_t item) {
  const auto* found = hearth::FindItem(results, index, item);
  return found == nullptr ? 0 : found->score;
}

const float* hearth_result_place(const hearth_results* results, size_t index, size_t item, size_t* count) {
  const auto* found = hearth::FindItem(results, index, item);
  const bool has_place = found != nullptr && !found->place.empty();
  if (count != nullptr) *count = has_place ? found->place.size() : 0;
  return has_place ? found->place.data() : nullptr;
}

const float* hearth_result_map(const hearth_results* results, size_t index, int32_t* height, int32_t* width) {
  const auto* result = hearth::Find(results, index);
  const bool has_map = result != nullptr && !result->map.values.empty();
  if (height != nullptr) *height = has_map ? result->map.height : 0;
  if (width != nullptr) *width = has_map ? result->map.width : 0;
  return has_map ? result->map.values.data() : nullptr;
}
