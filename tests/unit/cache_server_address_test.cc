// How a cache server is named, and the deadline that all it does has to keep.
#include <gtest/gtest.h>

#include "redis/address.h"
#include "redis/connection.h"

namespace hearth {
namespace {

TEST(ServerAddress, IsAHostAPortOrAUrl) {
  const ServerAddress plain = *ParseServerAddress("cache.lan");
  EXPECT_EQ(plain.host, "cache.lan");
  EXPECT_EQ(plain.port, 6379);
  EXPECT_FALSE(plain.is_tls);
  EXPECT_EQ(ParseServerAddress("cache.lan:7000")->port, 7000);
  const ServerAddress url =
      *ParseServerAddress("rediss://me:p%40ss%3a@cache.lan:7000/2?ttl=30d&max-entry=2M&ca=/a%20b");
  EXPECT_TRUE(url.is_tls);
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "p@ss:");
  EXPECT_EQ(url.database, 2);
  EXPECT_EQ(url.time_to_live_s, 30 * 86400);
  EXPECT_EQ(url.max_entry_bytes, uint64_t{2} << 20);
  EXPECT_EQ(url.ca_file, "/a b");
  EXPECT_EQ(ParseServerAddress("redis://:secret@cache.lan")->password, "secret");
  const ServerAddress with_options = *ParseServerAddress("cache.lan:7000?ttl=30d&max-entry=2M");
  EXPECT_EQ(with_options.port, 7000);
  EXPECT_EQ(with_options.time_to_live_s, 30 * 86400);
  EXPECT_EQ(with_options.max_entry_bytes, uint64_t{2} << 20);
}

TEST(ServerAddress, OfIpv6StandsInBracketsWhereAPortFollows) {
  EXPECT_EQ(ParseServerAddress("::1")->host, "::1");
  EXPECT_EQ(ParseServerAddress("[::1]")->host, "::1");
  const ServerAddress address = *ParseServerAddress("redis://me:x@[fe80::1]:7000/1");
  EXPECT_EQ(address.host, "fe80::1");
  EXPECT_EQ(address.port, 7000);
  EXPECT_EQ(address.text(), "[fe80::1]:7000");
}

TEST(ServerAddress, ThatMakesNoSenseIsAMistakeAndNoPasswordIsRepeated) {
  for (const char* text :
       {"", ":", "host:", "host:x", "host:0", "host:70000", "redis://", "redis://host/x", "redis://host?ttl=0",
        "redis://host?ttl=much", "redis://host?max-entry=0", "redis://host?unknown=1", "redis://me:hunter2%@host",
        "redis://me:hunter2@host:0", "[::1", "[::1]x", "redis://me:hunter2@"}) {
    const auto address = ParseServerAddress(text);
    EXPECT_EQ(address.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(address.status().message().find("hunter2"), std::string::npos) << text;
  }
  EXPECT_EQ(ParseServerAddress("rediss://me:hunter2@host")->text(), "rediss://host:6379");
}

TEST(Deadline, IsOneForAllThatIsDoneBeforeIt) {
  std::chrono::steady_clock::time_point now;
  const Deadline deadline(25, [&now] { return now; });
  EXPECT_EQ(deadline.left_ms(), 25);
  for (int byte = 0; byte < 24; ++byte) {  // a server that sends one each millisecond
    now += std::chrono::milliseconds(1);
    EXPECT_FALSE(deadline.is_over());
  }
  EXPECT_EQ(deadline.left_ms(), 1);
  now += std::chrono::microseconds(999);
  EXPECT_EQ(deadline.left_ms(), 1) << "rounded up, so that a wait does not end too early";
  now += std::chrono::microseconds(1);
  EXPECT_TRUE(deadline.is_over());
  now += std::chrono::hours(1);
  EXPECT_EQ(deadline.left_ms(), 0);
}

}  // namespace
}  // namespace hearth
