// How a store with very many entries behaves: times of opening, looking up and putting, as percentiles.
//   cache_scale_benchmark [ENTRIES [BLOB_BYTES [FOLDER]]]     default 100000 entries of 1024 bytes in a temporary
//   folder
// Each put is a transaction of its own. The last part puts into a store that is full, so that each put evicts.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "cache/sqlite_store.h"
#include "hal/stopwatch.h"

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

// The time that this thread was computing: what is left of a time on a machine that others use as well.
double CpuMs() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// `part` of the times are not longer.
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

void Fill(BlobStore& store, uint64_t entries, uint64_t blob_bytes) {
  constexpr uint64_t kBatch = 1000;
  std::vector<std::byte> bytes(blob_bytes, std::byte{7});
  for (uint64_t first = 0; first < entries; first += kBatch) {
    std::vector<CacheKey> keys;
    for (uint64_t k = first; k < std::min(entries, first + kBatch); ++k) keys.push_back(KeyOf(k));
    std::vector<PutRequest> requests;
    requests.reserve(keys.size());
    for (const CacheKey& key : keys) requests.push_back({&key, bytes, 1});
    store.Put(requests);
  }
}

void PutOne(BlobStore& store, uint64_t number) {
  static const std::vector<std::byte> bytes(kPutBytes, std::byte{3});
  const CacheKey key = KeyOf(number);
  const PutRequest request{&key, bytes, 1};
  store.Put({&request, 1});
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
    Measure("look-up, hit", kLookUps, [&](uint64_t) { store->Get(KeyOf(random() % entries)); });
    Measure("look-up, miss", kLookUps, [&](uint64_t k) { store->Get(KeyOf(entries + k)); });
    Measure("put 100 KiB", kPuts, [&](uint64_t k) { PutOne(*store, entries + k); });
  }
  // As large as it is: from here on each put evicts about a hundred entries.
  options.max_bytes = std::filesystem::file_size(options.folder / kStoreFileName);
  const auto store = Open(options);
  Measure("put 100 KiB into a full one", kPuts / 4, [&](uint64_t k) { PutOne(*store, entries + kPuts + k); });
  for (const std::string& warning : store->TakeWarnings()) fmt::print("warning: {}\n", warning);
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
