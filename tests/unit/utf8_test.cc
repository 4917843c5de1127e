#include <gtest/gtest.h>

#include "core/base/text.h"

namespace hearth {
namespace {

TEST(Utf8, ValidTextStaysAsItIsByteForByte) {
  for (const std::string_view text : {"", "NVIDIA H100", "\xc2\xae \xe6\xbc\xa2 \xf0\x9f\x94\xa5", "a\x1b\x7f"}) {
    EXPECT_TRUE(IsUtf8(text));
    EXPECT_EQ(ValidUtf8(text), text);
  }
}

TEST(Utf8, EachByteThatIsNoCharacterBecomesAReplacementCharacter) {
  EXPECT_EQ(ValidUtf8("Intel\xae GPU"), "Intel\xef\xbf\xbd GPU");
  EXPECT_EQ(ValidUtf8("\xff\xfe"
                      "a"),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "a");
}

TEST(Utf8, ACharacterThatIsCutOffIsReplacedAndWhatFollowsStays) {
  EXPECT_EQ(ValidUtf8("a\xe6\xbc"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ValidUtf8("\xc2"
                      "b"),
            "\xef\xbf\xbd"
            "b");
}

TEST(Utf8, OverlongFormsSurrogatesAndNumbersBeyondTheLastAreNone) {
  for (const std::string_view text : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(text));
    EXPECT_TRUE(IsUtf8(ValidUtf8(text)));
  }
}

}  // namespace
}  // namespace hearth
