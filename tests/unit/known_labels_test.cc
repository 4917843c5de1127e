// Labels that are guessed from the number of classes.
#include "runtime/results/known_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ResultGroup OfAPicture(Meaning meaning) {
  return {.meaning = meaning, .reason = "found", .input_height = 224, .input_width = 224};
}

std::vector<std::string> KnownLabels(size_t class_count, Meaning meaning) {
  ResultGroup group = OfAPicture(meaning);
  std::vector<std::string> labels;
  GiveKnownLabels(class_count, group, labels);
  return labels;
}

TEST(KnownLabels, OfADataSetAreOneForEachOfItsClasses) {
  for (const size_t count : {1000, 1001}) EXPECT_THAT(KnownLabels(count, Meaning::kClasses), SizeIs(count));
  for (const size_t count : {20, 80, 90}) EXPECT_THAT(KnownLabels(count, Meaning::kBoxes), SizeIs(count));
  EXPECT_THAT(KnownLabels(21, Meaning::kClassMap), SizeIs(21));
}

TEST(KnownLabels, StandWhereTheDataSetsHaveThem) {
  const auto images = KnownLabels(1000, Meaning::kClasses), with_background = KnownLabels(1001, Meaning::kClasses);
  EXPECT_EQ(images[281], "tabby");
  EXPECT_EQ(images[999], "toilet tissue");
  EXPECT_EQ(with_background[0], "background");
  EXPECT_EQ(with_background[282], "tabby");
  EXPECT_EQ(KnownLabels(80, Meaning::kBoxes)[11], "stop sign");
  const auto with_gaps = KnownLabels(90, Meaning::kBoxes);
  EXPECT_EQ(with_gaps[11], "");
  EXPECT_EQ(with_gaps[12], "stop sign");
  EXPECT_EQ(with_gaps[89], "toothbrush");
  EXPECT_EQ(KnownLabels(21, Meaning::kClassMap)[15], "person");
}

TEST(KnownLabels, AreSaidToBeGuessed) {
  ResultGroup group = OfAPicture(Meaning::kBoxes);
  std::vector<std::string> labels;
  GiveKnownLabels(80, group, labels);
  EXPECT_THAT(group.reason, HasSubstr("COCO's"));
  EXPECT_THAT(group.reason, HasSubstr("--labels"));
}

TEST(KnownLabels, AreNotGuessedForOtherCountsMeaningsAndInputs) {
  EXPECT_THAT(KnownLabels(999, Meaning::kClasses), IsEmpty());
  EXPECT_THAT(KnownLabels(80, Meaning::kClasses), IsEmpty());
  ResultGroup of_sound = {.meaning = Meaning::kClasses};
  std::vector<std::string> labels;
  GiveKnownLabels(1000, of_sound, labels);
  EXPECT_THAT(labels, IsEmpty());
}

TEST(KnownLabels, LeaveThoseThatAreGivenAlone) {
  ResultGroup group = OfAPicture(Meaning::kBoxes);
  std::vector<std::string> labels = {"mine"};
  GiveKnownLabels(80, group, labels);
  EXPECT_THAT(labels, ElementsAre("mine"));
  EXPECT_EQ(group.reason, "found");
}

}  // namespace
}  // namespace hearth
