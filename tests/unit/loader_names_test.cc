// Which libraries are looked for, on each system.
#include "hal/device/loader_names.h"

#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

namespace hearth {
namespace {

TEST(LoaderNames, EachSystemHasSomeOfEachApiInItsOwnForm) {
  using System = OperatingSystem;
  for (const auto& [system, part] : {std::tuple(System::kLinux, ".so"), std::tuple(System::kAndroid, ".so"),
                                     std::tuple(System::kApple, ".dylib"), std::tuple(System::kWindows, ".dll")}) {
    const LoaderNames names = LoaderNamesOn(system);
    for (const std::vector<const char*>* list : {&names.vulkan, &names.opencl, &names.egl, &names.gles}) {
      EXPECT_FALSE(list->empty());
      for (const std::string_view name : *list)
        EXPECT_TRUE(name.find(part) != std::string_view::npos || name.find(".framework/") != std::string_view::npos)
            << name;
    }
  }
}

TEST(LoaderNames, TheNameWithTheVersionOfTheInterfaceComesFirstOnLinux) {
  const LoaderNames names = LoaderNamesOn(OperatingSystem::kLinux);
  EXPECT_STREQ(names.vulkan[0], "libvulkan.so.1");
  EXPECT_STREQ(names.opencl[0], "libOpenCL.so.1");
  EXPECT_STREQ(names.egl[0], "libEGL.so.1");
  EXPECT_STREQ(names.gles[0], "libGLESv2.so.2");
}

}  // namespace
}  // namespace hearth
