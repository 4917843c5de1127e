#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/base/environment.h"
#include "hal/device/driver_files.h"
#include "tests/testing/set_variable.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using testing::SetVariableTo;

class MesaCache : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  // What the program may have set; at the end all is as before.
  const SetVariableTo directory_{"MESA_SHADER_CACHE_DIR", std::nullopt}, old_{"MESA_GLSL_CACHE_DIR", std::nullopt};
  const SetVariableTo disable_{"MESA_SHADER_CACHE_DISABLE", std::nullopt};
  const SetVariableTo cache_{"XDG_CACHE_HOME", "/dev/null/cache"};  // can't be made
};

TEST_F(MesaCache, IsGivenAFolderWhereItHasNone) {
  EXPECT_EQ(WhyMesaKeepsNothing(), "/dev/null/cache/mesa_shader_cache can't be written");
  EXPECT_EQ(WhyMesaKeepsNothing(folder_.path()), "");
  GiveMesaAFolder(folder_.path());
  EXPECT_EQ(EnvironmentVariable("MESA_SHADER_CACHE_DIR"), (folder_.path() / "mesa").string());
  EXPECT_EQ(WhyMesaKeepsNothing(), "");
}

TEST_F(MesaCache, KeepsTheFolderThatItHasOrTheProgramChose) {
  {
    const SetVariableTo own("XDG_CACHE_HOME", folder_.path().string());
    GiveMesaAFolder("/elsewhere");
    EXPECT_EQ(EnvironmentVariable("MESA_SHADER_CACHE_DIR"), "");
  }
  const SetVariableTo chosen("MESA_SHADER_CACHE_DIR", "/dev/null/chosen");
  GiveMesaAFolder(folder_.path());
  EXPECT_EQ(WhyMesaKeepsNothing(folder_.path()), "/dev/null/chosen can't be written");
}

TEST_F(MesaCache, TellsThatItIsSwitchedOff) {
  const SetVariableTo off("MESA_SHADER_CACHE_DISABLE", "true");
  EXPECT_EQ(WhyMesaKeepsNothing(folder_.path()), "MESA_SHADER_CACHE_DISABLE is set");
}

}  // namespace
}  // namespace hearth
