#include "runtime/devices/device_names.h"

#include <gtest/gtest.h>

#include "runtime/devices/device_choice.h"

namespace hearth {
namespace {

constexpr BackendDef kSome{};  // any backend: what is listed with one is not a CPU

ListedDevice Listed(const std::string& id, const std::string& name, DeviceType type, bool usable = true) {
  DeviceCandidate candidate;
  candidate.name = name;
  candidate.type = type;
  candidate.usable = usable;
  candidate.unusable_reason = usable ? "" : id + " is too old";
  return {id, type == DeviceType::kCpu && id == "cpu" ? nullptr : &kSome, candidate};
}

const std::vector<ListedDevice> kMachine = {Listed("vulkan:0", "Radeon Integrated", DeviceType::kIntegratedGpu),
                                            Listed("vulkan:1", "Radeon Pro", DeviceType::kDiscreteGpu),
                                            Listed("vulkan:2", "llvmpipe", DeviceType::kCpu),
                                            Listed("opencl:0", "Radeon Pro Max", DeviceType::kDiscreteGpu),
                                            Listed("gles", "Voodoo", DeviceType::kDiscreteGpu, false),
                                            Listed("cpu", "EPYC", DeviceType::kCpu)};

std::string UuidOf(const ListedDevice& device) {
  if (device.id == "vulkan:1" || device.id == "opencl:0") return "0123456789abcdef0123456789ABCDEF";
  return device.id == "vulkan:2" ? "ffffffffffffffffffffffffffffffff" : "";
}

// The id, or the error's text.
std::string Found(const std::string& name) {
  const Result<ListedDevice> device = DeviceByName(name, kMachine, UuidOf);
  return device.ok() ? device->id : device.status().message();
}

TEST(DeviceNames, CapitalsAndBlanksAroundNamesDoNotMatter) {
  EXPECT_EQ(NormalizedDeviceName(" OpenCL:1\n").value(), "opencl:1");
}

TEST(DeviceNames, AnEmptyNameIsAnError) {
  for (const char* name : {"", "  "}) {
    EXPECT_EQ(NormalizedDeviceName(name).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(ChooseDevices(name).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(DeviceNames, PartOfOneNameIsEnough) {
  EXPECT_EQ(Found("integ"), "vulkan:0");
  EXPECT_EQ(Found("epyc"), "cpu");
}

TEST(DeviceNames, APartThatFitsSeveralDevicesIsAnErrorThatListsThem) {
  const std::string error = Found("radeon");
  for (const char* id : {"vulkan:0 (Radeon Integrated)", "vulkan:1", "opencl:0"}) EXPECT_NE(error.find(id), error.npos);
  EXPECT_EQ(error.find("llvmpipe"), error.npos) << error;
}

TEST(DeviceNames, AWholeNameComesBeforeLongerOnesThatHoldIt) {
  EXPECT_EQ(Found("radeon pro"), "vulkan:1");
}

TEST(DeviceNames, AUuidNamesTheFirstDeviceThatHasIt) {
  EXPECT_EQ(Found("01234567-89AB-cdef-0123-456789abcdef"), "vulkan:1");
  EXPECT_EQ(Found("ffffffffffffffffffffffffffffffff"), "vulkan:2");
  EXPECT_NE(Found("00000000000000000000000000000000").find("no usable device"), std::string::npos);
}

TEST(DeviceNames, AnUnknownNameListsWhatThereIs) {
  const std::string error = Found("cuda");
  for (const char* part : {"'cuda'", "vulkan:0 (Radeon Integrated)", "cpu (EPYC)", "hearth devices"})
    EXPECT_NE(error.find(part), error.npos) << error;
}

TEST(DeviceNames, ADeviceThatIsNotUsableGivesItsReason) {
  EXPECT_NE(Found("voodoo").find("gles is too old"), std::string::npos) << Found("voodoo");
}

TEST(DeviceNames, HardwareIsSortedDiscreteFirstAndHoldsNoEmulation) {
  std::vector<std::string> ids;
  for (const ListedDevice& device : HardwareGpus(kMachine)) ids.push_back(device.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"vulkan:1", "opencl:0", "vulkan:0"}));
}

TEST(DeviceNames, AutoIsUnderstoodInAnyCase) {
  EXPECT_TRUE(IsAutoDevice("Auto"));
  EXPECT_FALSE(IsAutoDevice("cpu"));
}

}  // namespace
}  // namespace hearth
