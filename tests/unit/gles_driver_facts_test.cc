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

void GetInteger64v(GLenum /*name*/, GLint64* value) {
  *value = 4096;
}

void GetIntegeri_v(GLenum /*name*/, GLuint /*index*/, GLint* value) {
  *value = 256;
}

GLenum GetError() {
  return GL_NO_ERROR;
}

const GLubyte* OnLlvmpipe(GLenum /*name*/) {
  return reinterpret_cast<const GLubyte*>("zink Vulkan 1.4(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))");
}

const GLubyte* OnHardware(GLenum /*name*/) {
  return reinterpret_cast<const GLubyte*>("zink Vulkan 1.3(NVIDIA H100 (NVIDIA_PROPRIETARY))");
}

Result<DriverFacts> FactsOf(const GLubyte* (*get_string)(GLenum), bool is_software) {
  GlApi gl;
  gl.GetIntegerv = GetIntegerv;
  gl.GetInteger64v = GetInteger64v;
  gl.GetIntegeri_v = GetIntegeri_v;
  gl.GetError = GetError;
  gl.GetString = get_string;
  DisplaySource source;
  source.name = "EGL device 0";
  source.software = is_software;
  return QueryDriverFacts(gl, source);
}

TEST(GlesDriverFacts, ZinkOnASoftwareDriverIsRefusedAndSaysWhatToUse) {
  const Result<DriverFacts> facts = FactsOf(OnLlvmpipe, true);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(facts.status().message(), AllOf(HasSubstr("EGL device 0: zink"), HasSubstr("device vulkan")));
}

TEST(GlesDriverFacts, ZinkOnHardwareIsTaken) {
  const Result<DriverFacts> facts = FactsOf(OnHardware, false);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->info.max_local_size[0], 256u);
}

}  // namespace
}  // namespace hearth::gles
