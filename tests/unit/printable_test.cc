#include <gtest/gtest.h>

#include "core/base/text.h"

namespace hearth {
namespace {

TEST(Printable, LettersOfAnyLanguageStay) {
  EXPECT_EQ(Printable("conv/ReLU 6 \xc3\xa4\xe6\xbc\xa2\xf0\x9f\x94\xa5", '_'),
            "conv/ReLU 6 \xc3\xa4\xe6\xbc\xa2\xf0\x9f\x94\xa5");
}

TEST(Printable, ControlCharactersOfOneByteAreReplacedUnlessKept) {
  EXPECT_EQ(Printable("a\x1b[2Jb\x7f\n\tc", ' ', "\n\t"), "a [2Jb \n\tc");
  EXPECT_EQ(Printable("a\nb", '_'), "a_b");
  EXPECT_EQ(Printable("a\xef\xbf\xbf\xef\xbf\xbd", '?'), "a???\xef\xbf\xbd") << "U+FFFF, and U+FFFD, which is one";
}

TEST(Printable, ControlCharactersOfTwoBytesAreReplaced) {
  EXPECT_EQ(Printable("a\xc2\x9b"
                      "31mb",
                      '_'),
            "a__31mb");                               // CSI, as ESC [ is
  EXPECT_EQ(Printable("\xc2\xa0", '_'), "\xc2\xa0");  // a no-break space
}

TEST(Printable, CharactersThatTurnTheDirectionOfTextAreReplaced) {
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"
                      "c",
                      '_'),
            "a___b___c");
}

TEST(Printable, ACharacterThatIsCutOffStays) {
  EXPECT_EQ(Printable("a\xc2", '_'), "a\xc2");
  EXPECT_EQ(Printable("a\xe2\x80", '_'), "a\xe2\x80");
}

}  // namespace
}  // namespace hearth
