#include "core/emit/unroll.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hearth {
namespace {

using ::testing::HasSubstr;

// The expansion without line breaks and runs of blanks, or the error's message.
std::string Expanded(std::string_view text, std::vector<Define> defines = {}) {
  const Result<std::string> expanded = ExpandUnrolledLoops(text, defines);
  if (!expanded.ok()) return expanded.status().message();
  std::string out;
  for (char c : *expanded) {
    if (c == '\n') c = ' ';
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Unroll, WritesEachTripAsABlockWithItsOwnConstant) {
  EXPECT_EQ(Expanded("UNROLL for (int i = 0; i < 2; ++i) a[i] = 0.0f;"),
            "{ const int i = 0; a[i] = 0.0f; } { const int i = 1; a[i] = 0.0f; }");
}

TEST(Unroll, StartsWhereTheLoopStarts) {
  EXPECT_EQ(Expanded("UNROLL for (int k = 3; k < 4; ++k) { f(k); }"), "{ const int k = 3; { f(k); } }");
}

TEST(Unroll, LeavesNothingOfALoopWithoutTrips) {
  EXPECT_EQ(Expanded("a; UNROLL for (int i = 2; i < 2; ++i) b; c;"), "a; c;");
}

TEST(Unroll, LeavesTextAroundLoopsAndOrdinaryLoopsAlone) {
  const std::string text = "x = 1; for (int i = 0; i < N; ++i) y += i; // UNROLLED";
  EXPECT_EQ(Expanded(text), text);
}

TEST(Unroll, ComputesBoundsFromDefines) {
  const std::string text =
      Expanded("UNROLL for (int i = 0; i < (ROWS - 1) * 2 + COLS / 2; ++i) f(i);", {{"ROWS", "3"}, {"COLS", "ROWS+1"}});
  EXPECT_EQ(CountOf(text, "f(i)"), 6);
}

TEST(Unroll, ExpandsNestedLoopsFromTheInsideOut) {
  const std::string text =
      Expanded("UNROLL for (int i = 0; i < 2; ++i) { UNROLL for (int j = 0; j < 3; ++j) { a[i * 3 + j] = 0; } }");
  EXPECT_EQ(CountOf(text, "a[i * 3 + j]"), 6);
  EXPECT_EQ(CountOf(text, "const int i"), 2);
  EXPECT_EQ(CountOf(text, "const int j"), 6);
  EXPECT_EQ(CountOf(text, "UNROLL"), 0);
}

TEST(Unroll, TakesALoopAsTheStatementOfALoop) {
  const std::string text =
      Expanded("UNROLL for (int i = 0; i < 2; ++i) UNROLL for (int j = 0; j < 2; ++j) f(i, j); g();");
  EXPECT_EQ(CountOf(text, "f(i, j);"), 4);
  EXPECT_EQ(CountOf(text, "g();"), 1);
}

TEST(Unroll, TakesAnIfAsTheStatementOfALoop) {
  const std::string text = Expanded("UNROLL for (int i = 0; i < 2; ++i) if (i < N) f(i); g();");
  EXPECT_EQ(CountOf(text, "if (i < N) f(i);"), 2);
  EXPECT_EQ(CountOf(text, "g();"), 1);
}

TEST(Unroll, ExpandsLoopsInsideMacrosOnTheirOneLine) {
  const Result<std::string> text =
      ExpandUnrolledLoops("#define STEP(c) { UNROLL for (int i = 0; i < 2; ++i) acc[i] += a[i].c; }\nSTEP(x)\n", {});
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(CountOf(*text, "acc[i] += a[i].c;"), 2);
  EXPECT_THAT(*text, ::testing::EndsWith("\nSTEP(x)\n"));
  EXPECT_EQ(std::count(text->begin(), text->end(), '\n'), 2);
}

TEST(Unroll, RefusesABoundThatIsNoConstantAndNamesTheLoop) {
  EXPECT_THAT(Expanded("UNROLL for (int i = 0; i < K4; ++i) f(i);"), HasSubstr("i < K4"));
}

TEST(Unroll, RefusesDefinesThatNameEachOther) {
  EXPECT_THAT(Expanded("UNROLL for (int i = 0; i < A; ++i) f(i);", {{"A", "B"}, {"B", "A"}}), HasSubstr("UNROLL"));
}

TEST(Unroll, RefusesDivisionByZero) {
  EXPECT_THAT(Expanded("UNROLL for (int i = 0; i < 4 / ROWS; ++i) f(i);", {{"ROWS", "0"}}), HasSubstr("UNROLL"));
}

TEST(Unroll, RefusesOtherLoopForms) {
  for (const char* loop :
       {"UNROLL while (x) f();", "UNROLL for (int i = 3; i > 0; --i) f(i);", "UNROLL for (int i = 0; j < 3; ++i) f(i);",
        "UNROLL for (int i = 0; i < 3; i += 2) f(i);", "UNROLL for (i = 0; i < 3; ++i) f(i);",
        "UNROLL for (int i = 0; i < 3; ++i", "UNROLL", "UNROLL for (int i = 0; i < 3; ++i) { f(i);"}) {
    EXPECT_FALSE(ExpandUnrolledLoops(loop, {}).ok()) << loop;
  }
}

TEST(Unroll, RefusesATextThatGrowsWithoutEnd) {
  EXPECT_THAT(Expanded("UNROLL for (int i = 0; i < 1000000; ++i) { something(i); }"), HasSubstr("grew past"));
}

}  // namespace
}  // namespace hearth
