// What a session has to say comes to the caller whenever it happens: in the report, and in the log at the latest when
// the session ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/sources/key_value_source.h"
#include "core/base/log.h"
#include "runtime/session/session_data.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/session_cache.h"

namespace hearth {
namespace {

using testing::FakeBackendRows;
using ::testing::HasSubstr;
using testing::SumModel;

// As a cache on a full disk, or a server that takes nothing.
class TakesNothing final : public KeyValueStore {
 public:
  std::optional<std::vector<std::byte>> Read(std::string_view) override { return std::nullopt; }
  bool Write(std::string_view, std::span<const std::byte>) override { return false; }
};

class SessionWarnings : public testing::FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    if (!Computes()) GTEST_SKIP() << "no software driver is usable";
    SetLogSink([this](LogLevel level, std::string_view message) {
      if (level == LogLevel::kWarning) logged_.emplace_back(message);
    });
  }
  void TearDown() override { SetLogSink(nullptr); }

  // A session that has run, and whose last report was asked for before it stored anything.
  Session Used() {
    SessionRequest request;
    request.options.device = "auto";
    request.options.start = "ready";
    request.options.rules = "-texel_reads";  // the read-path probe would store its result before
    request.cache =
        testing::CacheOf(std::make_shared<ResultCache>(CacheParts{.own = std::make_unique<KeyValueSource>(nothing_)}));
    request.options.use_cache = false;  // the store stays
    request.backends = FakeBackendRows();
    Session session = std::move(CreateSession(model_, std::move(request))).value();
    const std::vector<float> ones(8, 1.0f);
    EXPECT_TRUE(session.SetInput(0, std::as_bytes(std::span(ones))).ok());
    EXPECT_TRUE(session.Run().ok());
    static_cast<void>(session.report());
    logged_.clear();
    return session;
  }

  TakesNothing nothing_;
  const Model model_ = SumModel();
  std::vector<std::string> logged_;
};

TEST_F(SessionWarnings, OfStoringAreInTheReportBehindIt) {
  Session session = Used();
  session.SaveToCache();
  EXPECT_THAT(session.report().warnings, ::testing::Contains(HasSubstr("cache: the store given")));
  EXPECT_THAT(logged_, ::testing::Contains(HasSubstr("did not accept an entry")));
}

TEST_F(SessionWarnings, OfStoringAtTheEndAreInTheLog) {
  { const Session session = Used(); }
  EXPECT_THAT(logged_, ::testing::Contains(HasSubstr("did not accept an entry")));
}

}  // namespace
}  // namespace hearth
