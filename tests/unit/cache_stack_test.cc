// What a cache is put together from: read-only layers, a store of the caller's, an observer, a token.
#include <fcntl.h>
#include <sys/resource.h>

#include <map>

#include "cache/desk/reports.h"
#include "cache/sources/key_value_source.h"
#include "cache/trust/envelope.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/opened_cache.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::InMemory;
using testing::MemoryEntry;
using testing::MemorySource;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::OpenedTestCache;
using testing::PutOne;
using testing::TestCache;

MemoryEntry EntryOf(const CacheKey& key, int number, double cost_ms) {
  return {std::string(BlobKindName(key.kind())), key.material(), NumberedBlob(number, 100), cost_ms};
}

// A layer that holds blob 1, over a store that holds blob 2.
struct Stack {
  explicit Stack(BlobKind kind = BlobKind::kProgram) {
    auto first = std::make_unique<MemorySource>(), second = std::make_unique<MemorySource>();
    layer = first.get();
    own = second.get();
    const CacheKey one = NumberedKey(1, kind), two = NumberedKey(2, kind);
    layer->entries[one.digest()] = EntryOf(one, 1, 5);
    own->entries[two.digest()] = EntryOf(two, 2, 7);
    CacheParts parts;
    parts.layers.push_back(std::move(first));
    parts.own = std::move(second);
    store = std::make_unique<TestCache>(std::move(parts));
  }
  MemorySource* layer;
  MemorySource* own;
  std::unique_ptr<TestCache> store;
};

TEST(CacheLayers, AreAskedFirstAndOneLookUpIsOneCount) {
  Stack stack;
  stack.own->entries[NumberedKey(1).digest()] = EntryOf(NumberedKey(1), 9, 0);
  EXPECT_EQ(stack.store->Get(NumberedKey(1)), NumberedBlob(1, 100));
  EXPECT_EQ(stack.store->Get(NumberedKey(2)), NumberedBlob(2, 100));
  EXPECT_FALSE(stack.store->Get(NumberedKey(3)).has_value());
  const StoreCounters counters = stack.store->counters();
  EXPECT_EQ(counters.hits, 2u);
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.milliseconds_saved, 12);
}

// Stacks of three places, as sessions have them one after the other over one store: only a layer, only a server, all.
TEST(CacheOrigins, HitsAndTimeSavedAddUpByThePlaceThatHadTheEntry) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100), 10);
  const auto source_of = [](int number, double cost_ms) {
    auto source = std::make_unique<MemorySource>();
    source->entries[NumberedKey(number).digest()] = EntryOf(NumberedKey(number), number, cost_ms);
    return source;
  };
  StoreCounters sums;
  const auto look_up = [&](bool has_layer, bool has_server, int first, int last) {
    CacheParts parts = testing::PartsOf(folder.OpenStore());
    if (has_layer) parts.layers.push_back(source_of(2, 20));
    if (has_server) parts.server = source_of(3, 40);
    TestCache cache(std::move(parts));
    for (int number = first; number <= last; ++number) static_cast<void>(cache.Get(NumberedKey(number)));
    const StoreCounters counters = cache.counters();
    sums.hits += counters.hits;
    sums.misses += counters.misses;
    sums.layer_hits += counters.layer_hits;
    sums.server_hits += counters.server_hits;
    sums.milliseconds_saved += counters.milliseconds_saved;
    return counters;
  };
  const StoreCounters layer_only = look_up(true, false, 2, 2);
  EXPECT_EQ(layer_only.layer_hits, 1u);
  EXPECT_EQ(layer_only.own_hits(), 0u);
  EXPECT_EQ(layer_only.hit_rate(), 1.0) << "what a layer has is no miss";
  const StoreCounters mixed = look_up(true, true, 1, 4);
  EXPECT_EQ(mixed.own_hits(), 1u);
  EXPECT_EQ(mixed.own_milliseconds_saved(), 10);
  EXPECT_EQ(mixed.layer_milliseconds_saved, 20);
  EXPECT_EQ(mixed.server_milliseconds_saved, 40);
  EXPECT_EQ(mixed.misses, 1u) << "of what no place had";
  // The mixed start has put the server's entry into the own store.
  const StoreCounters later = look_up(false, true, 3, 3);
  EXPECT_EQ(later.server_hits, 0u);
  EXPECT_EQ(later.own_hits(), 1u);

  const StoreCounters lifetime = ReadStoreStats(folder.path())->lifetime;
  EXPECT_EQ(lifetime.hits, sums.hits);
  EXPECT_EQ(lifetime.misses, sums.misses);
  EXPECT_EQ(lifetime.layer_hits, sums.layer_hits);
  EXPECT_EQ(lifetime.server_hits, sums.server_hits);
  EXPECT_EQ(lifetime.milliseconds_saved, sums.milliseconds_saved);
  EXPECT_EQ(lifetime.own_milliseconds_saved(), 10 + 40);
}

TEST(CacheOrigins, ADamagedStoresCountersGiveNoNegativeNumbers) {
  StoreCounters counters;
  counters.hits = 1;
  counters.layer_hits = counters.server_hits = 999'999'999'999'999'999;
  counters.layer_milliseconds_saved = 5;
  EXPECT_EQ(counters.own_hits(), 0u);
  EXPECT_EQ(counters.own_milliseconds_saved(), 0);
  EXPECT_EQ(StoreCounters().hit_rate(), std::nullopt);
}

TEST(CacheLayers, PutsGoToTheOwnStoreAlone) {
  Stack stack;
  PutOne(*stack.store, NumberedKey(3), NumberedBlob(3, 100));
  EXPECT_EQ(stack.layer->entries.size(), 1u);
  EXPECT_EQ(stack.own->entries.size(), 2u);
  TestCache without(CacheParts{});
  PutOne(without, NumberedKey(3), NumberedBlob(3, 100));
  EXPECT_EQ(without.counters().put_errors, 1u);
}

TEST(CacheLayers, ARejectGoesToTheSourceThatServedTheBlob) {
  Stack stack;
  stack.store->Get(NumberedKey(1));
  stack.store->Reject(NumberedKey(1), "refused");
  stack.store->Get(NumberedKey(2));
  stack.store->Reject(NumberedKey(2), "refused");
  EXPECT_TRUE(stack.layer->entries.empty());
  EXPECT_TRUE(stack.own->entries.empty());
}

TEST(CacheLayers, WhatWasMeasuredHereComesBeforeALayersRecord) {
  Stack stack(BlobKind::kTuning);
  const CacheKey key = NumberedKey(1, BlobKind::kTuning);
  stack.own->entries[key.digest()] = EntryOf(key, 2, 0);
  EXPECT_EQ(stack.store->Get(key), NumberedBlob(2, 100));
  int visited = 0;
  stack.store->ForEach(CacheKey(BlobKind::kTuning), [&](const CacheKey&, auto) { ++visited; });
  EXPECT_EQ(visited, 3);
}

TEST(CacheLayers, ABlobThatCrashedAProcessIsNotTakenFromItAgain) {
  const CacheFolder bundle, folder;
  PutOne(*bundle.Open(), NumberedKey(1), NumberedBlob(1, 100));
  PutOne(*bundle.Open(), NumberedKey(2), NumberedBlob(2, 100));
  const SessionOptions options{
      .cache_folder = folder.path().string(), .cache_layers = {bundle.path().string()}, .trust_cache_layers = true};
  const pid_t child = testing::StartProcess([&options] {
    const OpenedTestCache cache(options);
    if (!cache.store->Get(NumberedKey(1))) return 1;
    cache.store->BeginUse(NumberedKey(1));
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(testing::WaitFor(child), 128 + SIGKILL);
  for (int start = 0; start < 2; ++start) {
    const OpenedTestCache cache(options);
    const auto found = cache.store->Get(NumberedKey(1));
    EXPECT_EQ(found.has_value(), start == 1);
    EXPECT_TRUE(cache.store->Get(NumberedKey(2)).has_value());
    if (!found) PutOne(*cache.store, NumberedKey(1), NumberedBlob(7, 100));  // rebuilt
    cache.store->BeginUse(NumberedKey(1));
    cache.store->EndUse(NumberedKey(1));
  }
  EXPECT_EQ(OpenedTestCache(options).store->Get(NumberedKey(1)), NumberedBlob(7, 100)) << "the layer's blob came back";
}

TEST(OpenCache, ALayerThatIsMissingIsLeftOutWithAWarning) {
  const CacheFolder folder;
  const OpenedTestCache cache({.cache_folder = folder.path().string(), .cache_layers = {"/nonexistent/layer"}});
  ASSERT_EQ(cache.warnings.size(), 1u);
  EXPECT_NE(cache.warnings[0].find("/nonexistent/layer"), std::string::npos);
  PutOne(*cache.store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_TRUE(cache.store->Get(NumberedKey(1)).has_value());
}

TEST(OpenCache, ReadingOnlyMakesNothingAndWritesNothing) {
  const CacheFolder folder;
  const SessionOptions options{.cache_folder = (folder.path() / "cache").string(), .cache_read_only = true};
  const OpenedCache cache = OpenCache(options);
  EXPECT_EQ(cache.store, nullptr);
  EXPECT_TRUE(cache.warnings.empty());
  EXPECT_FALSE(std::filesystem::exists(options.cache_folder));
}

TEST(OpenCache, AStampOrCounterOfALayerIsNeverWritten) {
  const CacheFolder bundle, folder;
  PutOne(*bundle.Open(), NumberedKey(1), NumberedBlob(1, 100));
  const std::string before = testing::ReadFile(bundle.file());
  {
    const OpenedTestCache cache(
        {.cache_folder = folder.path().string(), .cache_layers = {bundle.path().string()}, .trust_cache_layers = true});
    EXPECT_TRUE(cache.store->Get(NumberedKey(1)).has_value());
  }
  EXPECT_EQ(testing::ReadFile(bundle.file()), before);
}

TEST(OpenCache, ALayerThatNobodySignedIsLeftOutWithOneWarning) {
  const CacheFolder bundle, folder;
  PutOne(*bundle.Open(), NumberedKey(1), NumberedBlob(1, 100));
  const OpenedTestCache cache({.cache_folder = folder.path().string(), .cache_layers = {bundle.path().string()}});
  EXPECT_FALSE(cache.store->Get(NumberedKey(1)).has_value());
  ASSERT_EQ(cache.warnings.size(), 1u);
  EXPECT_NE(cache.warnings[0].find("--cache-layer-keys"), std::string::npos) << cache.warnings[0];
}

TEST(OpenCache, ATokenKeepsEntriesOfEveryKindApart) {
  const CacheFolder folder;
  const auto open = [&](const char* token) {
    return OpenedTestCache({.cache_folder = folder.path().string(), .model_token = token});
  };
  for (int kind = 0; kind < kBlobKindCount; ++kind) {
    const CacheKey key = NumberedKey(kind, static_cast<BlobKind>(kind));
    SCOPED_TRACE(BlobKindName(key.kind()));
    PutOne(*open("mine").store, key, NumberedBlob(1, 100));
    EXPECT_FALSE(open("").store->Get(key).has_value());
    EXPECT_FALSE(open("yours").store->Get(key).has_value());
    EXPECT_EQ(open("mine").store->Get(key), NumberedBlob(1, 100));
    int visited = 0;
    open("yours").store->ForEach(CacheKey(key.kind()), [&](const CacheKey&, auto) { ++visited; });
    EXPECT_EQ(visited, 0);
    open("mine").store->ForEach(CacheKey(key.kind()), [&](const CacheKey& found, auto) {
      EXPECT_TRUE(found.material().starts_with(key.material()));
      ++visited;
    });
    EXPECT_EQ(visited, 1);
  }
}

class ValuesInMemory final : public KeyValueStore {
 public:
  std::optional<std::vector<std::byte>> Read(std::string_view key) override {
    const auto found = values.find(std::string(key));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  bool Write(std::string_view key, std::span<const std::byte> value) override {
    if (is_full) return false;
    values[std::string(key)].assign(value.begin(), value.end());
    return true;
  }
  std::map<std::string, std::vector<std::byte>> values;
  bool is_full = false;
};

std::unique_ptr<TestCache> Over(KeyValueStore& values) {
  return std::make_unique<TestCache>(CacheParts{.own = std::make_unique<KeyValueSource>(values)});
}

TEST(KeyValueSource, ABlobComesBackEqualAndCountsWhatItSaved) {
  ValuesInMemory values;
  for (int size : {0, 1, 5000}) PutOne(*Over(values), NumberedKey(size), NumberedBlob(size, size), 40);
  const auto over = Over(values);
  TestCache& store = *over;
  for (int size : {0, 1, 5000}) EXPECT_EQ(store.Get(NumberedKey(size)), NumberedBlob(size, size));
  EXPECT_FALSE(store.Get(NumberedKey(7)).has_value());
  EXPECT_EQ(store.counters().hits, 3u);
  EXPECT_EQ(store.counters().misses, 1u);
  EXPECT_EQ(store.counters().milliseconds_saved, 120);
}

TEST(KeyValueSource, NoDamageToAValueComesBackAsAHit) {
  ValuesInMemory values;
  const auto over = Over(values);
  TestCache& store = *over;
  PutOne(store, NumberedKey(1), NumberedBlob(1, 50));
  const std::vector<std::byte> sound = values.values.begin()->second;
  std::vector<std::byte>& value = values.values.begin()->second;
  for (size_t k = 0; k < sound.size(); ++k) {
    value = sound;
    value[k] ^= std::byte{0x40};
    const auto found = store.Get(NumberedKey(1));
    EXPECT_TRUE(!found || *found == NumberedBlob(1, 50)) << "byte " << k;
    value = std::vector(sound.begin(), sound.begin() + static_cast<ptrdiff_t>(k));
    EXPECT_FALSE(store.Get(NumberedKey(1)).has_value()) << "cut at " << k;
  }
}

TEST(KeyValueSource, AnotherKeysValueIsNoHit) {
  ValuesInMemory values;
  const auto over = Over(values);
  TestCache& store = *over;
  PutOne(store, NumberedKey(1), NumberedBlob(1, 50));
  values.values[NameInKeyValueStore(NumberedKey(2))] = values.values.begin()->second;
  EXPECT_FALSE(store.Get(NumberedKey(2)).has_value());
  EXPECT_EQ(store.counters().rejected, 1u);
}

TEST(KeyValueSource, WhatIsRejectedOrNotTakenIsAMiss) {
  ValuesInMemory values;
  const auto over = Over(values);
  TestCache& store = *over;
  PutOne(store, NumberedKey(1), NumberedBlob(1, 50));
  store.Reject(NumberedKey(1), "refused");
  EXPECT_FALSE(store.Get(NumberedKey(1)).has_value());
  EXPECT_FALSE(Over(values)->Get(NumberedKey(1)).has_value());
  values.is_full = true;
  PutOne(store, NumberedKey(2), NumberedBlob(2, 50));
  EXPECT_EQ(store.counters().put_errors, 1u);
  EXPECT_EQ(store.TakeWarnings().size(), 2u);
}

TEST(CacheObservers, AreToldWhatHappenedWithTheKeysFields) {
  std::vector<CacheEvent> events;
  CacheParts parts = InMemory();
  parts.observer = [&events](const CacheEvent& event) { events.push_back(event); };
  TestCache store(std::move(parts));
  store.Get(NumberedKey(1));
  PutOne(store, NumberedKey(1), NumberedBlob(1, 50));
  store.Get(NumberedKey(1));
  store.Reject(NumberedKey(1), "refused");
  using enum CacheEvent::What;
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].what, kMiss);
  EXPECT_EQ(events[1].what, kStored);
  EXPECT_EQ(events[2].what, kHit);
  EXPECT_EQ(events[2].size_bytes, 50u);
  EXPECT_EQ(events[3].what, kRejected);
  EXPECT_EQ(events[0].kind, "program");
  EXPECT_EQ(events[0].digest, NumberedKey(1).digest().ToHex());
  EXPECT_EQ(events[0].fields.front(), (std::pair<std::string, std::string>("kernel", "conv_1")));
}

// PoCL ends the process where it gets no descriptor.
TEST(CacheDescriptors, TheLastOnesAreLeftToTheDriver) {
  const CacheFolder folder;
  const auto exit_code_with = [&folder](rlim_t left) {
    return testing::WaitFor(testing::StartProcess([&] {
      const int lowest = ::dup(STDERR_FILENO);
      ::close(lowest);
      const rlimit limit{static_cast<rlim_t>(lowest) + left, static_cast<rlim_t>(lowest) + left};
      if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 9;
      const OpenedCache cache = OpenCache({.cache_folder = folder.path().string()});
      if (cache.store != nullptr) return 1;
      return cache.warnings.size() == 1 && cache.warnings[0].find("ulimit -n") != std::string::npos ? 0 : 2;
    }));
  };
  EXPECT_EQ(exit_code_with(6), 0);
  EXPECT_EQ(exit_code_with(64), 1);
}

}  // namespace
}  // namespace hearth
