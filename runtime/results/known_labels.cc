#include "runtime/results/known_labels.h"

#include <fmt/format.h>

#include <string_view>

#include "core/base/contains.h"
#include "core/base/text.h"

namespace hearth {

extern const EmbeddedFile kImageNetLabels[], kCocoLabels[], kPascalVocLabels[];  // the files of runtime/results/labels

namespace {

struct DataSet {
  size_t classes = 0;  // as networks count them
  Meaning meaning = Meaning::kNone;
  std::string_view name;
  const EmbeddedFile* labels = nullptr;
  bool has_background = false;  // as class 0
};
constexpr size_t kCocoIds = 90;  // COCO's own numbers have gaps
constexpr DataSet kDataSets[] = {
    {1000, Meaning::kClasses, "ImageNet", kImageNetLabels},
    {1001, Meaning::kClasses, "ImageNet", kImageNetLabels, true},
    {80, Meaning::kBoxes, "COCO", kCocoLabels},
    {kCocoIds, Meaning::kBoxes, "COCO", kCocoLabels},
    {20, Meaning::kBoxes, "Pascal VOC", kPascalVocLabels},
    {21, Meaning::kClassMap, "Pascal VOC", kPascalVocLabels, true},
};

std::vector<std::string> LabelsOf(const DataSet& set) {
  constexpr size_t kGaps[] = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83};  // counted from 1
  std::vector<std::string> labels;
  if (set.has_background) labels.emplace_back("background");
  for (const std::string_view label : PartsOf(set.labels->text, '\n')) {
    while (set.classes == kCocoIds && Contains(kGaps, labels.size() + 1)) labels.emplace_back();
    labels.emplace_back(label);
  }
  return labels;
}

}  // namespace

void GiveKnownLabels(size_t class_count, ResultGroup& group, std::vector<std::string>& labels) {
  if (!labels.empty() || group.input_height <= 0) return;
  for (const DataSet& set : kDataSets) {
    if (set.classes != class_count || set.meaning != group.meaning) continue;
    labels = LabelsOf(set);
    group.reason += fmt::format("; its labels are {}'s, the usual ones of {} classes: --labels gives others", set.name,
                                class_count);
  }
}

}  // namespace hearth
