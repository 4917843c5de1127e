// What OpenGL ES drivers say of themselves, by a driver that only answers the first questions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/gles/driver_facts.h"

namespace hearth::gles {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void GetIntegerv(GLenum /*name*/, GLint* value) {
  *value = 3;  // version 3.3
}

const GLubyte* GetString(GLenum /*name*/) {
  return reinterpret_cast<const GLubyte*>("zink Vulkan 1.4(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))");
}

TEST(GlesDriverFacts, ZinkOnASoftwareDriverIsRefusedAndSaysWhatToUse) {
  GlApi gl;
  gl.GetIntegerv = GetIntegerv;
  gl.GetString = GetString;
  DisplaySource source;
  source.name = "EGL device 0";
  source.software = true;
  const Result<DriverFacts> facts = QueryDriverFacts(gl, source);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(facts.status().message(), AllOf(HasSubstr("EGL device 0: zink"), HasSubstr("device vulkan")));
}

}  // namespace
}  // namespace hearth::gles
