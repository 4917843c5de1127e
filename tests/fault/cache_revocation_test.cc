// A signing key that is revoked while sessions and imports run that still trust it.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <optional>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/sources/key_value_source.h"
#include "cache/store/rewrite.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"
#include "tests/testing/counted_server.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::CacheFolder;
using testing::Carried;
using testing::CountedServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::KeyFiles;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::PutRequest;
using testing::StartProcess;
using testing::TestCache;
using testing::WaitFor;

const std::string kKey(64, 'a'), kOtherKey(64, 'b');

void PutFrom(const std::string& origin, TestCache& store, int number) {
  const CacheKey key = NumberedKey(number);
  const auto bytes = NumberedBlob(number, 1000);
  const PutRequest request{&key, bytes, 1, origin};
  store.Put({&request, 1});
}

Result<RemovedEntries> Revoke(const CacheFolder& folder, const std::string& key) {
  CacheFilter filter{.signed_by = key};
  return ClearStore(folder.path(), filter);
}

std::vector<std::string> Origins(const CacheFolder& folder) {
  std::vector<std::string> origins;
  const auto entries = ListEntries(folder.path());
  if (!entries.ok()) return {entries.status().message()};
  for (const CacheEntry& entry : *entries) origins.push_back(entry.origin);
  return origins;
}

TEST(CacheRevocation, WhatASessionTookBeforeIsNotStoredAfterIt) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  ASSERT_EQ(Revoke(folder, kKey)->entries, 1u);
  PutFrom("server " + kKey, *session, 1);
  PutFrom("bundle " + kKey, *session, 2);
  PutFrom("server " + kOtherKey, *session, 3);
  EXPECT_THAT(Origins(folder), ElementsAre("server " + kOtherKey));
  EXPECT_EQ(session->counters().put_errors, 2u);
  EXPECT_THAT(session->TakeWarnings(), ElementsAre(HasSubstr("revoked")));
}

// As sessions do with the sources of programs.
TEST(CacheRevocation, WhatASessionLoadedAndPutsAgainKeepsItsSigner) {
  for (const BlobKind kind : {BlobKind::kSource, BlobKind::kWeights}) {
    const CacheFolder folder;
    const CacheKey key = NumberedKey(1, kind);
    const auto bytes = NumberedBlob(1, 1000);
    const std::string origin = "server " + kKey;
    const PutRequest request{&key, bytes, 1, origin};
    folder.Open()->Put({&request, 1});
    const auto session = folder.Open();
    PutOne(*session, key, *session->Get(key));
    EXPECT_THAT(Origins(folder), ElementsAre("server " + kKey));
    EXPECT_EQ(Revoke(folder, kKey)->entries, 1u);
    PutOne(*session, key, bytes);
    EXPECT_TRUE(Origins(folder).empty());
    PutOne(*session, key, NumberedBlob(2, 1000));
    EXPECT_THAT(Origins(folder), ElementsAre("here")) << "other bytes";
  }
}

TEST(CacheRevocation, OfABatchOnlyWhatTheKeySignedIsLeftOut) {
  const CacheFolder folder;
  const auto session = folder.Open();
  {
    const PutBatch batch(session.get());
    PutFrom("server " + kKey, *session, 1);
    PutFrom("", *session, 2);
    ASSERT_TRUE(Revoke(folder, kKey.substr(0, 8)).ok()) << "the first digits do";
  }
  EXPECT_THAT(Origins(folder), ElementsAre("here"));
}

TEST(CacheRevocation, AKeyThatIsTrustedAgainLaterIsTaken) {
  const CacheFolder folder;
  folder.Open().reset();
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  EXPECT_THAT(Origins(folder), ElementsAre("server " + kKey));
  EXPECT_EQ(Revoke(folder, kKey)->entries, 1u);
  PutFrom("server " + kKey, *session, 1);
  EXPECT_TRUE(Origins(folder).empty()) << "and revoked again";
}

TEST(CacheRevocation, AClearingInBetweenForgetsNothing) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  PutFrom("server " + kKey, *session, 1);
  EXPECT_TRUE(Origins(folder).empty());
}

TEST(CacheRevocation, AClearingAfterItForgetsItNeither) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  PutFrom("server " + kKey, *session, 1);
  PutFrom("server " + kOtherKey, *session, 2);
  EXPECT_THAT(Origins(folder), ElementsAre("server " + kOtherKey));
}

// Another session finds a damaged file under the store's name, and begins a new one.
void LoseTheFile(const CacheFolder& folder) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(folder.file().string() + suffix);
  testing::WriteFile(folder.file(), std::string(20'000, 'x'));
  folder.Open().reset();
}

TEST(CacheRevocation, AfterDamageThatTookTheListAlongASessionStoresNothingThatAKeySigned) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  LoseTheFile(folder);
  PutFrom("server " + kKey, *session, 1);
  PutFrom("bundle " + kOtherKey, *session, 2);
  PutFrom("", *session, 3);
  EXPECT_THAT(Origins(folder), ElementsAre("here"));
  EXPECT_EQ(session->counters().put_errors, 2u);
  EXPECT_THAT(session->TakeWarnings(), ElementsAre(HasSubstr("with it the list of revoked keys")));
  PutFrom("bundle " + kOtherKey, *folder.Open(), 2);
  EXPECT_EQ(Origins(folder).size(), 2u) << "a session that begins now";
}

TEST(CacheRevocation, AStoreThatAnOlderHearthMadeIsGuardedAgainstDamageToo) {
  const CacheFolder folder;
  folder.Open().reset();
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)
                  ->Run("DELETE FROM counters WHERE name='lineage'")
                  .ok());
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  EXPECT_THAT(Origins(folder), ElementsAre("server " + kKey));
  LoseTheFile(folder);
  PutFrom("server " + kKey, *session, 1);
  EXPECT_TRUE(Origins(folder).empty());
}

TEST(CacheRevocation, ASessionStoresWhatAKeySignedIntoACopyOfItsFile) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  std::optional<Database> database = Database::Open(folder.file(), Database::Access::kReadWrite).value();
  ASSERT_TRUE(RewriteStore(folder.options(), database).ok());
  PutFrom("server " + kKey, *session, 2);
  EXPECT_EQ(Origins(folder).size(), 2u);
  EXPECT_TRUE(session->TakeWarnings().empty());
}

TEST(CacheRevocation, AnImportThatMakesTheStoreKnowsWhatIsRevokedThere) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  ImportRequest request = carried.Request();
  request.revocations = ListRevocations(carried.target.path()).value();  // there is no store yet
  request.trusted_keys = keys.trusted();
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(Origins(carried.target).size(), 3u);
}

TEST(CacheRevocation, DigitsMayBeLargeAndWhatIsNoKeyIsAMistake) {
  const CacheFolder folder;
  PutFrom("bundle " + kKey, *folder.Open(), 1);
  EXPECT_EQ(Revoke(folder, "key.pub").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Revoke(folder, "AAAA")->entries, 1u);
}

TEST(CacheRevocation, DigitsThatBeginSeveralKeysOrAreTooFewRevokeNone) {
  const CacheFolder folder;
  const std::string like_it = std::string(63, 'a') + 'c';
  PutFrom("bundle " + kKey, *folder.Open(), 1);
  PutFrom("server " + like_it, *folder.Open(), 2);
  const Status several = Revoke(folder, "aaaa").status();
  EXPECT_EQ(several.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(several.message(), AllOf(HasSubstr(kKey), HasSubstr(like_it)));
  EXPECT_EQ(Revoke(folder, "bbbbbbb").status().code(), StatusCode::kInvalidArgument) << "no key begins with these";
  EXPECT_EQ(Origins(folder).size(), 2u);
  EXPECT_TRUE(ListRevocations(folder.path())->of_keys.empty());
  EXPECT_EQ(Revoke(folder, like_it)->entries, 1u);
}

TEST(CacheRevocation, FewDigitsRevokeOnlyTheKeyThatTheyBegin) {
  const CacheFolder folder;
  const auto session = folder.Open();
  PutFrom("server " + kKey, *session, 1);
  ASSERT_EQ(Revoke(folder, "a")->entries, 1u);
  const std::string like_it = std::string(63, 'a') + 'c';
  PutFrom("server " + like_it, *session, 2);
  PutFrom("server " + kKey, *session, 3);
  EXPECT_THAT(Origins(folder), ElementsAre("server " + like_it));
}

TEST(CacheRevocation, IsRememberedWithItsDayAndToldOfEachKeyThatIsStillListed) {
  const CacheFolder folder;
  folder.Open().reset();
  PublicKey revoked{}, other{};
  revoked.fill(0xaa);
  const PublicKey listed[] = {revoked, other};
  EXPECT_TRUE(TellRevoked(*ListRevocations(folder.path()), listed, "keys.pub").empty());
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  ASSERT_TRUE(ClearStore(folder.path()).ok());  // which keeps revocations
  EXPECT_THAT(TellRevoked(*ListRevocations(folder.path()), listed, "keys.pub"),
              ElementsAre(AllOf(HasSubstr(kKey + " was revoked on 20"), HasSubstr("keys.pub"))));
  const KnownRevocations without_a_time{.of_keys = {{kKey, -1}}};
  EXPECT_THAT(TellRevoked(without_a_time, listed, "keys.pub"), ElementsAre(HasSubstr(kKey + " was revoked by")));
}

TEST(CacheRevocation, AnImportThatStillTrustedTheKeyFails) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  carried.target.Open().reset();
  ImportRequest request = carried.Request();
  request.revocations = ListRevocations(carried.target.path()).value();
  request.trusted_keys = keys.trusted();
  ASSERT_TRUE(Revoke(carried.target, HexOf(request.trusted_keys.front())).ok());
  const auto imported = ImportBundle(request);
  ASSERT_FALSE(imported.ok());
  EXPECT_THAT(imported.status().message(), HasSubstr("revoked"));
  EXPECT_TRUE(Origins(carried.target).empty());
  request.revocations = ListRevocations(carried.target.path()).value();
  EXPECT_TRUE(ImportBundle(request).ok()) << "one that trusts it now";
}

TEST(CacheRevocation, WhatASessionFetchedFromAServerIsNotKept) {
  SKIP_WITHOUT_SIGNATURES();
  SigningKey key;
  key.seed.fill(1);
  const ServerOptions options = testing::FleetOf(key);
  CountedServer server;
  const auto machine = [&](CacheParts local) {
    return std::make_unique<TestCache>(testing::Served(std::move(local), server, options));
  };
  {
    const auto maker = machine(testing::InMemory());
    PutOne(*maker, NumberedKey(1), NumberedBlob(1, 1000), 300);
  }
  const CacheFolder folder;
  {
    const auto session = machine(testing::PartsOf(folder.OpenStore()));
    EXPECT_TRUE(session->Get(NumberedKey(1)));
    ASSERT_TRUE(Revoke(folder, HexOf(options.trusted.front())).ok());
    session->Flush();
  }
  EXPECT_TRUE(Origins(folder).empty());
}

// Whenever it comes: in the end nothing is left that was signed by it.
TEST(CacheRevocation, SessionsThatStoreMeanwhileLeaveNothingBehind) {
  const CacheFolder folder;
  folder.Open().reset();
  constexpr int kProcesses = 4, kPuts = 40;
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(StartProcess([&] {
      StoreOptions options = folder.options();
      SessionWaits waits(10'000);
      options.waits = &waits;
      const auto session = testing::StoreCache::Open(options);
      if (!session.ok() || ::write(ready[1], "x", 1) != 1) return 1;
      for (int put = 0; put < kPuts; ++put) PutFrom("bundle " + kKey, **session, process * kPuts + put);
      return 0;
    }));
  }
  char byte = 0;
  for (int process = 0; process < kProcesses; ++process) ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_TRUE(Revoke(folder, kKey).ok());
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  for (const int end : ready) ::close(end);
  EXPECT_TRUE(Origins(folder).empty());
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(TrustedKeys, AFileThatOthersMayWriteIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const auto file = keys.folder.path() / "key.pub";
  ASSERT_TRUE(ReadPublicKeys(file).ok());
  ASSERT_EQ(::chmod(file.c_str(), 0646), 0);
  EXPECT_THAT(ReadPublicKeys(file).status().message(), HasSubstr("other users may write"));
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(keys.folder.path().c_str(), 0707), 0);
  EXPECT_THAT(ReadPublicKeys(file).status().message(), HasSubstr("who could replace it"));
}

// What is read is what was checked, also where ".." leaves the folder that a link leads to.
TEST(TrustedKeys, AFileBehindALinkThatOthersCouldReplaceIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const auto open = keys.folder.path() / "open";
  std::filesystem::create_directories(open / "inner");
  std::filesystem::create_symlink(keys.folder.path() / "key.pub", open / "link.pub");
  std::filesystem::copy_file(keys.folder.path() / "key.pub", open / "key.pub");
  std::filesystem::create_directory_symlink(open / "inner", keys.folder.path() / "inner");
  const std::filesystem::path files[] = {open / "link.pub", keys.folder.path() / "inner" / ".." / "key.pub"};
  for (const std::filesystem::path& file : files) EXPECT_TRUE(ReadPublicKeys(file).ok()) << file;
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  for (const std::filesystem::path& file : files) {
    EXPECT_THAT(ReadPublicKeys(file).status().message(), HasSubstr("who could replace it")) << file;
  }
}

}  // namespace
}  // namespace hearth
