// The OpenGL ES backend: the cases that every backend shares, and what only this one has: missing
// libraries and drivers, its binary container, its worker thread.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/gles/backend.h"
#include "backends/gles/module.h"
#include "backends/gles/program.h"
#include "backends/gles/worker.h"
#include "conformance/device_cases.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

// The first usable device, or null with `reason` filled.
std::unique_ptr<Device> OpenFirst(std::string& reason) {
  reason = "no OpenGL ES device was listed";
  for (const DeviceCandidate& candidate : EnumerateGles()) {
    if (!candidate.usable) {
      reason = candidate.unusable_reason;
      continue;
    }
    Result<std::unique_ptr<Device>> device = OpenGles(candidate);
    if (device.ok()) return std::move(device).value();
    reason = device.status().message();
  }
  return nullptr;
}

#define OPEN_OR_SKIP(device)                                \
  std::string reason;                                       \
  const std::unique_ptr<Device> device = OpenFirst(reason); \
  if (device == nullptr) GTEST_SKIP() << reason

class GlesDeviceCase : public ::testing::TestWithParam<conformance::DeviceCase> {};

TEST_P(GlesDeviceCase, Holds) {
  OPEN_OR_SKIP(device);
  const Status status = GetParam().run(*device);
  if (status.code() == StatusCode::kUnsupported) GTEST_SKIP() << status.message();
  EXPECT_TRUE(status.ok()) << status.message();
}

INSTANTIATE_TEST_SUITE_P(GlesBackend, GlesDeviceCase,
                         ::testing::ValuesIn(conformance::DeviceCases().begin(), conformance::DeviceCases().end()),
                         [](const auto& info) { return std::string(info.param.name); });

KernelSource AddKernel(uint32_t local_size = 16) {
  KernelSource source;
  source.name = "add_one";
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = {local_size, 1, 1};
  source.body = "y_store(GID(0), x_load(GID(0)) + splat4(1.0f));\n";
  return source;
}

std::unique_ptr<ProgramGroup> CompileAdd(Device& device) {
  const KernelSource source = AddKernel();
  Result<std::unique_ptr<ProgramGroup>> group = device.Compile({&source, 1});
  EXPECT_TRUE(group.ok()) << group.status().message();
  return group.ok() ? std::move(group).value() : nullptr;
}

// Adds one to 16 texels of `value` on the device; whether the result is right.
bool AddsOne(Device& device, Program& program, float value) {
  auto x = device.CreateBuffer(256), y = device.CreateBuffer(256);
  if (!x.ok() || !y.ok()) return false;
  const Status written = device.Write(**x, 0, 256, [&](std::span<std::byte> room) {
    for (size_t at = 0; at < room.size(); at += 4) std::memcpy(&room[at], &value, 4);
    return Status::Ok();
  });
  auto run =
      device.Prepare({{DispatchCommand{&program, {{x->get(), 0, 256}, {y->get(), 0, 256}}, {}, {1, 1, 1}, "add"}}});
  if (!written.ok() || !run.ok() || !(*run)->Run().ok()) return false;
  bool right = true;
  const Status read = device.Read(**y, 0, 256, [&](std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += 4) {
      float seen = 0;
      std::memcpy(&seen, &bytes[at], 4);
      right = right && seen == value + 1.0f;
    }
    return Status::Ok();
  });
  return right && read.ok();
}

// --- finding devices

TEST(GlesBackend, UsableCandidatesOpenAndDescribeThemselves) {
  for (const DeviceCandidate& candidate : EnumerateGles()) {
    SCOPED_TRACE(candidate.name);
    EXPECT_EQ(candidate.backend, "gles");
    EXPECT_NE(candidate.usable, !candidate.unusable_reason.empty());
    const auto device = OpenGles(candidate);
    ASSERT_EQ(device.ok(), candidate.usable);
    if (!device.ok()) continue;
    const DeviceInfo& info = (*device)->info();
    EXPECT_EQ(info.name, candidate.name);
    EXPECT_EQ(info.driver_version, candidate.driver);
    EXPECT_EQ(info.dialect, Dialect::kGles);
    EXPECT_EQ(info.name.find("llvmpipe") != std::string::npos, info.is_software());
    EXPECT_EQ(info.buffer_offset_alignment & (info.buffer_offset_alignment - 1), 0u);
    EXPECT_GE(info.buffer_offset_alignment, 16u);
    // The smallest values that ES 3.1 allows (table 21.40 and following).
    EXPECT_GE(info.max_local_invocations, 128u);
    EXPECT_GE(info.local_memory_bytes, 16384u);
    EXPECT_GE(info.max_buffer_bytes, 1u << 27);
    EXPECT_GE(info.max_storage_buffers, 4u);
    EXPECT_GE(info.max_scalar_bytes, 128u);
    EXPECT_LE(info.max_scalar_bytes, 1024u);
    EXPECT_TRUE(info.max_texel_elements == 0 || info.max_texel_elements >= 65536u);
  }
}

std::vector<DeviceCandidate> CandidatesWith(const char* egl, const char* gles) {
  return hearth_gles_module()->enumerate({.egl = {egl}, .gles = {gles}});
}

void ExpectOneUnusable(const std::vector<DeviceCandidate>& candidates, const std::string& reason_part) {
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_FALSE(candidates[0].usable);
  EXPECT_NE(candidates[0].unusable_reason.find(reason_part), std::string::npos) << candidates[0].unusable_reason;
  EXPECT_EQ(OpenGles(candidates[0]).status().code(), StatusCode::kUnavailable);
}

TEST(GlesBackend, WithoutLibEglOneUnusableCandidateNamesIt) {
  ExpectOneUnusable(CandidatesWith("libno_such_egl.so.1", "libGLESv2.so.2"), "libno_such_egl.so.1");
}

TEST(GlesBackend, WithoutLibGlesOneUnusableCandidateSaysWhatIsMissing) {
  const std::vector<DeviceCandidate> candidates = CandidatesWith("libEGL.so.1", "libno_such_gles.so.2");
  const bool has_egl = candidates.at(0).unusable_reason.find("libEGL") == std::string::npos;
  ExpectOneUnusable(candidates, has_egl ? "libno_such_gles.so.2" : "libEGL");
}

TEST(GlesBackend, ALibraryThatIsNoEglIsNotUsed) {
  ExpectOneUnusable(CandidatesWith("libm.so.6", "libm.so.6"), "no egl");
}

TEST(GlesBackend, ADamagedLibEglIsNotUsed) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "libEGL.so.1";
  std::ofstream(file) << "this is not a shared library";
  ExpectOneUnusable(CandidatesWith(file.c_str(), "libGLESv2.so.2"), "libEGL.so.1");
}

// A process of its own, since libEGL reads the variable once.
TEST(GlesBackendDeathTest, WithoutDriversAllCandidatesSayWhy) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto enumerate_without_drivers = [] {
    setenv("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent", 1);
    unsetenv("__EGL_VENDOR_LIBRARY_FILENAMES");
    const std::vector<DeviceCandidate> candidates = EnumerateGles();
    bool right = !candidates.empty();
    for (const DeviceCandidate& candidate : candidates) {
      right = right && !candidate.usable && !candidate.unusable_reason.empty();
      std::fprintf(stderr, "%s\n", candidate.unusable_reason.c_str());
    }
    _exit(right ? 0 : 1);
  };
  EXPECT_EXIT(enumerate_without_drivers(), ::testing::ExitedWithCode(0), "EGL");
}

TEST(GlesBackend, ACandidateThatIsGoneIsUnavailable) {
  DeviceCandidate candidate{.backend = "gles", .name = "gone", .usable = true, .driver_index = 9999};
  EXPECT_EQ(OpenGles(candidate).status().code(), StatusCode::kUnavailable);
  candidate.driver_index = -1;
  EXPECT_EQ(OpenGles(candidate).status().code(), StatusCode::kUnavailable);
}

// EGL shares one display in a process.
TEST(GlesBackend, ClosingADeviceLeavesTheOthersWorking) {
  OPEN_OR_SKIP(device);
  const auto group = CompileAdd(*device);
  ASSERT_NE(group, nullptr);
  { const std::unique_ptr<Device> other = OpenFirst(reason); }
  EnumerateGles();
  EXPECT_TRUE(AddsOne(*device, *group->programs()[0], 5.0f));
}

// --- programs

TEST(GlesBackend, ARefusedKernelLeavesTheDeviceWorking) {
  OPEN_OR_SKIP(device);
  std::vector<KernelSource> sources(3, AddKernel());
  sources[1].name = "broken";
  sources[1].body = "this is not a kernel";
  EXPECT_FALSE(device->Compile(sources).ok());
  const auto group = CompileAdd(*device);
  ASSERT_NE(group, nullptr);
  EXPECT_TRUE(AddsOne(*device, *group->programs()[0], 1.0f));
}

TEST(GlesBackend, ATexelRangeWithoutAWholeTexelIsRefused) {
  OPEN_OR_SKIP(device);
  if (device->info().max_texel_elements == 0) GTEST_SKIP() << "no texel buffers on " << device->info().name;
  KernelSource source = AddKernel();
  source.tensors[0].path = AccessPath::kTexelBuffer;
  const auto group = device->Compile({&source, 1});
  const auto buffer = device->CreateBuffer(256);
  ASSERT_TRUE(group.ok() && buffer.ok());
  const BoundRange half_a_texel = {buffer->get(), 0, 8};
  const CommandList list = {
      {DispatchCommand{(*group)->programs()[0].get(), {half_a_texel, half_a_texel}, {}, {1, 1, 1}, "tiny"}}};
  EXPECT_EQ(device->Prepare(list).status().code(), StatusCode::kResourceExhausted);
}

// llvmpipe's own timer counts every dispatch as 1 ns.
TEST(GlesBackend, AProfileTellsALongDispatchFromAShortOne) {
  OPEN_OR_SKIP(device);
  KernelSource source = AddKernel();
  source.scalars = {{"rounds", ScalarType::kInt}};
  source.body =
      "float4 sum = x_load(GID(0));\n"
      "for (int k = 0; k < rounds; k = k + 1) {\n  sum = sum * 0.999f + splat4(0.5f);\n}\n"
      "y_store(GID(0), sum);\n";
  const auto group = device->Compile({&source, 1});
  const uint64_t size = 1024 * 16;
  const auto x = device->CreateBuffer(size), y = device->CreateBuffer(size);
  ASSERT_TRUE(group.ok() && x.ok() && y.ok());
  CommandList list;
  for (uint32_t rounds : {1u, 100000u}) {
    list.commands.emplace_back(DispatchCommand{
        (*group)->programs()[0].get(), {{x->get(), 0, size}, {y->get(), 0, size}}, {rounds}, {64, 1, 1}, "loop"});
    list.commands.emplace_back(BarrierCommand{});
  }
  const auto executable = device->Prepare(list);
  ASSERT_TRUE(executable.ok());
  ASSERT_TRUE((*executable)->Run().ok()) << "compiles at the first dispatch";
  std::vector<double> best_ms(2, 1e9);  // of three runs: a busy machine delays any one of them
  for (int run = 0; run < 3; ++run) {
    const auto times_ms = (*executable)->RunProfiled();
    ASSERT_TRUE(times_ms.ok()) << times_ms.status().message();
    ASSERT_EQ(times_ms->size(), 2u);
    for (size_t k = 0; k < 2; ++k) best_ms[k] = std::min(best_ms[k], (*times_ms)[k]);
  }
  EXPECT_GT(best_ms[0], 0.0);
  EXPECT_GT(best_ms[1], best_ms[0]);
}

// --- binaries

std::vector<std::byte> BytesFrom(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(GlesBinaryContainer, ListsComeBackEqual) {
  const std::vector<gles::ProgramBinary> binaries = {{7, BytesFrom({1, 2, 3})}, {0xfedcba98, BytesFrom({9})}};
  const auto again = gles::UnpackBinaries(gles::PackBinaries(binaries));
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_EQ(again->size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ((*again)[k].format, binaries[k].format);
    EXPECT_EQ((*again)[k].bytes, binaries[k].bytes);
  }
}

TEST(GlesBinaryContainer, EveryTruncationAndEveryAddedByteIsRefused) {
  std::vector<std::byte> packed =
      gles::PackBinaries(std::vector<gles::ProgramBinary>{{7, BytesFrom({1, 2, 3})}, {8, BytesFrom({4})}});
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_EQ(gles::UnpackBinaries({packed.data(), size}).status().code(), StatusCode::kMalformedInput) << size;
  }
  packed.push_back(std::byte{0});
  EXPECT_EQ(gles::UnpackBinaries(packed).status().code(), StatusCode::kMalformedInput);
}

TEST(GlesBinaryContainer, AHugeCountOrSizeIsRefusedWithoutAllocatingIt) {
  std::vector<std::byte> packed = gles::PackBinaries(std::vector<gles::ProgramBinary>{{7, BytesFrom({1, 2, 3})}});
  for (size_t field : {size_t{8}, size_t{16}}) {  // count, size
    std::vector<std::byte> damaged = packed;
    for (size_t k = 0; k < 4; ++k) damaged[field + k] = std::byte{0xff};
    EXPECT_EQ(gles::UnpackBinaries(damaged).status().code(), StatusCode::kMalformedInput);
  }
}

// The stored binary of AddKernel, or empty with a reason to skip.
std::vector<std::byte> StoredAdd(Device& device, std::string& reason) {
  const auto group = CompileAdd(device);
  if (group == nullptr) return {};
  EXPECT_TRUE(AddsOne(device, *group->programs()[0], 1.0f));
  const auto binary = group->Binary();
  EXPECT_TRUE(binary.ok() ? device.takes_binaries() : binary.status().code() == StatusCode::kUnsupported)
      << binary.status().message();
  reason = binary.status().message();
  return binary.ok() ? *binary : std::vector<std::byte>{};
}

TEST(GlesBackend, ABinaryOfAnotherNumberOfKernelsIsRefused) {
  OPEN_OR_SKIP(device);
  const std::vector<std::byte> stored = StoredAdd(*device, reason);
  if (stored.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(device->Load(std::vector{AddKernel(), AddKernel()}, stored).status().code(), StatusCode::kMalformedInput);
}

TEST(GlesBackend, ABinaryOfAnotherWorkGroupSizeIsRefused) {
  OPEN_OR_SKIP(device);
  const std::vector<std::byte> stored = StoredAdd(*device, reason);
  if (stored.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(device->Load(std::vector{AddKernel(32)}, stored).status().code(), StatusCode::kMalformedInput);
}

TEST(GlesBackend, AnUnknownBinaryFormatIsRefused) {
  OPEN_OR_SKIP(device);
  const std::vector<std::byte> stored = StoredAdd(*device, reason);
  if (stored.empty()) GTEST_SKIP() << reason;
  auto binaries = gles::UnpackBinaries(stored).value();
  binaries[0].format = 0x12345678;
  const KernelSource source = AddKernel();
  EXPECT_EQ(device->Load({&source, 1}, gles::PackBinaries(binaries)).status().code(), StatusCode::kUnavailable);
}

// Above the backend a checksum keeps such bytes away; Mesa has one of its own, so that this is safe to try there.
TEST(GlesBackend, ADamagedDriverBinaryIsRefusedAndTheDeviceGoesOn) {
  OPEN_OR_SKIP(device);
  if (device->info().driver_version.find("Mesa") == std::string::npos) GTEST_SKIP() << "other drivers may crash";
  const std::vector<std::byte> stored = StoredAdd(*device, reason);
  if (stored.empty()) GTEST_SKIP() << reason;
  const KernelSource source = AddKernel();
  for (size_t at : {size_t{20}, stored.size() / 2, stored.size() - 1}) {
    std::vector<std::byte> damaged = stored;
    damaged[at] ^= std::byte{0x40};
    const Status refused = device->Load({&source, 1}, damaged).status();
    EXPECT_FALSE(refused.ok()) << "byte " << at << " of " << stored.size();
    EXPECT_FALSE(refused.message().ends_with(": ")) << "llvmpipe gives no reason, which the message must say";
  }
  const auto group = device->Load({&source, 1}, stored);
  ASSERT_TRUE(group.ok()) << group.status().message();
  EXPECT_TRUE(AddsOne(*device, *(*group)->programs()[0], 2.0f));
}

TEST(GlesBackend, ABinaryLoadsInAnotherDeviceOfTheSameDriver) {
  OPEN_OR_SKIP(device);
  const std::vector<std::byte> stored = StoredAdd(*device, reason);
  if (stored.empty()) GTEST_SKIP() << reason;
  const std::unique_ptr<Device> other = OpenFirst(reason);
  ASSERT_NE(other, nullptr) << reason;
  const KernelSource source = AddKernel();
  const auto group = other->Load({&source, 1}, stored);
  ASSERT_TRUE(group.ok()) << group.status().message();
  EXPECT_TRUE(AddsOne(*other, *(*group)->programs()[0], 3.0f));
}

// --- threads

TEST(GlesBackend, SeveralThreadsUseOneDeviceAtOnce) {
  OPEN_OR_SKIP(device);
  constexpr int kThreads = 4, kRounds = 8;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto group = CompileAdd(*device);
      for (int round = 0; group != nullptr && round < kRounds; ++round) {
        right += AddsOne(*device, *group->programs()[0], static_cast<float>(t * 100 + round));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRounds);
}

TEST(GlesWorker, CallsReturnTheirAnswersFromOneOtherThread) {
  const auto worker = gles::Worker::Start();
  ASSERT_TRUE(worker.ok());
  const auto where = [] { return std::this_thread::get_id(); };
  const std::thread::id first = (*worker)->Call(where);
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ((*worker)->Call(where), first);
  EXPECT_EQ(*(*worker)->Call([] { return std::make_unique<int>(7); }), 7);
}

TEST(GlesWorker, ACallFromItsOwnThreadRunsAtOnce) {
  const auto worker = gles::Worker::Start();
  ASSERT_TRUE(worker.ok());
  EXPECT_EQ((*worker)->Call([&] { return (*worker)->Call([] { return 3; }) + 1; }), 4);
}

TEST(GlesWorker, AnExceptionOfACallbackReachesTheCaller) {
  const auto worker = gles::Worker::Start();
  ASSERT_TRUE(worker.ok());
  EXPECT_THROW((*worker)->Call([] { throw std::runtime_error("from a callback"); }), std::runtime_error);
  EXPECT_EQ((*worker)->Call([] { return 1; }), 1);
}

}  // namespace
}  // namespace hearth
