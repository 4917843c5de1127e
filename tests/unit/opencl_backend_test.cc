// The OpenCL backend on the first usable device that the machine has; skipped with the reason where it has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "backends/opencl/backend.h"
#include "backends/opencl/driver_api.h"
#include "backends/opencl/pocl.h"
#include "backends/opencl/program.h"
#include "backends/opencl/submissions.h"
#include "conformance/device_cases.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/large_pages.h"
#include "core/device/driver_names.h"
#include "core/emit/kernel_library.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

Result<std::unique_ptr<Device>> OpenFirstUsable() {
  std::string reasons;
  for (const DeviceCandidate& candidate : EnumerateOpenCl()) {
    if (candidate.usable) return OpenOpenCl(candidate);
    reasons += candidate.name + ": " + candidate.unusable_reason + "; ";
  }
  return Error(StatusCode::kUnavailable, "no usable OpenCL device ({})", reasons);
}

// As PoCL does where memory runs out: its compiler throws through its C functions, and the program stays locked.
TEST(OpenClProgram, ThatTheDriverThrewWhileBuildingIsNotReleased) {
  OpenClApi api;
  api.clCreateProgramWithSource = [](cl_context context, cl_uint, const char**, const size_t*, cl_int*) {
    return reinterpret_cast<cl_program>(context);
  };
  api.clBuildProgram = [](cl_program, cl_uint, const cl_device_id*, const char*, void (*)(cl_program, void*),
                          void*) -> cl_int { throw std::bad_alloc(); };
  api.clReleaseProgram = [](cl_program) -> cl_int {
    ADD_FAILURE() << "waits for the program's lock";
    return CL_SUCCESS;
  };
  int context = 0;
  const OpenClDriver driver{.api = api, .context = reinterpret_cast<cl_context>(&context)};
  const std::vector<KernelSource> sources = {*LoadKernel("softmax")};
  const Status status = OpenClProgramGroup::Compile(driver, sources).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("memory ran out in the driver while it built"));
}

class OpenClTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = new Result<std::unique_ptr<Device>>(OpenFirstUsable()); }
  static void TearDownTestSuite() {
    delete device_;
    device_ = nullptr;
  }
  void SetUp() override {
    if (device_->ok()) return;
    if (device_->status().code() != StatusCode::kUnavailable) FAIL() << device_->status().message();
    GTEST_SKIP() << device_->status().message();
  }
  static Device& device() { return ***device_; }

 private:
  static Result<std::unique_ptr<Device>>* device_;
};
Result<std::unique_ptr<Device>>* OpenClTest::device_ = nullptr;

class OpenClCases : public OpenClTest, public ::testing::WithParamInterface<conformance::DeviceCase> {};
TEST_P(OpenClCases, Holds) {
  const Status status = GetParam().run(device());
  if (status.code() == StatusCode::kUnsupported) GTEST_SKIP() << status.message();
  EXPECT_TRUE(status.ok()) << status.message();
}
INSTANTIATE_TEST_SUITE_P(OpenClBackend, OpenClCases, ::testing::ValuesIn(conformance::DeviceCases()),
                         [](const auto& info) { return std::string(info.param.name); });

KernelSource AddOneKernel() {
  KernelSource source;
  source.name = "add_one";
  source.tensors = {{.name = "x"}, {.name = "y", .direction = ArgDirection::kWrite}};
  source.local_size = {4, 1, 1};
  source.body = "y_store(GID(0), x_load(GID(0)) + splat4(1.0f));\n";
  return source;
}

class OpenClBackend : public OpenClTest {
 protected:
  // Writes `value` to 16 texels, runs `program` over them and reads the first number of its output.
  static float Run(Program& program, float value) {
    auto x = std::move(device().CreateBuffer(256)).value();
    auto y = std::move(device().CreateBuffer(256)).value();
    const auto fill = [&](std::span<std::byte> bytes) {
      for (size_t at = 0; at < bytes.size(); at += sizeof value) std::memcpy(bytes.data() + at, &value, sizeof value);
      return Status::Ok();
    };
    EXPECT_TRUE(device().Write(*x, 0, 256, fill).ok());
    const auto executable =
        device().Prepare({{DispatchCommand{&program, {{x.get(), 0, 256}, {y.get(), 0, 256}}, {}, {4, 1, 1}, ""}}});
    EXPECT_TRUE(executable.ok() && (*executable)->Run().ok());
    float seen = 0;
    const auto view = [&](std::span<const std::byte> bytes) {
      std::memcpy(&seen, bytes.data(), sizeof seen);
      return Status::Ok();
    };
    EXPECT_TRUE(device().Read(*y, 0, 256, view).ok());
    return seen;
  }

  static std::vector<std::byte> BinaryOf(const KernelSource& source) {
    const auto group = std::move(device().Compile({&source, 1})).value();
    EXPECT_EQ(Run(*group->programs()[0], 1.0f), 2.0f);
    return std::move(group->Binary()).value();
  }
};

TEST_F(OpenClBackend, TheDeviceSaysWhatCoreNeedsToDecide) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.backend, "opencl");
  EXPECT_EQ(info.dialect, Dialect::kOpenCl);
  EXPECT_FALSE(info.name.empty());
  EXPECT_THAT(info.driver_version, HasSubstr("OpenCL"));
  EXPECT_GE(info.buffer_offset_alignment, 128u);
  EXPECT_GE(info.max_local_invocations, 1u);
  EXPECT_GE(info.local_memory_bytes, 16384u);
  EXPECT_GE(info.max_buffer_bytes, 1u << 20);
  EXPECT_GE(info.max_scalar_bytes, 128u);
  EXPECT_GE(info.native_vector_floats, 1u);
  EXPECT_TRUE(info.fp16_storage);
  EXPECT_EQ(info.compile_grouping == CompileGrouping::kTogether, info.type == DeviceType::kCpu);
}

TEST_F(OpenClBackend, ACandidateThatIsGoneIsUnavailable) {
  DeviceCandidate candidate;
  candidate.backend = "opencl";
  candidate.usable = true;
  for (int index : {-1, 1000}) {
    candidate.driver_index = index;
    EXPECT_EQ(OpenOpenCl(candidate).status().code(), StatusCode::kUnavailable);
  }
}

TEST_F(OpenClBackend, EqualSourcesMayStandInOneGroup) {
  KernelSource texel = AddOneKernel();
  texel.tensors[0].storage = StorageType::kFloat16;  // same name, another kernel
  const std::vector<KernelSource> sources = {AddOneKernel(), AddOneKernel(), texel};
  const auto group = device().Compile(sources);
  ASSERT_TRUE(group.ok()) << group.status().message();
  ASSERT_EQ((*group)->programs().size(), 3u);
  EXPECT_EQ(Run(*(*group)->programs()[0], 4.0f), 5.0f);
  EXPECT_EQ(Run(*(*group)->programs()[1], 5.0f), 6.0f);
}

TEST_F(OpenClBackend, ACompileErrorCarriesTheDriversLog) {
  KernelSource source = AddOneKernel();
  source.body = "y_store(GID(0), no_such_function(x_load(GID(0))));\n";
  const Status status = device().Compile({&source, 1}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("no_such_function"));
}

TEST_F(OpenClBackend, ADamagedContainerIsMalformed) {
  const KernelSource source = AddOneKernel();
  const std::vector<std::byte> good = BinaryOf(source);
  const auto code = [&](const std::vector<std::byte>& binary) {
    return device().Load({&source, 1}, binary).status().code();
  };
  std::vector<std::byte> bad = good;
  bad[0] ^= std::byte{1};
  EXPECT_EQ(code(bad), StatusCode::kMalformedInput) << "magic";
  bad = good;
  bad[7] ^= std::byte{0x80};
  EXPECT_EQ(code(bad), StatusCode::kMalformedInput) << "length of the names";
  bad = good;
  bad.pop_back();
  EXPECT_EQ(code(bad), StatusCode::kMalformedInput) << "truncated by one byte";
  bad = good;
  bad.push_back(std::byte{0});
  EXPECT_EQ(code(bad), StatusCode::kMalformedInput) << "one byte too many";
  bad.resize(5);
  EXPECT_EQ(code(bad), StatusCode::kMalformedInput) << "5 bytes";
  EXPECT_EQ(code(good), StatusCode::kOk);
}

TEST_F(OpenClBackend, TheBinaryOfOtherKernelsIsRefused) {
  const std::vector<std::byte> binary = BinaryOf(AddOneKernel());
  KernelSource other = AddOneKernel();
  other.local_size = {8, 1, 1};
  EXPECT_EQ(device().Load({&other, 1}, binary).status().code(), StatusCode::kMalformedInput);
}

TEST_F(OpenClBackend, ABinaryOfMoreKernelsGivesThoseThatAreAskedFor) {
  KernelSource other = AddOneKernel();
  other.local_size = {8, 1, 1};
  const std::vector<KernelSource> both = {other, AddOneKernel()};
  const auto group = device().Compile(both);
  ASSERT_TRUE(group.ok()) << group.status().message();
  EXPECT_EQ(Run(*(*group)->programs()[1], 4.0f), 5.0f);
  const auto binary = (*group)->Binary();
  ASSERT_TRUE(binary.ok()) << binary.status().message();
  const auto loaded = device().Load({&both[1], 1}, *binary);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ((*loaded)->programs().size(), 1u);
  EXPECT_EQ(Run(*(*loaded)->programs()[0], 6.0f), 7.0f);
}

// PoCL 3.1 ends the process where its code is read while the same kernel runs, in whichever queue.
TEST_F(OpenClBackend, NoBinaryOfPoclIsReadWhileKernelsRunInAnotherQueue) {
  if (!IsPocl(DriverWords(device().info()))) GTEST_SKIP() << device().info().name << " is not PoCL's";
  const KernelSource source = AddOneKernel();
  const auto group = std::move(device().Compile({&source, 1})).value();
  EXPECT_EQ(Run(*group->programs()[0], 1.0f), 2.0f);
  OpenClApi api;
  api.clReleaseEvent = [](cl_event) -> cl_int { return CL_SUCCESS; };
  api.clGetEventInfo = [](cl_event, cl_event_info, size_t, void* status, size_t*) -> cl_int {
    *static_cast<cl_int*>(status) = CL_RUNNING;
    return CL_SUCCESS;
  };
  int event = 0;
  auto other_queue = std::make_unique<OpenClSubmissions>(api);
  other_queue->Add(EventHandle(api, reinterpret_cast<cl_event>(&event)));
  EXPECT_FALSE(device().is_quiet());
  EXPECT_THAT(group->Binary().status().message(), HasSubstr("can't be read while kernels run"));
  other_queue.reset();
  EXPECT_TRUE(group->Binary().ok());
  for (const auto begin = std::chrono::steady_clock::now(); !device().is_quiet();)
    ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(OpenClBackend, AnExecutableMayOutliveItsBuffers) {
  const KernelSource source = AddOneKernel();
  const auto group = std::move(device().Compile({&source, 1})).value();
  for (const uint64_t size_bytes : {uint64_t{4096}, 2 * kLargePageBytes + 4096}) {
    auto x = std::move(device().CreateBuffer(size_bytes)).value();
    auto y = std::move(device().CreateBuffer(256)).value();
    const uint64_t offset = device().info().buffer_offset_alignment;
    auto executable = device().Prepare({{DispatchCommand{
        group->programs()[0].get(), {{x.get(), offset, 256}, {y.get(), 0, 256}}, {}, {4, 1, 1}, "add"}}});
    ASSERT_TRUE(executable.ok()) << executable.status().message();
    ASSERT_TRUE((*executable)->Run().ok());
    x.reset();
    y.reset();
    EXPECT_TRUE((*executable)->Run().ok()) << "PoCL aborts here when only the kernel's arguments name the buffers";
  }
}

TEST_F(OpenClBackend, ATexelReadIsRefusedByTheArgumentsNameWhereThereAreNone) {
  if (device().info().max_texel_elements != 0) GTEST_SKIP() << device().info().name << " has texel reads";
  KernelSource source = AddOneKernel();
  source.tensors[0].path = AccessPath::kTexelBuffer;
  const auto group = device().Compile({&source, 1});
  if (!group.ok()) return;  // a device without images: refused when it is built
  const auto buffer = std::move(device().CreateBuffer(4096)).value();
  const Status status = device()
                            .Prepare({{DispatchCommand{(*group)->programs()[0].get(),
                                                       {{buffer.get(), 0, 256}, {buffer.get(), 2048, 256}},
                                                       {},
                                                       {1, 1, 1},
                                                       "add"}}})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("'x'"));
}

TEST(OpenClErrors, HaveTheirNamesAndTellExhaustionFromFailure) {
  EXPECT_EQ(OpenClErrorName(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS");
  EXPECT_EQ(OpenClErrorName(-9999), "OpenCL error -9999");
  const Status exhausted = OpenClError(CL_MEM_OBJECT_ALLOCATION_FAILURE, StatusCode::kDeviceLost, "buffer of 8 bytes");
  EXPECT_EQ(exhausted.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(exhausted.message(), "buffer of 8 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE");
  EXPECT_EQ(OpenClError(CL_INVALID_VALUE, StatusCode::kDeviceLost, "").code(), StatusCode::kDeviceLost);
}

// The loader reads its environment once per process, so a fresh one is needed: a death test's child.
TEST(OpenClDeathTest, HiddenDriversGiveOneUnusableCandidateWithAReason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto enumerate_hidden = [] {
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    const std::vector<DeviceCandidate> candidates = EnumerateOpenCl();
    const bool right = candidates.size() == 1 && !candidates[0].usable && !OpenOpenCl(candidates[0]).ok();
    std::fprintf(stderr, "reason: %s", candidates[0].unusable_reason.c_str());
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(enumerate_hidden(), ::testing::ExitedWithCode(0), "reason: .*(finds no driver|no OpenCL loader)");
}

// While it lives, PoCL is asked to store programs in the folder; null: where it wants to.
class PoclFolderForNow {
 public:
  explicit PoclFolderForNow(const char* folder) : before_(VariableIfSet("POCL_CACHE_DIR")) {
    folder == nullptr ? unsetenv("POCL_CACHE_DIR") : setenv("POCL_CACHE_DIR", folder, 1);
  }
  ~PoclFolderForNow() { before_ ? setenv("POCL_CACHE_DIR", before_->c_str(), 1) : unsetenv("POCL_CACHE_DIR"); }
  PoclFolderForNow(const PoclFolderForNow&) = delete;
  PoclFolderForNow& operator=(const PoclFolderForNow&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(Pocl, AFolderThatCannotBeWrittenIsNamedInTheMessageOfABuildThatFailed) {
  const auto hint_for = [](const std::string& folder) {
    const PoclFolderForNow now(folder.c_str());
    return HintOfPoclFolder();
  };
  EXPECT_THAT(hint_for("/dev/null/pocl"), HasSubstr("PoCL stores programs in /dev/null/pocl, which can't be written"));
  EXPECT_EQ(hint_for(::testing::TempDir()), "");
  EXPECT_EQ(hint_for(::testing::TempDir() + "not/made/yet"), "");
}

TEST(Pocl, WhereItWouldEndTheProcessIsAnErrorBefore) {
  const testing::SmallDisk roomy("64m"), full("64k");
  SKIP_WITHOUT_MOUNTING(roomy);
  const auto checked = [](const std::filesystem::path& folder) {
    const PoclFolderForNow now((folder / "pocl").c_str());
    return CheckPoclSurvives();
  };
  EXPECT_TRUE(checked(roomy.folder()).ok());
  EXPECT_THAT(checked(full.folder()).message(), HasSubstr("MB left, and ends the process then; set POCL_CACHE_DIR"));
  ASSERT_EQ(::mount("none", roomy.folder().c_str(), nullptr, MS_REMOUNT | MS_NOEXEC, nullptr), 0);
  EXPECT_THAT(checked(roomy.folder()).message(), HasSubstr("lies on a mount without exec"));

  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Status ignored = CheckPoclSurvives();
  std::signal(SIGCHLD, before);
  EXPECT_THAT(ignored.message(), HasSubstr("SIGCHLD is ignored"));
}

TEST(Pocl, GetsAPrivateFolderWhereItsOwnWouldNotDoUnlessTheProgramHasSetOne) {
  const testing::SmallDisk full("64k"), runtime("64m");
  SKIP_WITHOUT_MOUNTING(full);
  const std::optional<std::string> cache = VariableIfSet("XDG_CACHE_HOME"), own = VariableIfSet("XDG_RUNTIME_DIR");
  setenv("XDG_CACHE_HOME", full.folder().c_str(), 1);
  setenv("XDG_RUNTIME_DIR", runtime.folder().c_str(), 1);
  std::string chosen, kept;
  {
    const PoclFolderForNow now(nullptr);
    ChoosePoclFolder();
    chosen = EnvironmentVariable("POCL_CACHE_DIR");
  }
  {
    const PoclFolderForNow now(full.folder().c_str());
    ChoosePoclFolder();
    kept = EnvironmentVariable("POCL_CACHE_DIR");
  }
  cache ? setenv("XDG_CACHE_HOME", cache->c_str(), 1) : unsetenv("XDG_CACHE_HOME");
  own ? setenv("XDG_RUNTIME_DIR", own->c_str(), 1) : unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(std::filesystem::path(chosen).parent_path(), runtime.folder());
  EXPECT_EQ(std::filesystem::status(chosen).permissions(), std::filesystem::perms::owner_all);
  EXPECT_EQ(kept, full.folder().string());
}

// PoCL 3.1 aborts the process there (a bare chroot), so no driver may be asked.
TEST(OpenClWithoutSysfs, GivesOneUnusableCandidateWithAReason) {
  constexpr int kNotAllowed = 77;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool hidden = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        mount("none", "/sys", "tmpfs", 0, nullptr) == 0;
    if (!hidden) _exit(kNotAllowed);
    const std::vector<DeviceCandidate> candidates = EnumerateOpenCl();
    const bool as_expected = candidates.size() == 1 && !candidates[0].usable &&
                             candidates[0].unusable_reason.find("/sys") != std::string::npos;
    _exit(as_expected ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "hiding /sys needs the right to mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hearth
