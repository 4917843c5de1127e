// Children that were forked while their parent had the cache open.

#include "cache/desk/reports.h"
#include "hearth/session.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

TEST(CacheFork, AChildNeitherUsesNorSpoilsTheStoreOfItsParent) {
  const CacheFolder folder;
  auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
  MakingTurn turn = store->TakeTurn(NumberedKey(2));
  store->BeginUse(NumberedKey(1));
  const pid_t child = StartProcess([&] {
    if (store->Get(NumberedKey(1))) return 1;
    PutOne(*store, NumberedKey(3), NumberedBlob(3, 1000));
    store->EndUse(NumberedKey(1));
    store->Reject(NumberedKey(1), "the child's");
    store->Flush();
    if (store->TakeWarnings().size() != 1 || !store->TakeWarnings().empty()) return 2;
    turn.claim.reset();
    store.reset();
    return 0;
  });
  EXPECT_EQ(WaitFor(child), 0);
  int claims = 0, markers = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    claims += entry.path().filename().string().starts_with("making-");
    markers += entry.path().filename().string().starts_with("in-use-");
  }
  EXPECT_EQ(claims, 1);
  EXPECT_EQ(markers, 1);
  EXPECT_TRUE(store->Get(NumberedKey(1)));
  EXPECT_FALSE(store->Get(NumberedKey(3)));
  PutOne(*store, NumberedKey(4), NumberedBlob(4, 1000));
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheFork, AChildThatOpensTheCacheItselfReadsItAndStoresNothing) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  const auto store = folder.Open();
  const pid_t child = StartProcess([&] {
    const auto own = testing::StoreCache::Open(folder.options());
    if (!own.ok()) return 1;
    if ((*own)->Get(NumberedKey(1)) != NumberedBlob(1, 1000)) return 2;
    PutOne(**own, NumberedKey(2), NumberedBlob(2, 1000));
    if ((*own)->counters().put_errors != 1) return 3;
    const auto warnings = (*own)->TakeWarnings();
    return warnings.size() == 1 && warnings[0].find("forked") != std::string::npos ? 0 : 4;
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_FALSE(store->Get(NumberedKey(2)));
}

TEST(CacheFork, AChildOfAProcessThatHasClosedTheCacheUsesItFully) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  const pid_t child = StartProcess([&] {
    const auto own = testing::StoreCache::Open(folder.options());
    if (!own.ok() || !(*own)->Get(NumberedKey(1))) return 1;
    PutOne(**own, NumberedKey(2), NumberedBlob(2, 1000));
    return (*own)->TakeWarnings().empty() ? 0 : 2;
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(2)));
}

TEST(CacheFork, ASessionOfTheParentIsRefusedInTheChildWithASentence) {
  const CacheFolder folder;
  SessionOptions options{.device = "cpu", .cache_folder = folder.path().string()};
  Result<Session> session = Session::Open((SourceFolder() / "tools/demo/shapes_f32.tflite").string(), options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  for (size_t k = 0; k < session->inputs().size(); ++k) {
    ASSERT_TRUE(session->SetInput(k, std::vector<std::byte>(session->inputs()[k].size_bytes)).ok());
  }
  const pid_t child = StartProcess([&] {
    const Status status = session->Run();
    session->SaveToCache();
    const bool is_told = status.message().find("fork") != std::string::npos;
    { const Session ends = std::move(session).value(); }
    return !status.ok() && is_told ? 0 : 1;
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_TRUE(session->Run().ok());
}

}  // namespace
}  // namespace hearth
