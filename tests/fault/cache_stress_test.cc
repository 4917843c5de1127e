// Many at once and damaged at random: processes that start together and are killed, a hundred threads, thousands of
// damaged stores, users without permission. HEARTH_LONG_TESTS=1 runs the long numbers.

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <utility>

#include "backends/null/device.h"
#include "cache/desk/reports.h"
#include "core/emit/kernel_library.h"
#include "hal/programs/load_or_compile.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::SmallDisk;
using testing::StartProcess;
using testing::WaitFor;

bool IsLong() {
  const char* set = std::getenv("HEARTH_LONG_TESTS");
  return set != nullptr && *set == '1';
}

constexpr int kStressEntries = 12;
constexpr size_t kStressBlobBytes = 3000;

// What a start does: look everything up, make what is missing, store it. The number of entries made; -1: wrong bytes.
int StartOnce(const StoreOptions& options) {
  const auto store = testing::StoreCache::Open(options);
  if (!store.ok()) return kStressEntries;
  int made = 0;
  for (int number = 0; number < kStressEntries; ++number) {
    const CacheKey key = NumberedKey(number);
    auto found = (*store)->Get(key);
    if (!found) {
      const MakingTurn turn = (*store)->TakeTurn(key);
      if (turn.has_waited) found = (*store)->Get(key);
      if (!found) {
        ++made;
        ::usleep(500);
        PutOne(**store, key, NumberedBlob(number, kStressBlobBytes));
      }
    }
    if (!found) continue;
    (*store)->BeginUse(key);
    const bool is_right = *found == NumberedBlob(number, kStressBlobBytes);
    (*store)->EndUse(key);
    if (!is_right) return -1;
  }
  return made;
}

TEST(CacheStress, SixteenStartsAtOnceWithAThirdOfThemKilledLeaveASoundWarmStore) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const int rounds = IsLong() ? 50 : 6;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round << ", seed " << seed);
    const CacheFolder folder;
    std::vector<pid_t> children;
    for (int k = 0; k < 16; ++k) {
      children.push_back(StartProcess([&folder] { return StartOnce(folder.options()) < 0 ? 1 : 0; }));
    }
    for (size_t k = 0; k < children.size(); k += 3) {
      ::usleep(std::uniform_int_distribution<unsigned>(0, 15000)(random));
      ::kill(children[k], SIGKILL);
    }
    for (size_t k = 0; k < children.size(); ++k) {
      const int code = WaitFor(children[k]);
      EXPECT_TRUE(code == 0 || (k % 3 == 0 && code == 128 + SIGKILL)) << "process " << k << ": " << code;
    }
    StartOnce(folder.options());  // what a killed one was using is rebuilt
    EXPECT_EQ(StartOnce(folder.options()), 0) << "the warm start made something";
    const auto report = VerifyStore(folder.path(), false);
    ASSERT_TRUE(report.ok() && report->clean());
  }
}

TEST(CacheStress, OneProcessMakesAnEntryWhileOthersWait) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  SessionWaits waits(60000, 60000);
  options.waits = &waits;  // each process has its own copy
  std::vector<pid_t> children;
  for (int k = 0; k < 8; ++k) children.push_back(StartProcess([&options] { return StartOnce(options); }));
  int made = 0;
  for (pid_t child : children) made += WaitFor(child);
  EXPECT_EQ(made, kStressEntries) << "something was made twice";
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("making-")) << entry.path();
  }
}

// A process that has begun to make entry 1 and never ends by itself.
class PausedMaker {
 public:
  explicit PausedMaker(const StoreOptions& options) {
    std::array<int, 2> ends;
    EXPECT_EQ(::pipe(ends.data()), 0);
    process_ = StartProcess([&] {
      const auto own = testing::StoreCache::Open(options);
      const MakingTurn turn = (*own)->TakeTurn(NumberedKey(1));
      if (turn.claim == nullptr || ::write(ends[1], "x", 1) != 1) return 1;
      ::pause();
      return 2;
    });
    ::close(ends[1]);
    char byte;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1) << "it has no claim";
    ::close(ends[0]);
  }
  ~PausedMaker() { Kill(); }
  PausedMaker(const PausedMaker&) = delete;
  PausedMaker& operator=(const PausedMaker&) = delete;

  pid_t process() const { return process_; }
  void Kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    EXPECT_EQ(WaitFor(std::exchange(process_, 0)), 128 + SIGKILL);
  }

 private:
  pid_t process_ = 0;
};

TEST(CacheStress, AMakerThatDiesOrTakesLongHoldsNobodyUp) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  SessionWaits waits(250, 20);
  options.waits = &waits;
  PausedMaker maker(options);
  const auto store = CacheFolder::Open(options);
  MakingTurn turn = store->TakeTurn(NumberedKey(1));
  EXPECT_TRUE(turn.has_waited);
  EXPECT_EQ(turn.claim, nullptr) << "it must go on alone";
  turn = store->TakeTurn(NumberedKey(1));
  EXPECT_FALSE(turn.has_waited) << "the waits of a session are bounded together";
  maker.Kill();
  turn = store->TakeTurn(NumberedKey(1));
  EXPECT_NE(turn.claim, nullptr);
}

TEST(CacheStress, AMakerWhoseClaimIsTimedJustAheadOfTheClockIsWaitedFor) {
  const CacheFolder folder;
  const PausedMaker maker(folder.options());
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (!entry.path().filename().string().starts_with("making-")) continue;
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() + std::chrono::seconds(1));
  }
  StoreOptions options = folder.options();
  SessionWaits waits(250, 20);
  options.waits = &waits;
  EXPECT_TRUE(CacheFolder::Open(options)->TakeTurn(NumberedKey(1)).has_waited);
}

TEST(CacheStress, AMakerThatIsStoppedIsNotWaitedFor) {
  const CacheFolder folder;
  const PausedMaker maker(folder.options());
  ::kill(maker.process(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(maker.process(), &status, WUNTRACED), maker.process());
  EXPECT_FALSE(folder.Open()->TakeTurn(NumberedKey(1)).has_waited);
}

TEST(CacheStress, AMakerIsWaitedForNoLongerThanSuchAnEntryIsKnownToCost) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100), 15);
  const PausedMaker maker(folder.options());
  StoreOptions options = folder.options();
  SessionWaits waits;
  options.waits = &waits;
  const MakingTurn turn = CacheFolder::Open(options)->TakeTurn(NumberedKey(1));
  EXPECT_TRUE(turn.has_waited);
  EXPECT_GT(waits.makers.left_ms(), 1000) << "what making it costs is 15 ms";
}

TEST(CacheStress, AMakerOfAProgramIsWaitedForAsLongAsItsPortablePartCostsToo) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100), 0.001);
  PutOne(*folder.Open(), NumberedKey(2, BlobKind::kSource), NumberedBlob(3, 100), 10'000);
  const PausedMaker maker(folder.options());
  StoreOptions options = folder.options();
  SessionWaits waits(250, 40);
  options.waits = &waits;
  EXPECT_TRUE(CacheFolder::Open(options)->TakeTurn(NumberedKey(1)).has_waited);
  EXPECT_EQ(waits.makers.left_ms(), 0);
}

TEST(CacheStress, AProcessDoesNotWaitForItself) {
  const CacheFolder folder;
  const auto first = folder.Open(), second = folder.Open();
  const MakingTurn turn = first->TakeTurn(NumberedKey(1));
  EXPECT_NE(turn.claim, nullptr);
  const MakingTurn other = second->TakeTurn(NumberedKey(1));
  EXPECT_FALSE(other.has_waited);
  EXPECT_EQ(other.claim, nullptr);
}

TEST(CacheStress, ProcessesThatStartAtOnceCompileEachProgramOnce) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  SessionWaits waits(60000, 60000);
  options.waits = &waits;
  std::vector<pid_t> children;
  for (int k = 0; k < 4; ++k) {
    children.push_back(StartProcess([&options] {
      const auto store = testing::StoreCache::Open(options);
      NullDevice device(NullDeviceInfo());
      std::vector<KernelSource> sources = {*LoadKernel("softmax"), *LoadKernel("probe_read")};
      auto programs = LoadOrCompile(device, sources, store->get(), 1);
      if (!programs.ok()) return 100;
      ::usleep(2000);
      StoreFreshPrograms(*programs, **store);
      return static_cast<int>(device.counts().programs_compiled);
    }));
  }
  int compiled = 0;
  for (pid_t child : children) compiled += WaitFor(child);
  EXPECT_EQ(compiled, 2);
}

TEST(CacheStress, AHundredThreadsOnTwoStoresOfOneFileSeeRightBytes) {
  const CacheFolder folder;
  const auto first = folder.Open(), second = folder.Open();
  std::atomic<int> wrong{0}, missing{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 100; ++thread) {
    threads.emplace_back([&, thread] {
      testing::TestCache& store = thread % 2 == 0 ? *first : *second;
      for (int i = 0; i < 10; ++i) {
        const int number = (thread * 7 + i) % 40;
        const auto bytes = NumberedBlob(number, 2000);
        if (i % 3 == 0) PutOne(store, NumberedKey(number), bytes);
        store.BeginUse(NumberedKey(number));
        const auto found = store.Get(NumberedKey(number));
        wrong += found && *found != bytes;
        missing += !found && i % 3 == 0;
        store.EndUse(NumberedKey(number));
        if (thread == 50 && i == 5) store.Flush();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(missing, 0) << "what was just put was not there";
  EXPECT_EQ(first->counters().put_errors + second->counters().put_errors, 0u);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

// One kind of damage, as a disk, a copy that broke off or a stranger would do it.
void Damage(std::string& bytes, std::mt19937& random) {
  const auto below = [&random](size_t bound) { return bound == 0 ? 0 : random() % bound; };
  switch (random() % 6) {
    case 0:  // bits
      for (size_t flips = 1 + below(20); flips > 0; --flips)
        bytes[below(bytes.size())] ^= static_cast<char>(1u << random() % 8);
      break;
    case 1: bytes.resize(below(bytes.size())); break;  // cut
    case 2: {                                          // a page of zeros
      const size_t page = below(bytes.size() / 512) * 512;
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(page), 512, '\0');
      break;
    }
    case 3: {  // two pages changed places
      const size_t a = below(bytes.size() / 512) * 512, b = below(bytes.size() / 512) * 512;
      std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(a),
                       bytes.begin() + static_cast<ptrdiff_t>(a) + (a == b ? 0 : 512),
                       bytes.begin() + static_cast<ptrdiff_t>(b));
      break;
    }
    case 4:  // noise
      for (size_t k = below(bytes.size()), end = std::min(bytes.size(), k + below(3000)); k < end; ++k)
        bytes[k] = static_cast<char>(random());
      break;
    default: bytes.append(below(5000), static_cast<char>(random())); break;
  }
}

TEST(CacheStress, RandomlyDamagedStoresGiveRightBytesOrNone) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.page_size_bytes = 512;
  options.allow_write_ahead_log = false;
  ASSERT_EQ(StartOnce(options), kStressEntries);
  const std::string sound = testing::ReadFile(folder.file());
  int with_loss = 0;
  const int stores = IsLong() ? 2000 : 300;
  for (int k = 0; k < stores; ++k) {
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
    std::string bytes = sound;
    for (unsigned times = 1 + random() % 3; times > 0 && !bytes.empty(); --times) Damage(bytes, random);
    testing::WriteFile(folder.file(), bytes);
    const int made = StartOnce(options);
    ASSERT_GE(made, 0) << "wrong bytes from store " << k << ", seed " << seed;
    with_loss += made > 0;
    // Damage may first be silent (an index without a row), be met only after the next start's first hits, which the
    // fresh file then lacks, and so be gone at the fourth start; mostly it is at the second.
    int starts = 1;
    for (int missing = made; missing != 0; ++starts) {
      ASSERT_LE(starts, 4) << "store " << k << " did not heal, seed " << seed;
      missing = StartOnce(options);
      ASSERT_GE(missing, 0) << k << ", seed " << seed;
    }
  }
  EXPECT_GT(with_loss, stores / 10);
}

// Everything of the folder belongs to nobody; the store is used by nobody as a process. 77: not possible here.
int AsNobody(const fs::path& folder, const std::function<int()>& body) {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0) {
    if (::chown(folder.c_str(), kNobody, kNobody) != 0) return 77;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (::lchown(entry.path().c_str(), kNobody, kNobody) != 0) return 77;
    }
  }
  return WaitFor(StartProcess([&] {
    if (::geteuid() == 0 && !testing::BecomeUser(kNobody)) return 77;
    return body();
  }));
}

TEST(CachePermissions, NoCombinationOfModesEndsInWrongBytesOrACrash) {
  for (const mode_t folder_mode : {0700u, 0500u, 0300u, 0100u, 0000u, 0770u, 0707u}) {
    for (const mode_t file_mode : {0600u, 0400u, 0200u, 0000u, 0660u, 0606u}) {
      const CacheFolder folder;
      ASSERT_EQ(StartOnce(folder.options()), kStressEntries);
      ASSERT_EQ(::chmod(folder.file().c_str(), file_mode), 0);
      ASSERT_EQ(::chmod(folder.path().c_str(), folder_mode), 0);
      const int code = AsNobody(folder.path(), [&folder] {
        const auto store = testing::StoreCache::Open(folder.options());
        if (!store.ok() && store.status().message().empty()) return 2;
        return StartOnce(folder.options()) < 0 ? 1 : 0;
      });
      if (code == 77) GTEST_SKIP() << "root here can't become another user";
      EXPECT_EQ(code, 0) << std::oct << folder_mode << " " << file_mode;
      ::chmod(folder.path().c_str(), 0700);
    }
  }
}

// A real disk without space, as small as the store.
TEST(CacheStress, AFullFileSystemIsAPutErrorAndTheStoreStaysSound) {
  const SmallDisk disk("800k");
  SKIP_WITHOUT_MOUNTING(disk);
  {
    const auto store = CacheFolder::Open(disk.options());
    if (store != nullptr) {
      for (int number = 0; number < 20; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 40000));
      EXPECT_GT(store->counters().put_errors, 0u);
      EXPECT_LT(store->counters().put_errors, 20u);
      const auto warnings = store->TakeWarnings();
      EXPECT_EQ(warnings.size(), 1u);
      EXPECT_NE(warnings[0].find("full"), std::string::npos) << warnings[0];
      EXPECT_EQ(store->Get(NumberedKey(0)), NumberedBlob(0, 40000));
    }
  }
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
}

}  // namespace
}  // namespace hearth
