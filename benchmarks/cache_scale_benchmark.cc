// Times of opening, look-ups and puts in a store with very many entries, as percentiles.
//   cache_scale_benchmark [ENTRIES [BLOB_BYTES [FOLDER]]]     default: 100000 entries of 1024 bytes, temporary folder
// Each put is a transaction of its own. Further steps: it puts into a full store, so that each put evicts; prunes the
// store to half while another process stores, compared with a sequential read of the file from the disk; clears it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cache/desk/reports.h"
#include "cache/store/sqlite_store.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

constexpr uint64_t kLookUps = 20000, kPuts = 2000, kOpens = 50;
constexpr uint64_t kPutBytes = 100 * 1024;  // 100,000 such entries are 10 GB

CacheKey KeyOf(uint64_t number) {
  CacheKey key(BlobKind::kProgram);
  key.Add("backend", "vulkan").Add("device", "A device with a name of usual length").Add("vendor", "Some Vendor Inc.");
  key.Add("driver", "some driver 22.3.6, API 1.3.230")
      .Add("uuid", "00112233445566778899aabbccddeeff")
      .Add("emitter", 1);
  key.Add("kernel", "conv_tile").Add("text", static_cast<int64_t>(number));
  return key;
}

// This thread's processor time, for measurements on a machine that others use too.
double CpuMs() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// The time that `part` of the times do not exceed.
double Percentile(std::vector<double>& times_ms, double part) {
  std::sort(times_ms.begin(), times_ms.end());
  return times_ms[static_cast<size_t>(part * static_cast<double>(times_ms.size() - 1))];
}

template <typename Body>
void Measure(const char* what, uint64_t times, const Body& body) {
  std::vector<double> times_ms, cpu_times_ms;
  for (uint64_t k = 0; k < times; ++k) {
    const double cpu_start_ms = CpuMs();
    const Stopwatch watch;
    body(k);
    times_ms.push_back(watch.milliseconds());
    cpu_times_ms.push_back(CpuMs() - cpu_start_ms);
  }
  fmt::print("{:<28} {:>7} times   median {:8.4f} ms   p99 {:8.4f} ms   max {:8.3f} ms   p99 computing {:8.4f} ms\n",
             what, times, Percentile(times_ms, 0.5), Percentile(times_ms, 0.99), Percentile(times_ms, 1),
             Percentile(cpu_times_ms, 0.99));
}

std::unique_ptr<SqliteStore> Open(const StoreOptions& options) {
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options);
  if (store.ok()) return std::move(store).value();
  fmt::print(stderr, "{}\n", store.status().message());
  std::exit(1);
}

void Put(SqliteStore& store, std::span<const CacheKey> keys, std::span<const std::byte> bytes) {
  std::vector<NewEntry> entries;
  for (const CacheKey& key : keys) entries.push_back({&key, bytes, 1, {}, key.digest(), FingerprintOf(bytes)});
  std::vector<PutResult> results(entries.size());
  store.Put(entries, results, 0);
}

void Fill(SqliteStore& store, uint64_t entries, uint64_t blob_bytes) {
  constexpr uint64_t kBatch = 1000;
  const std::vector<std::byte> bytes(blob_bytes, std::byte{7});
  for (uint64_t first = 0; first < entries; first += kBatch) {
    std::vector<CacheKey> keys;
    for (uint64_t k = first; k < std::min(entries, first + kBatch); ++k) keys.push_back(KeyOf(k));
    Put(store, keys, bytes);
  }
}

void PutOne(SqliteStore& store, uint64_t number) {
  static const std::vector<std::byte> bytes(kPutBytes, std::byte{3});
  const CacheKey key = KeyOf(number);
  Put(store, {&key, 1}, bytes);
}

bool Get(
    SqliteStore& store, const CacheKey& key, const std::function<void()>& on_found = [] {}) {
  std::vector<std::byte> room;
  FoundEntry found;
  const auto destination = [&](uint64_t size_bytes) {
    on_found();
    room.resize(size_bytes);
    return std::span<std::byte>(room);
  };
  return store.Get(key, destination, found) == EntrySource::Answer::kHit;
}

// Times a look-up until it asks for the blob's destination: a whole hit without copying the blob.
void MeasureLookUps(SqliteStore& store, uint64_t entries, std::mt19937_64& random) {
  std::vector<double> times_ms;
  for (uint64_t k = 0; k < kLookUps; ++k) {
    const CacheKey key = KeyOf(random() % entries);
    const Stopwatch watch;
    Get(store, key, [&] { times_ms.push_back(watch.milliseconds()); });
  }
  fmt::print("{:<28} {:>7} times   median {:8.4f} ms   p99 {:8.4f} ms   max {:8.3f} ms\n", "look-up without the blob",
             times_ms.size(), Percentile(times_ms, 0.5), Percentile(times_ms, 0.99), Percentile(times_ms, 1));
}

// Drops the file from the page cache and reads it from the disk, which also fills the page cache.
double SequentialReadMs(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  ::fdatasync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<std::byte> bytes(1 << 20);
  const Stopwatch watch;
  while (::read(descriptor, bytes.data(), bytes.size()) > 0) {
  }
  const double milliseconds = watch.milliseconds();
  ::close(descriptor);
  return milliseconds;
}

// A process that repeatedly opens the store and puts an entry, until it is told to end. After closing the store it
// writes the entry's number to a pipe.
class StoringBeside {
 public:
  StoringBeside(const StoreOptions& options, uint64_t first) : first_(first) {
    if (::pipe(ends_) != 0) std::exit(1);
    child_ = ::fork();
    if (child_ == 0) Work(options);
    ::close(ends_[1]);
  }
  // The numbers of the stored entries.
  std::vector<uint64_t> End() {
    ::kill(child_, SIGTERM);
    std::vector<uint64_t> stored;
    uint64_t number = 0;
    while (::read(ends_[0], &number, sizeof(number)) == sizeof(number)) stored.push_back(number);
    ::waitpid(child_, nullptr, 0);
    ::close(ends_[0]);
    return stored;
  }

 private:
  [[noreturn]] void Work(const StoreOptions& options) const {
    static std::atomic<bool> is_over;
    std::signal(SIGTERM, [](int) { is_over = true; });
    double longest_ms = 0;
    for (uint64_t number = first_; !is_over; ++number) {
      const Stopwatch watch;
      {
        auto store = Open(options);
        PutOne(*store, number);
      }
      longest_ms = std::max(longest_ms, watch.milliseconds());
      if (::write(ends_[1], &number, sizeof(number)) != sizeof(number)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    fmt::print("{:<28} longest open, put and close {:.0f} ms\n", "sessions beside it", longest_ms);
    std::fflush(stdout);
    ::_exit(0);
  }
  uint64_t first_;
  pid_t child_ = 0;
  int ends_[2] = {};
};

// The file's largest size while it was watched.
class LargestSize {
 public:
  explicit LargestSize(std::filesystem::path file)
      : thread_([this, file = std::move(file)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::error_code error;
            const uint64_t bytes = std::filesystem::file_size(file, error);
            if (!error) bytes_ = std::max(bytes_, bytes);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  uint64_t End() {
    thread_.request_stop();
    thread_.join();
    return bytes_;
  }

 private:
  uint64_t bytes_ = 0;
  std::jthread thread_;
};

void MeasurePruneAndClear(StoreOptions options, uint64_t first_new) {
  options.max_bytes = uint64_t{16} << 30;
  const std::filesystem::path file = options.folder / kStoreFileName;
  const uint64_t bytes = std::filesystem::file_size(file);
  const double read_ms = SequentialReadMs(file);
  StoringBeside beside(options, first_new);
  LargestSize log(file.string() + "-wal");
  const Stopwatch pruning;
  const Result<RemovedEntries> pruned = PruneStore(options.folder, bytes / 2);
  const double prune_ms = pruning.milliseconds();
  const uint64_t log_bytes = log.End();
  const std::vector<uint64_t> stored = beside.End();
  uint64_t lost = 0;
  PutOne(*Open(options), 0);  // finishes work that other processes left
  {
    const auto store = Open(options);
    for (uint64_t number : stored) lost += Get(*store, KeyOf(number)) ? 0 : 1;
  }
  constexpr double kMiB = 1 << 20;
  fmt::print(
      "prune to half: {:.1f} s ({} entries{}); a sequential read of the file takes {:.1f} s; {:.0f} MiB before, {:.0f} "
      "after; log at most {:.1f} MiB; {} entries stored beside it, {} of them lost\n",
      prune_ms / 1000, pruned.ok() ? pruned->entries : 0, pruned.ok() ? "" : ": " + pruned.status().message(),
      read_ms / 1000, static_cast<double>(bytes) / kMiB, static_cast<double>(std::filesystem::file_size(file)) / kMiB,
      static_cast<double>(log_bytes) / kMiB, stored.size(), lost);
  const Stopwatch clearing;
  const bool is_cleared = ClearStore(options.folder).ok();
  fmt::print("clear: {:.3f} s{}\n", clearing.milliseconds() / 1000, is_cleared ? "" : ", which failed");
}

void Run(StoreOptions options, uint64_t entries, uint64_t blob_bytes) {
  options.max_bytes = uint64_t{16} << 30;
  const Stopwatch filling;
  Fill(*Open(options), entries, blob_bytes);
  fmt::print("{} entries of {} bytes put in {:.1f} s\n", entries, blob_bytes, filling.milliseconds() / 1000);
  Measure("open and close", kOpens, [&](uint64_t) { Open(options); });
  std::mt19937_64 random(1);
  {
    const auto store = Open(options);
    Measure("look-up, hit", kLookUps, [&](uint64_t) { Get(*store, KeyOf(random() % entries)); });
    MeasureLookUps(*store, entries, random);
    Measure("look-up, miss", kLookUps, [&](uint64_t k) { Get(*store, KeyOf(entries + k)); });
    Measure("put 100 KiB", kPuts, [&](uint64_t k) { PutOne(*store, entries + k); });
  }
  // The current size: each further put evicts about a hundred entries.
  options.max_bytes = std::filesystem::file_size(options.folder / kStoreFileName);
  {
    const auto store = Open(options);
    Measure("put 100 KiB into a full one", kPuts / 4, [&](uint64_t k) { PutOne(*store, entries + kPuts + k); });
    for (const std::string& warning : store->TakeWarnings()) fmt::print("warning: {}\n", warning);
  }
  MeasurePruneAndClear(options, entries + 2 * kPuts);
}

uint64_t NumberOr(int argc, char** argv, int index, uint64_t otherwise) {
  uint64_t number = otherwise;
  const std::string text = index < argc ? argv[index] : "";
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<uint64_t>(number, 1);
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::string pattern = (argc > 3 ? fs::path(argv[3]) : fs::temp_directory_path()) / "hearth-scale-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  hearth::StoreOptions options;
  options.folder = pattern;
  hearth::Run(options, hearth::NumberOr(argc, argv, 1, 100000), hearth::NumberOr(argc, argv, 2, 1024));
  std::error_code ignored;
  fs::remove_all(pattern, ignored);
  return 0;
}
