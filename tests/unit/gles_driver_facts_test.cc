// What OpenGL ES drivers say of themselves, by a driver that only answers the first questions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "backends/gles/driver_facts.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "tests/testing/gl_stand_ins.h"
#include "tests/testing/pinned_thread.h"
#include "tests/testing/set_variable.h"

namespace hearth::gles {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

GLint& TheNumberOfBinaryFormats() {
  static GLint number = 1;
  return number;
}

void GetIntegerv(GLenum name, GLint* value) {
  *value = name == GL_NUM_PROGRAM_BINARY_FORMATS ? TheNumberOfBinaryFormats() : 3;  // version 3.3
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

std::string& TheRenderer() {
  static auto& renderer = *new std::string();
  return renderer;
}

std::string& TheVersion() {
  static auto& version = *new std::string("OpenGL ES 3.2 of a test");
  return version;
}

const GLubyte* GetString(GLenum name) {
  return reinterpret_cast<const GLubyte*>((name == GL_VERSION ? TheVersion() : TheRenderer()).c_str());
}

constexpr const char* kLlvmpipe = "llvmpipe (LLVM 15.0.6, 256 bits)";
constexpr const char* kZinkOnLlvmpipe = "zink Vulkan 1.4(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))";
constexpr const char* kZinkOnHardware = "zink Vulkan 1.3(NVIDIA H100 (NVIDIA_PROPRIETARY))";

Result<DriverFacts> FactsOf(const std::string& renderer, bool is_software) {
  testing::GlStandIns driver;
  driver.Put(glGetIntegerv, GetIntegerv);
  driver.Put(glGetInteger64v, GetInteger64v);
  driver.Put(glGetIntegeri_v, GetIntegeri_v);
  driver.Put(glGetError, GetError);
  driver.Put(glGetString, GetString);
  TheRenderer() = renderer;
  DisplaySource source;
  source.name = "EGL device 0";
  source.software = is_software;
  return QueryDriverFacts(source);
}

// libepoxy would end the process.
TEST(GlesDriverFacts, ADriverWhoseVersionCantBeReadIsRefused) {
  TheVersion() = "OpenGL ES x.y of a test";
  const Result<DriverFacts> facts = FactsOf(kLlvmpipe, true);
  TheVersion() = "OpenGL ES 3.2 of a test";
  ASSERT_FALSE(facts.ok());
  EXPECT_THAT(facts.status().message(), AllOf(HasSubstr("EGL device 0"), HasSubstr("x.y")));
}

TEST(GlesDriverFacts, ZinkOnASoftwareDriverIsRefusedAndSaysWhatToUse) {
  const Result<DriverFacts> facts = FactsOf(kZinkOnLlvmpipe, true);
  ASSERT_FALSE(facts.ok());
  EXPECT_EQ(facts.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(facts.status().message(), AllOf(HasSubstr("EGL device 0: zink"), HasSubstr("device vulkan")));
}

// A simulated device has the compute units of its profile, but its binaries are llvmpipe's all the same.
TEST(GlesDriverFacts, TheCpusInASoftwareDriversBinariesStayThoseOfThisProcessWhatEverItSimulates) {
  const Result<DriverFacts> facts = FactsOf(kLlvmpipe, true);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->info.binary_cpus, facts->info.compute_units);
  EXPECT_GT(facts->info.binary_cpus, 0u);
  const DeviceInfo simulated = Simulated(facts->info, *FindDeviceProfile("navi21").value());
  EXPECT_EQ(simulated.binary_cpus, facts->info.binary_cpus);
  EXPECT_EQ(FactsOf(kZinkOnHardware, false)->info.binary_cpus, 0u);
}

// llvmpipe asks for the process's CPUs, whichever thread makes it do so.
TEST(GlesDriverFacts, AThreadThatMayUseOneCpuSeesTheCpusOfTheProcessInBinaries) {
  cpu_set_t of_process;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof of_process, &of_process), 0);
  uint32_t seen = 0;
  std::thread([&seen] {
    ASSERT_TRUE(testing::PinThisThreadToOneCpu());
    const Result<DriverFacts> facts = FactsOf(kLlvmpipe, true);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    seen = facts->info.binary_cpus;
  }).join();
  EXPECT_EQ(seen, static_cast<uint32_t>(CPU_COUNT(&of_process)));
}

TEST(GlesDriverFacts, ADriverThatListsNoBinaryFormatTakesNoBinaries) {
  for (const GLint number : {0, 1}) {
    TheNumberOfBinaryFormats() = number;
    const Result<DriverFacts> facts = FactsOf(kLlvmpipe, true);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_EQ(facts->takes_binaries(), number > 0);
  }
}

TEST(GlesDriverFacts, TheDriversEnvironmentIsThatOfTheMomentWhenItWasRead) {
  const testing::SetVariableTo none("GALLIVM_PERF", std::nullopt);
  const Result<DriverFacts> before = FactsOf(kLlvmpipe, true);
  const testing::SetVariableTo set("GALLIVM_PERF", "nopt");
  const Result<DriverFacts> after = FactsOf(kLlvmpipe, true);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE(before->info.driver_environment, after->info.driver_environment);
  EXPECT_THAT(after->info.driver_environment, HasSubstr("GALLIVM_PERF="));
}

// Their loops end early, so a name that is not seen through gives wrong answers.
TEST(GlesDriverFacts, ASoftwareDriverIsKnownByItsNameThroughWrappersAndInAnyCase) {
  for (const char* renderer :
       {"llvmpipe (LLVM 15.0.6, 256 bits)", "virgl (LLVMPIPE (LLVM 21.1.8, 128 bits))", "softpipe",
        "Software Rasterizer", "D3D12 (Microsoft Basic Render Driver)", "Google SwiftShader",
        "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (LLVM 10.0.0)), SwiftShader driver)", "virgl (lavapipe)"}) {
    const Result<DriverFacts> facts = FactsOf(renderer, false);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_EQ(facts->info.type, DeviceType::kCpu) << renderer;
    EXPECT_TRUE(Applies(Rule::kLoopLimit, facts->info)) << renderer;
  }
}

TEST(GlesDriverFacts, ZinkOnASoftwareDriverIsRefusedInAGuestToo) {
  const char* renderer = "virgl (zink Vulkan 1.4(llvmpipe (LLVM 19.1.7, 256 bits) (MESA_LLVMPIPE)))";
  EXPECT_EQ(FactsOf(renderer, false).status().code(), StatusCode::kUnavailable);
}

TEST(GlesDriverFacts, ARendererThatIsNotUtf8HasAName) {
  const Result<DriverFacts> facts = FactsOf("Some\xae GPU", false);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->info.name, "Some\xef\xbf\xbd GPU");
}

TEST(GlesDriverFacts, ZinkOnHardwareIsTaken) {
  const Result<DriverFacts> facts = FactsOf(kZinkOnHardware, false);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->info.max_local_size[0], 256u);
}

bool HasUnifiedMemory(std::string_view renderer, bool is_software = false) {
  const Result<DriverFacts> facts = FactsOf(std::string(renderer), is_software);
  EXPECT_TRUE(facts.ok()) << facts.status().message();
  return facts.ok() && facts->info.unified_memory;
}

TEST(GlesDriverFacts, GpusOfPhonesBoardsAndProcessorsShareTheHostsMemory) {
  for (const char* renderer : {"Adreno (TM) 640", "FD640", "Mali-G78", "Mali-G52 (Panfrost)", "Immortalis-G715",
                               "PowerVR Rogue GE8320", "ANGLE (Samsung Xclipse 920) on Vulkan 1.1.179", "V3D 4.2",
                               "Mesa Intel(R) UHD Graphics 620 (KBL GT2)", "Mesa Intel(R) Arc(tm) Graphics (MTL)",
                               "NVIDIA Tegra", "zink Vulkan 1.3(Turnip Adreno (TM) 660 (MESA_TURNIP))"}) {
    EXPECT_TRUE(HasUnifiedMemory(renderer)) << renderer;
  }
  EXPECT_TRUE(HasUnifiedMemory("llvmpipe (LLVM 15.0.6, 256 bits)", true));
  EXPECT_TRUE(HasUnifiedMemory("MALI-G78"));
}

TEST(GlesDriverFacts, CardsGuestsAndUnknownGpusDoNot) {
  for (const char* renderer :
       {"NVIDIA GeForce RTX 2060/PCIe/SSE2", "AMD Radeon RX 6800 (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0)",
        "Mesa Intel(R) Arc(tm) A750 Graphics (DG2)", "Mesa Intel(R) Graphics (BMG G21)",
        "Mesa Intel(R) Data Center GPU Flex Series 170 Graphics (ATS-M150)", "Mesa Intel(R) Iris(R) Xe Graphics (dg1)",
        "virgl (LLVMPIPE (LLVM 21.1.8, 128 bits))", "virgl (Mesa Intel(R) UHD Graphics 620 (KBL GT2))",
        "Android Emulator OpenGL ES Translator (Intel(R) UHD Graphics 620)", "Something New 1"}) {
    EXPECT_FALSE(HasUnifiedMemory(renderer)) << renderer;
  }
}

// A simulated GPU has what its profile says, on a software driver, whose memory is unified.
TEST(GlesDriverFacts, AGpuAndItsProfileHaveTheSameMemory) {
  for (const DeviceProfile& profile : DeviceProfiles()) {
    if (!profile.gles || profile.renderer.empty()) continue;
    EXPECT_EQ(HasUnifiedMemory(profile.renderer), profile.unified_memory) << profile.name;
  }
}

}  // namespace
}  // namespace hearth::gles
