// Lifetimes of the program's delegate, its library and interpreters. The interface demands that the delegate is deleted
// last; Python's collector deletes it before, after or between the interpreters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tests/fault/plugin_network.h"
#include "tests/testing/temporary_folder.h"

namespace hearth::testing {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

nlohmann::json ReadReport(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

TEST(DelegateLifetime, AnInterpreterWorksOnWhenItsDelegateIsDeleted) {
  const Plugin plugin;
  const TemporaryFolder folder;
  const std::filesystem::path report = folder.path() / "report.json";
  TfLiteDelegate* delegate = plugin.CreateOnCpu({{"report", report}, {"profiling", "1"}});
  {
    MockInterpreter host;
    const Network network(host, /*has_unknown=*/true);
    ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
    network.ExpectItWorks();
    plugin.destroy(delegate);
    network.ExpectItWorks();
    network.ExpectItWorks();
  }
  const nlohmann::json partitions = ReadReport(report)["partitions"];
  ASSERT_EQ(partitions.size(), 2U);
  for (const nlohmann::json& partition : partitions) EXPECT_EQ(partition["invocations"], 3);
}

// Every order in which a delegate and two interpreters can go.
TEST(DelegateLifetime, TheDelegateAndTwoInterpretersGoInAnyOrder) {
  const Plugin plugin;
  std::array<int, 3> order = {0, 1, 2};
  do {
    const TemporaryFolder folder;
    const std::filesystem::path report = folder.path() / "report.json";
    TfLiteDelegate* delegate = plugin.CreateOnCpu({{"report", report}});
    std::array<std::optional<MockInterpreter>, 2> hosts;
    for (auto& host : hosts) {
      host.emplace();
      const Network network(*host);
      ASSERT_EQ(host->Apply(delegate), kTfLiteOk) << host->messages();
      network.ExpectItWorks();
    }
    for (const int which : order) {
      if (which == 2) {
        plugin.destroy(delegate);
      } else {
        hosts.at(which).reset();
      }
    }
    const nlohmann::json partitions = ReadReport(report)["partitions"];
    ASSERT_EQ(partitions.size(), 2U);
    for (const nlohmann::json& partition : partitions) EXPECT_EQ(partition["invocations"], 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(DelegateLifetime, InterpretersOnThreadsOutliveTheDelegate) {
  const Plugin plugin;
  const TemporaryFolder folder;
  TfLiteDelegate* delegate = plugin.CreateOnCpu({{"report", folder.path() / "report.json"}});
  std::array<std::optional<MockInterpreter>, 4> hosts;
  std::vector<std::thread> threads;
  for (auto& host : hosts) {
    host.emplace();
    const Network network(*host, /*has_unknown=*/true);
    ASSERT_EQ(host->Apply(delegate), kTfLiteOk) << host->messages();
    threads.emplace_back([&host, network] {
      for (int run = 0; run < 20; ++run) network.ExpectItWorks();
      host.reset();
    });
  }
  plugin.destroy(delegate);
  for (std::thread& thread : threads) thread.join();
}

TEST(DelegateLifetime, AnInterpreterOutlivesTheProgramsHandleOnTheLibrary) {
  std::optional<Plugin> plugin;
  plugin.emplace();
  TfLiteDelegate* delegate = plugin->CreateOnCpu();
  MockInterpreter host;
  const Network network(host);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  plugin->destroy(delegate);
  plugin.reset();
  network.ExpectItWorks();
}

}  // namespace
}  // namespace hearth::testing
