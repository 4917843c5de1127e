// The conformance suite's own promises: that it can fail, and that its lists and reports say what is so.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "backends/cpu/backend.h"
#include "backends/null/device.h"
#include "conformance/case_result.h"
#include "conformance/expectations.h"
#include "conformance/journal.h"
#include "conformance/report.h"
#include "conformance/selection.h"
#include "conformance/suite.h"
#include "conformance/tolerance.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/device_names.h"
#include "tests/testing/temporary_folder.h"

namespace hearth::conformance {
namespace {

using ::testing::HasSubstr;

std::vector<ConformanceCase> CasesOf(const std::string& op) {
  std::vector<ConformanceCase> cases = AllCases();
  std::erase_if(cases, [&](const ConformanceCase& test) { return test.op != op; });
  return cases;
}

TEST(Conformance, ARunThatWasStoppedDoesNotLookWhole) {
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  int asked = 0;
  const DeviceResults stopped =
      RunCases("cpu", *cpu, cpu->info(), AllCases(), {.is_stopped = [&] { return ++asked > 3; }});
  EXPECT_GT(stopped.cases.size(), 0u);
  EXPECT_LT(stopped.cases.size(), stopped.cases_total);
  const std::string count = fmt::format("stopped after {} of {} cases", stopped.cases.size(), stopped.cases_total);
  EXPECT_THAT(FailuresText(stopped), HasSubstr(count));
  const std::vector<DeviceResults> all = {stopped};
  EXPECT_THAT(MatrixHtml(all), HasSubstr(count));
  EXPECT_THAT(JUnitXml(all), HasSubstr("name=\"interrupted\" value=\"true\""));
}

TEST(Conformance, HasManyCasesAndNoTwoOfOneName) {
  const std::vector<ConformanceCase> cases = AllCases();
  std::set<std::string> ids;
  for (const ConformanceCase& test : cases) EXPECT_TRUE(ids.insert(test.id()).second) << test.id();
  EXPECT_GE(ids.size(), 400u);
}

template <size_t... Indices>
std::vector<const OpDef*> AllOperations(std::index_sequence<Indices...> /*all*/) {
  return {&OpDefOf(Op(std::variant_alternative_t<Indices, OpVariant>()))...};
}

TEST(Conformance, HasACaseOfEveryOperationThatAKernelComputes) {
  CaseBatch batch;
  for (const ConformanceCase& test : AllCases()) {
    const std::string id = test.id();
    CaseGraph graph(batch, id);
    test.build(graph);
  }
  std::set<size_t> built;
  for (const Node& node : batch.graph.nodes()) built.insert(node.op.index());
  for (const OpDef* def : AllOperations(std::make_index_sequence<std::variant_size_v<OpVariant>>())) {
    // Software drivers leave it to the CPU: tests/kernels/detection_kernels_test.cc runs its kernels on all of them.
    if (def->name == "TFLite_Detection_PostProcess") continue;
    EXPECT_TRUE(def->lower == nullptr || built.contains(def->index)) << def->name;
  }
}

TEST(Conformance, PassesOnTheCpu) {
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  const DeviceResults results = RunCases("cpu", *cpu, cpu->info(), CasesOf("softmax"));
  EXPECT_EQ(results.Count(Outcome::kPassed), static_cast<int>(results.cases.size())) << FailuresText(results);
}

TEST(Conformance, TellsHowFarItIsBeforeEachFamilyAndAtTheEnd) {
  std::vector<ConformanceCase> cases = CasesOf("softmax");
  std::erase_if(cases, [](const ConformanceCase& test) { return test.family != "softmax"; });
  const size_t first_count = cases.size();
  for (ConformanceCase& test : CasesOf("l2_normalization")) {
    if (test.family == test.op) cases.push_back(std::move(test));
  }
  std::vector<std::string> told;
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  const auto observer = [&](size_t done, size_t total, const std::string& next) {
    told.push_back(fmt::format("{}/{} {}", done, total, next));
  };
  RunCases("cpu", *cpu, cpu->info(), cases, {.observer = observer});
  EXPECT_THAT(told, ::testing::ElementsAre(fmt::format("0/{} softmax, host", cases.size()),
                                           fmt::format("{}/{} l2_normalization, host", first_count, cases.size()),
                                           fmt::format("{0}/{0} ", cases.size())));
}

// The kernels for it exist, so no list names it; the CPU must not pass it in the device's place.
TEST(Conformance, ACaseThatALimitOfTheDeviceForbidsIsUnsupportedWithTheReason) {
  DeviceInfo info = NullDeviceInfo();
  info.local_memory_bytes = 0;
  NullDevice device(info);
  const DeviceResults results = RunCases("null", device, info, CasesOf("softmax"));
  ASSERT_GT(results.cases.size(), 1u);
  EXPECT_EQ(results.Count(Outcome::kUnsupported), static_cast<int>(results.cases.size())) << FailuresText(results);
  EXPECT_THAT(results.cases[0].detail, HasSubstr("bytes of local memory"));
  EXPECT_THAT(FailuresText(results), HasSubstr("unsupported: kernel softmax needs"));
}

// Else a driver that is left out of everything would look like one that is right.
TEST(Conformance, SaysThatNothingIsKnownWhereNoCasePassed) {
  DeviceResults results;
  results.device = "null";
  EXPECT_EQ(NothingPassedText(results), "") << "no case was wanted";
  results.cases.resize(2);
  results.cases[0].outcome = results.cases[1].outcome = Outcome::kUnsupported;
  EXPECT_THAT(NothingPassedText(results), HasSubstr("null: none of 2 cases passed and 2 are unsupported"));
  results.cases[1].outcome = Outcome::kExpectedFailure;
  EXPECT_NE(NothingPassedText(results), "");
  results.cases[1].outcome = Outcome::kPassed;
  EXPECT_EQ(NothingPassedText(results), "");
  results.cases = {{.op = "neg", .name = "rank_1", .outcome = Outcome::kFailed}};
  EXPECT_EQ(NothingPassedText(results), "") << "failures say it themselves";
}

TEST(Conformance, FailsOnADeviceThatComputesNothing) {
  NullDevice device(NullDeviceInfo());
  const DeviceResults results = RunCases("null", device, device.info(), CasesOf("conv_2d"));
  for (const CaseResult& result : results.cases) {
    EXPECT_NE(result.outcome, Outcome::kPassed)
        << result.id() << " off by " << result.worst_error << ", allowed " << result.tolerance;
  }
  EXPECT_GT(results.Count(Outcome::kFailed), 100);
}

TEST(Conformance, RunsCaseByCaseWhenAFamilyFailsAsAWhole) {
  DeviceInfo narrow = NullDeviceInfo();
  narrow.max_group_count = {65535, 1, 65535};  // one group of 8 lines: too few for the tall cases only
  NullDevice device(narrow);
  // Lowering is told of a wider device: what it makes is then refused by this one.
  const DeviceResults results = RunCases("null", device, NullDeviceInfo(), CasesOf("resize_bilinear"));
  const auto refused = std::count_if(results.cases.begin(), results.cases.end(), [](const CaseResult& result) {
    return result.detail.find("work groups") != std::string::npos;
  });
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, static_cast<int64_t>(results.cases.size()));
}

TEST(Conformance, AWaiverExpectsAFailureAndFailsWhereTheCasePasses) {
  NullDevice nothing(NullDeviceInfo());
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  const std::vector<std::string> lines = {"softmax/*: a known bug"};
  const std::vector<Expectation> waivers = ParseExpectations(lines).value();
  const std::vector<ConformanceCase> cases = CasesOf("softmax");
  const DeviceResults wrong = RunCases("null", nothing, nothing.info(), cases, {.waivers = waivers});
  EXPECT_EQ(wrong.Count(Outcome::kFailed), 0) << FailuresText(wrong);
  EXPECT_GT(wrong.Count(Outcome::kExpectedFailure), 0);
  EXPECT_THAT(wrong.cases.front().detail, HasSubstr("(a known bug)"));
  const DeviceResults right = RunCases("cpu", *cpu, cpu->info(), cases, {.waivers = waivers});
  EXPECT_EQ(right.Count(Outcome::kFailed), static_cast<int>(right.cases.size()));
  EXPECT_THAT(right.cases.front().detail, HasSubstr("take it off the list"));
}

TEST(Conformance, AFailureSaysHowManyElementsAreWrong) {
  NullDevice nothing(NullDeviceInfo());
  const DeviceResults results = RunCases("null", nothing, nothing.info(), CasesOf("softmax"));
  EXPECT_THAT(FailuresText(results), HasSubstr(" elements are wrong; element "));
}

TEST(Conformance, AFailedCaseIsWrittenAsFilesThatTellWhatTheDriverWasGiven) {
  NullDevice nothing(NullDeviceInfo());
  const TemporaryFolder folder;
  const DeviceResults results =
      RunCases("null:0", nothing, nothing.info(), CasesOf("softmax"), {.failures_folder = folder.path().string()});
  size_t written = 0;
  for (const CaseResult& result : results.cases) {
    if (result.outcome != Outcome::kFailed) continue;
    const size_t at = result.detail.find("; its files are in ");
    ASSERT_NE(at, std::string::npos) << result.detail;
    const std::filesystem::path files = result.detail.substr(at + std::string("; its files are in ").size());
    const std::string about = testing::ReadFile(files / "case.json");
    EXPECT_THAT(about, HasSubstr("\"case\": \"" + result.id() + "\""));
    EXPECT_THAT(about, HasSubstr("\"defines\": {"));
    EXPECT_THAT(testing::ReadFile(files / "kernel_0.cl"), HasSubstr("softmax"));
    EXPECT_THAT(testing::ReadFile(files / "graph.txt"), HasSubstr("softmax"));
    EXPECT_THAT(testing::ReadFile(files / "replay.sh"),
                HasSubstr("hearth conformance --device null:0 --filter '" + result.id() + "'"));
    const auto bytes = [&](const char* name) { return std::filesystem::file_size(files / name); };
    EXPECT_EQ(bytes("expected.bin"), bytes("found.bin"));
    EXPECT_GT(bytes("input_0.bin"), 0u);
    ++written;
  }
  EXPECT_GT(written, 0u);
  const std::string file = folder.path() / "file";
  testing::WriteFile(file, "");
  const DeviceResults refused =
      RunCases("null:0", nothing, nothing.info(), CasesOf("softmax"), {.failures_folder = file});
  EXPECT_THAT(FailuresText(refused), HasSubstr("; not written: "));
}

TEST(Journal, ARunThatWasStoppedGoesOnWhereItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "journal";
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  std::vector<ConformanceCase> cases = CasesOf("softmax");
  std::ranges::move(CasesOf("l2_normalization"), std::back_inserter(cases));
  std::vector<std::string> ran;
  const auto run = [&](int families) {
    Journal journal = Journal::Open(path).value();
    std::vector<ConformanceCase> noted = cases;
    for (ConformanceCase& test : noted) {
      test.build = [&ran, id = test.id(), build = test.build](CaseGraph& graph) {
        ran.push_back(id);
        return build(graph);
      };
    }
    return RunCases("cpu", *cpu, cpu->info(), noted,
                    {.is_stopped = [&families] { return families-- == 0; }, .journal = &journal});
  };
  const DeviceResults stopped = run(1);
  EXPECT_TRUE(stopped.was_stopped);
  const std::vector<std::string> first = std::exchange(ran, {});
  const DeviceResults whole = run(100);
  EXPECT_EQ(whole.cases.size(), cases.size());
  EXPECT_EQ(whole.Count(Outcome::kPassed), static_cast<int>(cases.size())) << FailuresText(whole);
  for (const std::string& id : ran) EXPECT_THAT(first, ::testing::Not(::testing::Contains(id)));
  ran.clear();
  EXPECT_EQ(run(100).Count(Outcome::kPassed), static_cast<int>(cases.size()));
  EXPECT_THAT(ran, ::testing::IsEmpty());
}

TEST(Journal, ThatCantBeWrittenOrIsADeviceIsAnError) {
  EXPECT_EQ(Journal::Open("/dev/null").status().code(), StatusCode::kMalformedInput);
  const TemporaryFolder folder;
  Journal journal = Journal::Open(folder.path() / "journal").value();
  struct rlimit limit, nothing = {0, RLIM_INFINITY};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(prlimit(0, RLIMIT_FSIZE, &nothing, &limit), 0);
  journal.Note(Journal::Word::kPassed, "case");
  ASSERT_EQ(prlimit(0, RLIMIT_FSIZE, &limit, nullptr), 0);
  EXPECT_EQ(journal.status().code(), StatusCode::kIoError);
}

TEST(Journal, ACaseThatEndedTheProcessIsRunAloneAndThenAFailure) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "journal";
  const std::unique_ptr<Device> cpu = OpenCpu({}).value();
  const std::vector<ConformanceCase> cases = CasesOf("softmax");
  const auto key_of = [&](size_t k) { return JournalKey("cpu", cpu->info(), "host", cases[k].id()); };
  Journal::Open(path)->Note(Journal::Word::kAlone, key_of(0));
  Journal::Open(path)->Note(Journal::Word::kTogether, key_of(1));
  testing::WriteFile(path, testing::ReadFile(path) + "toge");  // cut short as the process died
  Journal journal = Journal::Open(path).value();
  const DeviceResults results = RunCases("cpu", *cpu, cpu->info(), cases, {.journal = &journal});
  EXPECT_EQ(results.cases.size(), cases.size());
  EXPECT_EQ(results.Count(Outcome::kFailed), 1) << FailuresText(results);
  EXPECT_THAT(FailuresText(results), HasSubstr("the process died"));
  const Journal later = Journal::Open(path).value();
  EXPECT_EQ(later.LastOf(key_of(0)), Journal::Word::kAlone);
  EXPECT_EQ(later.LastOf(key_of(1)), Journal::Word::kPassed);
  EXPECT_EQ(later.LastOf("another driver"), Journal::Word::kRan);
  testing::WriteFile(path, "<xml/>");
  EXPECT_THAT(Journal::Open(path).status().message(), HasSubstr("is no journal"));
}

TEST(Selection, TakesWhatFitsAnyFilterAndNoExclusion) {
  Selection selection{.filters = {"softmax", "add/*", "hal/*Texel*"}, .excluded = {"softmax/*5*", "add/3x5_5_none"}};
  ASSERT_TRUE(selection.Check().ok());
  const std::vector<ConformanceCase> cases = selection.Cases();
  EXPECT_FALSE(cases.empty());
  for (const ConformanceCase& test : cases) {
    EXPECT_TRUE(test.op == "softmax" || test.op == "add") << test.id();
    EXPECT_NE(test.id(), "add/3x5_5_none");
  }
  for (const DeviceCase& test : selection.ChecksOfDevices()) EXPECT_THAT(test.name, HasSubstr("Texel"));
  EXPECT_EQ(Selection{.filters = {"hal"}}.Cases().size(), 0u);
}

TEST(Selection, ShardsTogetherAreAllCasesOnce) {
  size_t cases = 0, checks = 0;
  for (int shard = 1; shard <= 5; ++shard) {
    const Selection part{.shard = shard, .shards = 5};
    EXPECT_LT(part.Cases().size(), AllCases().size() / 2);
    cases += part.Cases().size();
    checks += part.ChecksOfDevices().size();
  }
  EXPECT_EQ(cases, AllCases().size());
  EXPECT_EQ(checks, DeviceCases().size());
}

TEST(Selection, AShardIsOneOfSoMany) {
  Selection selection;
  ASSERT_TRUE(ParseShard("2/8", selection).ok());
  EXPECT_EQ(selection.shard, 2);
  EXPECT_EQ(selection.shards, 8);
  for (const char* text : {"", "2", "0/8", "9/8", "2/8x", "-1/2", "2/", "/8", "1/-1", "1/99999999999"}) {
    EXPECT_FALSE(ParseShard(text, selection).ok()) << text;
  }
}

TEST(Selection, AnUnknownNameIsAnErrorWithTheNearestOne) {
  EXPECT_THAT(Selection{.filters = {"conv2d"}}.Check().message(), HasSubstr("did you mean 'conv_2d'?"));
  EXPECT_THAT(Selection{.excluded = {"nothing_like_it"}}.Check().message(),
              HasSubstr("no case fits 'nothing_like_it'; `hearth"));
}

TEST(Selection, AListHasALineForEachAndRemarks) {
  EXPECT_THAT(ListedLines("# all\n conv_2d \r\n\nadd/scalar # slow\nadd/a#b"),
              ::testing::ElementsAre("conv_2d", "add/scalar", "add/a#b"));
}

TEST(Selection, AnExpectedFailureHasAReasonACaseAndPerhapsAPath) {
  const std::vector<std::string> lines = {"add/3x5_5_none [texel fp16]: rounds down", "softmax/*: a bug"};
  const std::vector<Expectation> expected = ParseExpectations(lines).value();
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[0].cases, "add/3x5_5_none");
  EXPECT_EQ(expected[0].path, "texel fp16");
  EXPECT_EQ(expected[0].reason, "rounds down");
  EXPECT_EQ(expected[1].path, "");
  EXPECT_EQ(ParseExpectations({"add/3x5_5_none"}).status().code(), StatusCode::kMalformedInput);
  EXPECT_EQ(ParseExpectations({"ad/scalar: a bug"}).status().code(), StatusCode::kNotFound);
}

TEST(Conformance, EveryExpectationFitsACase) {
  const std::vector<ConformanceCase> cases = AllCases();
  for (const std::string& backend : testing::DeviceNames()) {
    for (const auto& list : {Unsupported(backend), ExpectedFailures(backend)}) {
      for (const Expectation& expectation : list) {
        EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const ConformanceCase& test) {
          return MatchesGlob(test.id(), expectation.cases);
        })) << expectation.cases;
      }
    }
  }
}

TEST(Tolerance, IsZeroForMovedNumbers) {
  const double reference[] = {1.0, 2.0};
  const double off_by_one_ulp[] = {1.0, std::nextafter(2.0f, 3.0f)};
  const Judgement judgement = Judge({}, reference, off_by_one_ulp);
  EXPECT_FALSE(judgement.ok());
  EXPECT_EQ(judgement.worst_index, 1u);
}

TEST(Tolerance, GrowsWithTheTermsOfASumButFarBelowOneOfThem) {
  const double reference[] = {3.0};
  EXPECT_LT(Tolerance({9, 2}, reference), Tolerance({900, 2}, reference));
  EXPECT_LT(Tolerance({900, 2}, reference), 0.01);  // products are around 0.3
}

TEST(Tolerance, ANumberThatIsNotFiniteIsNeverClose) {
  const double reference[] = {1.0};
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(Judge({1000000, 1e9}, reference, {&bad, 1}).ok()) << bad;
  }
}

DeviceResults OneOfEach() {
  DeviceResults results;
  results.device = "vulkan:0";
  results.info.name = "A <device> & \"more\"";
  results.cases = {{"add", "equal", "buffer", Outcome::kPassed, "", true, 1e-7, 1e-6, 0.5},
                   {"add", "scalar", "buffer", Outcome::kFailed, "off <by> 1", true, 1.0, 1e-6, 0.5},
                   {"pad", "rank5", "buffer", Outcome::kUnsupported, "no kernel"}};
  return results;
}

TEST(ConformanceReport, NamesEachFailureAndSumsUp) {
  const std::string text = FailuresText(OneOfEach());
  EXPECT_THAT(text, HasSubstr("FAILED vulkan:0 add/scalar [buffer]: off <by> 1\n"));
  EXPECT_THAT(text, HasSubstr("3 cases, 1 passed, 1 failed, 1 unsupported"));
}

TEST(ConformanceReport, JUnitCountsAndEscapes) {
  const DeviceResults results = OneOfEach();
  const std::string xml = JUnitXml({&results, 1});
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"1\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"off &lt;by&gt; 1\"/>"));
  EXPECT_THAT(xml, HasSubstr("<property name=\"device\" value=\"A &lt;device&gt; &amp; &quot;more&quot;\"/>"));
}

TEST(ConformanceReport, HtmlHasARowPerOperationAndEscapesNames) {
  const DeviceResults results = OneOfEach();
  const std::string html = MatrixHtml({&results, 1});
  EXPECT_THAT(html, HasSubstr("A &lt;device&gt; &amp; &quot;more&quot;"));
  EXPECT_THAT(html, HasSubstr("<th>pad</th>"));
  EXPECT_THAT(html, HasSubstr("1 of 2 passed"));
}

}  // namespace
}  // namespace hearth::conformance
