// Dma-bufs as Vulkan memory, linear and with a modifier: on a driver without them, whose functions this test then has
// itself. Its modifier means that rows lie from the last to the first. Its first type of memory is protected: none can
// be imported as such.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "hearth/session.h"
#include "tests/testing/built_models.h"
#include "tests/testing/pictures.h"
#include "tests/testing/shared_memory.h"

namespace hearth {
namespace driver_with_dma_bufs {

constexpr uint64_t kUpsideDown = 0x0100000000000001;
constexpr VkExtent3D kMostPixels{37, 25, 1};  // of an image with that modifier
constexpr const char* kAdded[] = {
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
    VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME};

struct Image {
  VkExtent3D size{};
  VkSubresourceLayout in_memory{};  // of the dma-buf
};
vulkan::InstanceApi real_instance;
vulkan::DeviceApi real_device;
std::map<VkImage, Image> images;
std::map<VkDeviceMemory, int> descriptors;
int taken = 0, given_back = 0, images_asked_for = 0;

template <typename Wanted>
const Wanted* InChain(const void* chain, VkStructureType type) {
  const auto* next = static_cast<const VkBaseInStructure*>(chain);
  while (next != nullptr && next->sType != type) next = next->pNext;
  return reinterpret_cast<const Wanted*>(next);
}

bool IsAdded(std::string_view name) {
  return std::ranges::find(kAdded, name) != std::end(kAdded);
}

VkResult Extensions(VkPhysicalDevice device, const char* layer, uint32_t* count, VkExtensionProperties* properties) {
  uint32_t known = 0;
  real_instance.EnumerateDeviceExtensionProperties(device, layer, &known, nullptr);
  std::vector<VkExtensionProperties> all(known);
  real_instance.EnumerateDeviceExtensionProperties(device, layer, &known, all.data());
  std::erase_if(all, [](const VkExtensionProperties& each) { return IsAdded(each.extensionName); });
  for (const char* name : kAdded) {
    VkExtensionProperties& added = all.emplace_back();
    std::string_view(name).copy(added.extensionName, VK_MAX_EXTENSION_NAME_SIZE - 1);
  }
  if (properties != nullptr) std::copy_n(all.begin(), std::min<size_t>(*count, all.size()), properties);
  *count = static_cast<uint32_t>(all.size());
  return VK_SUCCESS;
}

VkResult CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                      VkDevice* device) {
  std::vector<const char*> names(info->ppEnabledExtensionNames,
                                 info->ppEnabledExtensionNames + info->enabledExtensionCount);
  if (std::erase_if(names, IsAdded) != std::size(kAdded)) return VK_ERROR_EXTENSION_NOT_PRESENT;
  VkDeviceCreateInfo asked = *info;
  asked.enabledExtensionCount = static_cast<uint32_t>(names.size());
  asked.ppEnabledExtensionNames = names.data();
  return real_instance.CreateDevice(physical, &asked, callbacks, device);
}

void BufferProperties(VkPhysicalDevice, const VkPhysicalDeviceExternalBufferInfo*, VkExternalBufferProperties* answer) {
  answer->externalMemoryProperties.externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

VkResult ImageProperties(VkPhysicalDevice, const VkPhysicalDeviceImageFormatInfo2* asked,
                         VkImageFormatProperties2* answer) {
  const auto* modifier = InChain<VkPhysicalDeviceImageDrmFormatModifierInfoEXT>(
      asked, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT);
  if (modifier == nullptr || modifier->drmFormatModifier != kUpsideDown) return VK_ERROR_FORMAT_NOT_SUPPORTED;
  static_cast<VkExternalImageFormatProperties*>(answer->pNext)->externalMemoryProperties.externalMemoryFeatures =
      VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  answer->imageFormatProperties.maxExtent = kMostPixels;
  return VK_SUCCESS;
}

// Its modifier has one plane, behind one that no frame here has.
void FormatProperties(VkPhysicalDevice device, VkFormat format, VkFormatProperties2* answer) {
  auto* list = static_cast<VkDrmFormatModifierPropertiesListEXT*>(std::exchange(answer->pNext, nullptr));
  real_instance.GetPhysicalDeviceFormatProperties2(device, format, answer);
  answer->pNext = list;
  const VkDrmFormatModifierPropertiesEXT all[] = {{kUpsideDown + 1, 2, 0}, {kUpsideDown, 1, 0}};
  if (list->pDrmFormatModifierProperties != nullptr)
    std::copy_n(all, std::min<uint32_t>(list->drmFormatModifierCount, 2), list->pDrmFormatModifierProperties);
  list->drmFormatModifierCount = 2;
}

VkResult FdProperties(VkDevice, VkExternalMemoryHandleTypeFlagBits, int, VkMemoryFdPropertiesKHR* properties) {
  properties->memoryTypeBits = UINT32_MAX;
  return VK_SUCCESS;
}

VkResult ModifierOf(VkDevice, VkImage, VkImageDrmFormatModifierPropertiesEXT*) {
  return VK_ERROR_UNKNOWN;
}

// The driver's types behind the protected one.
void MemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties* properties) {
  real_instance.GetPhysicalDeviceMemoryProperties(device, properties);
  auto& types = properties->memoryTypes;
  std::copy_backward(types, types + properties->memoryTypeCount, types + properties->memoryTypeCount + 1);
  ++properties->memoryTypeCount;
  types[0].propertyFlags |= VK_MEMORY_PROPERTY_PROTECTED_BIT;
}

void BufferNeeds(VkDevice device, VkBuffer buffer, VkMemoryRequirements* needed) {
  real_device.GetBufferMemoryRequirements(device, buffer, needed);
  needed->memoryTypeBits = needed->memoryTypeBits << 1 | 1;
}

void ImageNeeds(VkDevice device, VkImage image, VkMemoryRequirements* needed) {
  real_device.GetImageMemoryRequirements(device, image, needed);
  needed->memoryTypeBits = needed->memoryTypeBits << 1 | 1;
}

VkResult CreateBuffer(VkDevice device, const VkBufferCreateInfo* info, const VkAllocationCallbacks* callbacks,
                      VkBuffer* buffer) {
  VkBufferCreateInfo asked = *info;
  asked.pNext = nullptr;
  return real_device.CreateBuffer(device, &asked, callbacks, buffer);
}

VkResult CreateImage(VkDevice device, const VkImageCreateInfo* info, const VkAllocationCallbacks* callbacks,
                     VkImage* image) {
  ++images_asked_for;
  const auto* drm = InChain<VkImageDrmFormatModifierExplicitCreateInfoEXT>(
      info, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT);
  if (drm == nullptr || drm->drmFormatModifier != kUpsideDown || drm->drmFormatModifierPlaneCount != 1)
    return VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
  VkImageCreateInfo asked = *info;
  asked.pNext = nullptr;
  asked.tiling = VK_IMAGE_TILING_LINEAR;
  const VkResult result = real_device.CreateImage(device, &asked, callbacks, image);
  images[*image] = {info->extent, drm->pPlaneLayouts[0]};
  return result;
}

VkResult Allocate(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                  VkDeviceMemory* memory) {
  const auto* import = InChain<VkImportMemoryFdInfoKHR>(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  if (info->memoryTypeIndex == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkMemoryAllocateInfo asked = *info;
  --asked.memoryTypeIndex;
  if (import != nullptr) asked.pNext = nullptr;
  const VkResult result = real_device.AllocateMemory(device, &asked, callbacks, memory);
  if (import != nullptr) descriptors[*memory] = import->fd;
  return result;
}

void Free(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  if (const auto found = descriptors.find(memory); found != descriptors.end()) {
    ::close(found->second);
    descriptors.erase(found);
  }
  real_device.FreeMemory(device, memory, callbacks);
}

void Read(int descriptor, void* to, uint64_t size_bytes, uint64_t offset_bytes) {
  if (::pread(descriptor, to, size_bytes, static_cast<off_t>(offset_bytes)) < 0) std::abort();
}

// The dma-buf's content at that time.
VkResult BindBuffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset_bytes) {
  if (const auto found = descriptors.find(memory); found != descriptors.end()) {
    void* address = nullptr;
    VkMemoryRequirements needed{};
    real_device.GetBufferMemoryRequirements(device, buffer, &needed);
    real_device.MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &address);
    Read(found->second, address, needed.size, 0);
  }
  return real_device.BindBufferMemory(device, buffer, memory, offset_bytes);
}

VkResult BindImage(VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset_bytes) {
  const auto& [size, in_memory] = images.at(image);
  const VkResult result = real_device.BindImageMemory(device, image, memory, offset_bytes);
  const auto layout_of = reinterpret_cast<PFN_vkGetImageSubresourceLayout>(
      real_instance.GetDeviceProcAddr(device, "vkGetImageSubresourceLayout"));
  void* address = nullptr;
  VkSubresourceLayout layout{};
  const VkImageSubresource whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
  layout_of(device, image, &whole, &layout);
  real_device.MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &address);
  for (uint32_t y = 0; y < size.height; ++y) {
    Read(descriptors.at(memory), static_cast<std::byte*>(address) + layout.offset + y * layout.rowPitch,
         uint64_t{size.width} * 4, in_memory.offset + (size.height - 1 - y) * in_memory.rowPitch);
  }
  return result;
}

template <typename Barrier>
std::vector<Barrier> Counted(uint32_t count, const Barrier* barriers) {
  std::vector<Barrier> counted(barriers, barriers + count);
  for (Barrier& barrier : counted) {
    taken += barrier.srcQueueFamilyIndex == VK_QUEUE_FAMILY_FOREIGN_EXT ? 1 : 0;
    given_back += barrier.dstQueueFamilyIndex == VK_QUEUE_FAMILY_FOREIGN_EXT ? 1 : 0;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  }
  return counted;
}

void Barriers(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags,
              uint32_t count, const VkMemoryBarrier* memory, uint32_t buffer_count,
              const VkBufferMemoryBarrier* buffers, uint32_t image_count, const VkImageMemoryBarrier* of_images) {
  const auto of_buffers = Counted(buffer_count, buffers);
  const auto counted_images = Counted(image_count, of_images);
  real_device.CmdPipelineBarrier(commands, from, to, flags, count, memory, buffer_count, of_buffers.data(), image_count,
                                 counted_images.data());
}

void SwitchOn() {
  vulkan::TheTableFilters() = {[](vulkan::InstanceApi& table) {
                                 real_instance = table;
                                 table.EnumerateDeviceExtensionProperties = Extensions;
                                 table.CreateDevice = CreateDevice;
                                 table.GetPhysicalDeviceMemoryProperties = MemoryProperties;
                                 table.GetPhysicalDeviceExternalBufferProperties = BufferProperties;
                                 table.GetPhysicalDeviceImageFormatProperties2 = ImageProperties;
                                 table.GetPhysicalDeviceFormatProperties2 = FormatProperties;
                               },
                               [](vulkan::DeviceApi& table) {
                                 real_device = table;
                                 table.GetMemoryFdPropertiesKHR = FdProperties;
                                 table.GetImageDrmFormatModifierPropertiesEXT = ModifierOf;
                                 table.GetBufferMemoryRequirements = BufferNeeds;
                                 table.GetImageMemoryRequirements = ImageNeeds;
                                 table.CreateBuffer = CreateBuffer;
                                 table.CreateImage = CreateImage;
                                 table.AllocateMemory = Allocate;
                                 table.FreeMemory = Free;
                                 table.BindBufferMemory = BindBuffer;
                                 table.BindImageMemory = BindImage;
                                 table.CmdPipelineBarrier = Barriers;
                               }};
}

bool IsRight(bool condition, std::string_view what) {
  if (!condition) std::fprintf(stderr, "wrong: %.*s\n", static_cast<int>(what.size()), what.data());
  return condition;
}

// The picture with its last row first, behind a page of something else.
std::vector<std::byte> UpsideDown(const Frame& frame, const std::vector<std::byte>& rows) {
  std::vector<std::byte> memory(4096, std::byte{7});
  for (size_t y = static_cast<size_t>(frame.height); y-- > 0;) {
    const auto row = rows.begin() + static_cast<ptrdiff_t>(y * frame.planes[0].row_pitch_bytes);
    memory.insert(memory.end(), row, row + frame.width * 4);
    memory.resize(memory.size() + 8);
  }
  return memory;
}

bool ReadsFrames(Session& session, Session& on_host) {
  bool is_right = true;
  for (const PixelFormat format : testing::kPixelFormats) {
    const testing::TestPicture picture(format, 37, 25, 1, 8, true);
    Frame frame = picture.frame();
    is_right &= on_host.BindFrame("x", frame).ok() && on_host.Run().ok();
    for (const uint64_t modifier : {uint64_t{0}, kUpsideDown}) {
      if (modifier != 0 && format > PixelFormat::kBgra8) continue;  // this machine's driver has no such images
      const testing::SharedMemory memory(modifier == 0 ? picture.memory(0) : UpsideDown(frame, picture.memory(0)));
      Frame lent = frame;
      lent.memory = MemoryKind::kDmaBuf;
      lent.drm_modifier = modifier;
      lent.planes[0].handle = memory.descriptor();
      lent.planes[0].size_bytes = 0;
      if (modifier != 0) lent.planes = {FramePlane{memory.descriptor(), 0, 4096, 37 * 4 + 8}};
      taken = given_back = 0;
      const Status bound = session.BindFrame("x", lent), ran = session.Run();
      is_right &= IsRight(bound.ok() && ran.ok(), bound.message() + ran.message());
      is_right &= IsRight(std::ranges::equal(session.output(0), on_host.output(0)), testing::NameOf(format));
      is_right &= IsRight(taken == 1 && given_back == 1, "the owner");
      lent.drm_modifier = 77;
      const Status refused = session.BindFrame("x", lent);
      is_right &= IsRight(!refused.ok(), "a modifier that the driver lacks");
    }
  }
  return IsRight(session.report().warnings.empty(), "a warning") && is_right;
}

// A frame with another number of planes than its modifier has, and one that is larger than the driver's images, is
// refused before the driver is asked for an image.
bool RefusesWrongFrames(Session& session) {
  const testing::SharedMemory memory(std::vector<std::byte>(1 << 16));
  Frame whole = testing::TestPicture(PixelFormat::kRgba8, 37, 25, 1, 8, true).frame();
  whole.memory = MemoryKind::kDmaBuf;
  whole.drm_modifier = kUpsideDown;
  whole.planes = {FramePlane{memory.descriptor(), 0, 4096, 37 * 4 + 8}};
  Frame of_two_planes = whole, wide = whole, high = whole;
  of_two_planes.planes[1] = FramePlane{memory.descriptor(), 0, 32768, 64};
  wide.width = 38;
  high.height = 26;
  images_asked_for = 0;
  bool is_right = true;
  for (const auto& [frame, reason] : {std::pair<const Frame*, std::string_view>{&of_two_planes, "plane"},
                                      {&wide, "38 x 25 pixels"},
                                      {&high, "37 x 26 pixels"}}) {
    const Status refused = session.BindFrame("x", *frame);
    is_right &= IsRight(!refused.ok() && refused.message().find(reason) != std::string::npos,
                        "not refused for its " + std::string(reason) + ": " + refused.message());
  }
  return IsRight(images_asked_for == 0, "the driver saw a wrong frame") && is_right;
}

[[noreturn]] void RunAll() {
  SwitchOn();
  const Model model = testing::NegationModel({1, 9, 12, 3});
  SessionOptions options;
  options.device = "vulkan";
  options.use_cache = false;
  Result<Session> on_host = Session::Create(model, options);
  bool is_right = true;
  for (const char* simulate : {"", "navi21"}) {
    if (!on_host.ok()) break;
    options.simulate = simulate;
    const size_t before = testing::SharedMemory::CountOpen();
    {
      Result<Session> session = Session::Create(model, options);
      is_right &= IsRight(session.ok(), session.status().message()) && ReadsFrames(*session, *on_host) &&
                  RefusesWrongFrames(*session);
    }
    is_right &= IsRight(testing::SharedMemory::CountOpen() == before, "descriptors are left open");
  }
  std::fprintf(stderr, on_host.ok() ? "done\n" : "no device here\n");
  std::_Exit(is_right ? 0 : 1);
}

}  // namespace driver_with_dma_bufs

namespace {

TEST(VulkanDmaBufDeathTest, IsReadInItsModifiersOrderAndInTurnsWithItsProducer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(driver_with_dma_bufs::RunAll(), ::testing::ExitedWithCode(0), "done|no device here");
}

}  // namespace
}  // namespace hearth
