// The cache server as it may be: with a password, full, slow, dripping, silent, dead, gone in the middle, lying.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>

#include "redis/connection.h"
#include "redis/redis_store.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/redis_server.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using ::testing::HasSubstr;
using testing::NumberedBlob;
using testing::RedisServer;
using testing::ScriptedServer;
using testing::SilentServer;

constexpr int kAmpleMs = 5000;

std::unique_ptr<KeyValueStore> ValuesAt(const std::string& address, int wait_ms = kAmpleMs) {
  auto server = OpenRedisStore({address, wait_ms, wait_ms});
  EXPECT_TRUE(server.ok()) << server.status().message();
  return std::move(server->values);
}

#define HEARTH_NEEDS(server) \
  if (!(server).is_there()) GTEST_SKIP() << "redis-server is not installed, or can't do this"

TEST(CacheServer, ThatWantsAPasswordIsUsedWithItAndAWarningWithout) {
  const RedisServer server({"--requirepass", "open sesame"}, "redis://:open%20sesame@127.0.0.1:%PORT%");
  HEARTH_NEEDS(server);
  EXPECT_TRUE(ValuesAt(server.address())->Write("key", NumberedBlob(1, 100)));
  EXPECT_EQ(ValuesAt(server.address())->Read("key"), NumberedBlob(1, 100));
  for (const char* user : {"", ":wrong@", "default:wrong@"}) {
    const auto values = ValuesAt(fmt::format("redis://{}127.0.0.1:{}", user, server.port()));
    EXPECT_FALSE(values->Read("key").has_value());
    EXPECT_THAT(values->why_unusable(), HasSubstr("password"));
    EXPECT_EQ(values->why_unusable().find("wrong@"), std::string::npos);
  }
}

TEST(CacheServer, KnowsUsersByName) {
  const RedisServer server({"--user", "hearth", "on", ">secret", "~hearth:*", "+@all"},
                           "redis://hearth:secret@127.0.0.1:%PORT%");
  HEARTH_NEEDS(server);
  EXPECT_TRUE(ValuesAt(server.address())->Write("key", NumberedBlob(1, 100)));
  EXPECT_EQ(ValuesAt(server.address())->Read("key"), NumberedBlob(1, 100));
}

TEST(CacheServer, KeepsDatabasesApart) {
  const RedisServer server;
  HEARTH_NEEDS(server);
  const std::string url = "redis://" + server.address();
  EXPECT_TRUE(ValuesAt(url + "/3")->Write("key", NumberedBlob(1, 100)));
  EXPECT_FALSE(ValuesAt(url)->Read("key").has_value());
  EXPECT_EQ(ValuesAt(url + "/3")->Read("key"), NumberedBlob(1, 100));
  const auto none = ValuesAt(url + "/999");
  EXPECT_FALSE(none->Read("key").has_value());
  EXPECT_THAT(none->why_unusable(), HasSubstr("SELECT is refused"));
}

TEST(CacheServer, ThatIsFullIsReadAndAskedToStoreOnlyOnce) {
  const RedisServer server({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  HEARTH_NEEDS(server);
  const auto values = ValuesAt(server.address());
  EXPECT_FALSE(values->Write("key", NumberedBlob(1, 100)));
  EXPECT_FALSE(values->Write("other", NumberedBlob(1, 100)));
  EXPECT_EQ(values->why_unusable(), "");
  const auto warnings = values->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("OOM"));
  EXPECT_FALSE(values->Read("key").has_value());
}

// What a client of another kind put there under our name.
TEST(CacheServer, ThatHoldsAnotherTypeIsAWarning) {
  const ScriptedServer server({"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"}, 0, false);
  const auto values = ValuesAt(server.address());
  EXPECT_FALSE(values->Read("key").has_value());
  EXPECT_EQ(values->why_unusable(), "");
  const auto warnings = values->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("WRONGTYPE"));
}

TEST(CacheServer, ForgetsAfterTheTimeToLive) {
  const RedisServer server;
  HEARTH_NEEDS(server);
  EXPECT_TRUE(ValuesAt("redis://" + server.address() + "?ttl=1d")->Write("key", NumberedBlob(1, 100)));
  const auto connection = ConnectToServer(*ParseServerAddress(server.address()), Deadline(kAmpleMs));
  ASSERT_TRUE(connection.ok());
  const std::string command = "TTL hearth:1:key\r\n";
  ASSERT_TRUE((*connection)->Write(std::as_bytes(std::span(command)), Deadline(kAmpleMs)).ok());
  std::string answer(64, '\0');
  const auto count = (*connection)->Read(std::as_writable_bytes(std::span(answer)), Deadline(kAmpleMs));
  ASSERT_TRUE(count.ok());
  EXPECT_THAT(answer.substr(0, *count), ::testing::MatchesRegex(":86(400|3[0-9]{2})\r\n"));
}

TEST(CacheServer, TakesBigEntriesAndNoBiggerOnesThanTheLimit) {
  const RedisServer server;
  HEARTH_NEEDS(server);
  const auto big = NumberedBlob(1, 3 << 20);
  EXPECT_TRUE(ValuesAt(server.address())->Write("big", big));
  EXPECT_EQ(ValuesAt(server.address())->Read("big"), big);
  const auto limited = ValuesAt("redis://" + server.address() + "?max-entry=1M");
  EXPECT_FALSE(limited->Write("big", big));
  EXPECT_FALSE(limited->Read("big").has_value());
  EXPECT_THAT(limited->why_unusable(), HasSubstr("max-entry"));
}

TEST(CacheServer, ThatAnnouncesWhatItNeverSendsTakesNoMemory) {
  const ScriptedServer server({"$60000000\r\nx"}, 0, true);
  const auto values = ValuesAt(server.address());
  EXPECT_FALSE(values->Read("key").has_value());
  EXPECT_THAT(values->why_unusable(), HasSubstr("closed the connection"));
}

// Each byte comes long before a time-out for one byte would end.
TEST(CacheServer, ThatDripsIsLeftAtTheDeadline) {
  const ScriptedServer server(std::vector<std::string>(20000, "+"), 1000, false);
  const auto values = ValuesAt(server.address(), 25);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(values->Read("key").has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "all of it takes 20 s";
  EXPECT_THAT(values->why_unusable(),
              ::testing::AnyOf(HasSubstr("in time"), HasSubstr("does not follow the protocol")));
}

TEST(CacheServer, ThatIsSilentIsLeftAtTheDeadline) {
  const SilentServer server;
  const auto values = ValuesAt(server.address(), 10);
  EXPECT_FALSE(values->Read("key").has_value());
  EXPECT_THAT(values->why_unusable(), HasSubstr("in time"));
}

TEST(CacheServer, ThatIsDeadIsSaidToBe) {
  SilentServer server;
  server.Close();
  const auto values = ValuesAt(server.address());
  EXPECT_FALSE(values->Read("key").has_value());
  EXPECT_THAT(values->why_unusable(), HasSubstr("can't be reached"));
}

TEST(CacheServer, ThatSpeaksAnotherProtocolIsSaidTo) {
  for (const char* text :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "$-2\r\n", "$x\r\n", "*3\r\n", "$3\r\nabcd\r\n"}) {
    const ScriptedServer server({text}, 0, true);
    const auto values = ValuesAt(server.address());
    EXPECT_FALSE(values->Read("key").has_value());
    EXPECT_THAT(values->why_unusable(), HasSubstr("does not follow the protocol")) << text;
  }
}

TEST(CacheServer, AnswersOverTlsToWhoTrustsItsCertificate) {
  const CacheFolder folder;
  const std::string key = (folder.path() / "key.pem").string(), certificate = (folder.path() / "cert.pem").string();
  const std::string make = fmt::format(
      "openssl req -x509 -newkey rsa:2048 -nodes -keyout {} -out {} -days 2 -subj /CN=hearth -addext "
      "subjectAltName=IP:127.0.0.1 >/dev/null 2>&1",
      key, certificate);
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "openssl is not installed";
  const RedisServer server({"--port", "0", "--tls-port", "%PORT%", "--tls-cert-file", certificate, "--tls-key-file",
                            key, "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"},
                           "rediss://127.0.0.1:%PORT%?ca=" + certificate);
  HEARTH_NEEDS(server);
  const auto blob = NumberedBlob(1, 1 << 20);
  EXPECT_TRUE(ValuesAt(server.address())->Write("key", blob));
  EXPECT_EQ(ValuesAt(server.address())->Read("key"), blob);
  const auto stranger = ValuesAt("rediss://127.0.0.1:" + server.port());
  EXPECT_FALSE(stranger->Read("key").has_value());
  EXPECT_THAT(stranger->why_unusable(), HasSubstr("certificate is refused"));
}

}  // namespace
}  // namespace hearth
