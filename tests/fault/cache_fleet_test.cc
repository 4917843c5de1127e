// The shared server: a real redis-server on loopback that the tests start, and one that is slow, gone or lies.
#include <chrono>

#include "cache/sources/key_value_source.h"
#include "cache/trust/envelope.h"
#include "redis/redis_store.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/counted_server.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/redis_server.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::CountedServer;
using testing::InMemory;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PartsOf;
using testing::PutOne;
using testing::RedisServer;
using testing::Served;
using testing::SilentServer;
using testing::TestCache;

SigningKey KeyOf(uint8_t number) {
  SigningKey key;
  key.seed.fill(number);
  return key;
}

class CacheFleet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  }
  // A machine of the fleet that trusts key 1.
  static std::unique_ptr<TestCache> Machine(const std::string& address, std::optional<uint8_t> signs_with,
                                            CacheParts local = InMemory()) {
    ServerOptions options;
    options.trusted = {*PublicKeyOf(KeyOf(1))};
    if (signs_with) options.sign_with = KeyOf(*signs_with);
    options.budget_ms = 2000;
    RedisStore server = std::move(OpenRedisStore({address, 1000, 1000})).value();
    return std::make_unique<TestCache>(Served(std::move(local), std::move(server.values), std::move(options)));
  }
};

TEST_F(CacheFleet, WhatOneMachineMadeAnotherFindsAndKeeps) {
  const RedisServer server;
  if (!server.is_there()) GTEST_SKIP() << "redis-server is not installed";
  PutOne(*Machine(server.address(), 1), NumberedKey(1), NumberedBlob(1, 50000), 300);
  const CacheFolder folder;
  {
    const auto machine = Machine(server.address(), std::nullopt, PartsOf(folder.OpenStore()));
    EXPECT_EQ(machine->Get(NumberedKey(1)), NumberedBlob(1, 50000));
    EXPECT_FALSE(machine->Get(NumberedKey(2)).has_value());
    const StoreCounters counters = machine->counters();
    EXPECT_EQ(counters.hits, 1u);
    EXPECT_EQ(counters.misses, 1u);
    EXPECT_EQ(counters.milliseconds_saved, 300);
    EXPECT_TRUE(machine->TakeWarnings().empty());
  }
  EXPECT_EQ(folder.Open()->Get(NumberedKey(1)), NumberedBlob(1, 50000)) << "not kept locally";
}

TEST_F(CacheFleet, NothingCountsThatNoTrustedKeyHasSigned) {
  const RedisServer server;
  if (!server.is_there()) GTEST_SKIP() << "redis-server is not installed";
  PutOne(*Machine(server.address(), 2), NumberedKey(1), NumberedBlob(1, 100));
  const auto values = std::move(OpenRedisStore({server.address(), 1000, 1000})->values);
  const CacheKey key = NumberedKey(2);
  const auto bytes = NumberedBlob(2, 100);
  values->Write(NameInKeyValueStore(key),
                MakeEnvelope({.key = &key, .bytes = bytes, .checksum = FingerprintOf(bytes)}));  // not signed at all
  values->Write(NameInKeyValueStore(NumberedKey(3)), std::as_bytes(std::span("x")));
  const auto machine = Machine(server.address(), std::nullopt);
  for (int number = 1; number <= 3; ++number) EXPECT_FALSE(machine->Get(NumberedKey(number)).has_value()) << number;
  EXPECT_EQ(machine->counters().rejected, 3u);
  EXPECT_EQ(machine->TakeWarnings().size(), 1u);
}

TEST_F(CacheFleet, AGoodSignatureOfAnotherEntryIsRejected) {
  const RedisServer server;
  if (!server.is_there()) GTEST_SKIP() << "redis-server is not installed";
  PutOne(*Machine(server.address(), 1), NumberedKey(1), NumberedBlob(1, 100));
  const auto values = std::move(OpenRedisStore({server.address(), 1000, 1000})->values);
  values->Write(NameInKeyValueStore(NumberedKey(2)), *values->Read(NameInKeyValueStore(NumberedKey(1))));
  EXPECT_FALSE(Machine(server.address(), std::nullopt)->Get(NumberedKey(2)).has_value());
}

TEST_F(CacheFleet, AServerThatDiesInTheMiddleCostsNothingMore) {
  RedisServer server;
  if (!server.is_there()) GTEST_SKIP() << "redis-server is not installed";
  const auto machine = Machine(server.address(), 1);
  PutOne(*machine, NumberedKey(1), NumberedBlob(1, 100));
  server.Stop();
  EXPECT_EQ(machine->Get(NumberedKey(1)), NumberedBlob(1, 100)) << "it is there locally";
  EXPECT_FALSE(machine->Get(NumberedKey(2)).has_value());
  PutOne(*machine, NumberedKey(3), NumberedBlob(3, 100));
  EXPECT_EQ(machine->Get(NumberedKey(3)), NumberedBlob(3, 100));
  EXPECT_EQ(machine->TakeWarnings().size(), 1u);
}

TEST_F(CacheFleet, AServerThatNeverAnswersCostsOneTimeOut) {
  const SilentServer silent;
  ServerOptions options;
  options.trusted = {*PublicKeyOf(KeyOf(1))};
  options.sign_with = KeyOf(1);
  TestCache store(Served(InMemory(), std::move(OpenRedisStore({silent.address()})->values), options));
  const auto start = std::chrono::steady_clock::now();
  for (int number = 0; number < 2000; ++number) EXPECT_FALSE(store.Get(NumberedKey(number)).has_value());
  PutOne(store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << "a time-out each takes 50 s";
  EXPECT_EQ(store.TakeWarnings().size(), 1u);
}

// What a start may lose: the budget and one time-out, whatever the server does.
TEST_F(CacheFleet, ASlowServerIsAskedOnlyUntilItsTimeIsSpent) {
  ServerOptions options;
  options.budget_ms = 10;
  options.sign_with = KeyOf(1);
  CountedServer server{.answer_ms = 3};
  TestCache store(Served(InMemory(), server, options));
  for (int number = 0; number < 100; ++number) EXPECT_FALSE(store.Get(NumberedKey(number)).has_value());
  EXPECT_GE(server.calls, 1);
  EXPECT_LE(server.calls, 4) << "four answers took 12 ms";
  const int calls_at_start = server.calls;
  PutOne(store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_EQ(server.calls, calls_at_start) << "the end of a session waits no longer than its start";
  EXPECT_TRUE(store.Get(NumberedKey(1)).has_value()) << "it is there locally";
}

TEST_F(CacheFleet, WhatIsDearerToMakeThanToFetchIsFetchedHoweverMuchItIs) {
  CountedServer server;
  ServerOptions options = testing::FleetOf(KeyOf(1));
  {
    TestCache maker(Served(InMemory(), server, options));
    for (int number = 0; number < 8; ++number) PutOne(maker, NumberedKey(number), NumberedBlob(number, 100), 60000);
  }
  ASSERT_EQ(server.values.size(), 8u);
  server.answer_ms = 3;
  options.budget_ms = 10;
  TestCache store(Served(InMemory(), server, options));
  for (int number = 0; number < 8; ++number) EXPECT_TRUE(store.Get(NumberedKey(number)).has_value()) << number;
}

// A session puts again what it loaded, without saying where from: it must not sign that for those who trust only it.
TEST_F(CacheFleet, WhatAnotherMachineSignedIsNotSignedAgain) {
  CountedServer server;
  const auto machine = [&](uint8_t signs, std::vector<uint8_t> trusts, CacheParts local) {
    ServerOptions options;
    for (const uint8_t number : trusts) options.trusted.push_back(*PublicKeyOf(KeyOf(number)));
    options.sign_with = KeyOf(signs);
    options.budget_ms = 60'000;
    return std::make_unique<TestCache>(Served(std::move(local), server, options));
  };
  const CacheKey key = NumberedKey(1, BlobKind::kSource);
  PutOne(*machine(1, {1}, InMemory()), key, NumberedBlob(1, 100));
  const CacheFolder folder, third;
  for (int session = 0; session < 3; ++session) {  // the first one fetches it, the others have it locally
    const auto second = machine(2, {1, 2}, PartsOf(folder.OpenStore()));
    for (int put = 0; put < 2; ++put) {
      PutOne(*second, key, *second->Get(key));
      second->Flush();
    }
    PutOne(*second, NumberedKey(2), NumberedBlob(2, 100));
  }
  const auto stranger = machine(3, {2}, PartsOf(third.OpenStore()));
  EXPECT_FALSE(stranger->Get(key)) << "it does not trust the maker";
  EXPECT_TRUE(stranger->Get(NumberedKey(2)));
  EXPECT_EQ(machine(3, {1}, InMemory())->Get(key), NumberedBlob(1, 100));
}

TEST_F(CacheFleet, AServerThatFailedOnceIsNotAskedAgain) {
  ServerOptions options;
  options.sign_with = KeyOf(1);
  CountedServer server{.breaks_at = 1};
  TestCache store(Served(InMemory(), server, options));
  for (int number = 0; number < 100; ++number) EXPECT_FALSE(store.Get(NumberedKey(number)).has_value());
  PutOne(store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_EQ(server.calls, 1);
  EXPECT_EQ(store.TakeWarnings().size(), 1u);
}

TEST_F(CacheFleet, AnAddressThatMakesNoSenseIsAMistake) {
  for (const char* address : {"", ":", "host:", "host:x", "host:0", "host:70000"}) {
    EXPECT_EQ(OpenRedisStore({address}).status().code(), StatusCode::kInvalidArgument) << address;
  }
}

}  // namespace
}  // namespace hearth
