// Every single-operator model on every kind of device against the LiteRT interpreter's answers.
//
// Opening a device and compiling programs costs more than all the arithmetic here, so the models of a family run as one
// network; one that fails as a whole is halved until the culprits have names.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "hearth/hearth.h"
#include "runtime/devices/device_choice.h"
#include "runtime/model/model_data.h"
#include "tests/oracle/answers.h"
#include "tests/oracle/merged_model.h"
#include "tests/testing/device_names.h"
#include "tests/testing/op_from_text.h"
#include "tests/testing/oracle_models.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"

namespace hearth::oracle {
namespace {

std::set<std::string> Families() {
  std::set<std::string> families;
  for (const OracleModel& model : ListOracleModels()) families.insert(model.family);
  return families;
}

// Lines of expected_failures.txt: model, device, * or gpu (all but the CPU), reason. Reasons by model.
std::map<std::string, std::string> ExpectedFailures(const std::string& device) {
  std::map<std::string, std::string> reasons;
  std::ifstream file(SourceFolder() / "tests/oracle/expected_failures.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string model, where, reason;
    words >> model >> where;
    std::getline(words >> std::ws, reason);
    const bool is_meant = where == "*" || where == device || (where == "gpu" && device != "cpu");
    if (model.empty() || model[0] == '#' || !is_meant) continue;
    reasons[model + ".tflite"] = reason;
  }
  return reasons;
}

// Whether no device has a kernel for the operation.
bool IsMeantForTheCpu(const std::string& name) {
  return std::ranges::any_of(NamedOps(),
                             [&](const Op& op) { return OpName(op) == name && OpDefOf(op).lower == nullptr; });
}

struct ReadableModel {
  const AnsweredModel* answered;
  Model model;
  const Graph& graph() const { return model.data().graph; }
};
using ModelList = std::span<const ReadableModel* const>;

// Runs models on one device and remembers what is wrong with which.
class FamilyRun {
 public:
  explicit FamilyRun(std::string device) : device_(std::move(device)) {}

  // What failed, by file.
  std::map<std::string, std::string> Run(const std::vector<AnsweredModel>& models) {
    std::map<int, std::vector<const ReadableModel*>> by_runs;
    for (const AnsweredModel& answered : models) {
      if (const ReadableModel* readable = Read(answered)) by_runs[answered.runs].push_back(readable);
    }
    for (const auto& [runs, list] : by_runs) RunOrHalve(list);
    return std::move(failures_);
  }

 private:
  void Fail(const AnsweredModel& model, const std::string& why) { failures_.try_emplace(model.file, why); }

  // Null, and a failure, when the file cannot be read or holds something that nothing can run.
  const ReadableModel* Read(const AnsweredModel& answered) {
    const Result<std::span<const std::byte>> content = archive_.Find(answered.file);
    if (!content.ok()) return Fail(answered, content.status().message()), nullptr;
    Result<Model> model = Model::FromMemory(*content, answered.file);
    if (!model.ok()) return Fail(answered, model.status().message()), nullptr;
    for (const Node& node : model->data().graph.nodes()) {
      const auto* unknown = std::get_if<UnknownOp>(&node.op);
      if (unknown != nullptr) return Fail(answered, unknown->name + " is not known in this form"), nullptr;
    }
    Graph graph = model->data().graph.Clone();
    const Status inferred = InferShapes(graph);
    if (!inferred.ok()) return Fail(answered, inferred.message()), nullptr;
    readable_.push_back(std::make_unique<ReadableModel>(ReadableModel{&answered, std::move(model).value()}));
    return readable_.back().get();
  }

  void RunOrHalve(ModelList list) {
    const Status status = RunTogether(list);
    if (status.ok()) return;
    if (list.size() == 1) return Fail(*list[0]->answered, status.message());
    RunOrHalve(list.first(list.size() / 2));
    RunOrHalve(list.subspan(list.size() / 2));
  }

  Status RunTogether(ModelList list) {
    std::vector<const Graph*> graphs;
    for (const ReadableModel* item : list) graphs.push_back(&item->graph());
    const Model merged = MergeGraphs(graphs);
    SessionOptions options{.device = device_, .use_cache = false};
    options.rules = "+device_detections";  // what only GPUs do otherwise
    Result<Session> session = Session::Create(merged, options);
    if (!session.ok()) return session.status();
    for (int run = 0; run < list[0]->answered->runs; ++run) {
      size_t index = 0;
      for (const ReadableModel* item : list) {
        for (const std::vector<std::byte>& input : item->answered->inputs) {
          const Status set = session->SetInput(index++, input);
          if (!set.ok()) return set;
        }
      }
      const Status ran = session->Run();
      if (!ran.ok()) return ran;
    }
    Judge(list, *session);
    return Status::Ok();
  }

  void Judge(ModelList list, const Session& session) {
    size_t index = 0;
    for (const ReadableModel* item : list) {
      for (size_t k = 0; k < item->answered->outputs.size(); ++k) {
        const std::string why = Disagreement(*item->answered, k, session.output(index++));
        if (!why.empty()) Fail(*item->answered, why);
      }
    }
    for (const OperatorFallback& fallback : session.report().ops.fallbacks) {
      if (IsMeantForTheCpu(fallback.op)) continue;
      Fail(*list[fallback.index]->answered, fmt::format("{} runs on the CPU: {}", fallback.op, fallback.reason));
    }
  }

  std::string device_;
  OracleArchive archive_;
  std::vector<std::unique_ptr<ReadableModel>> readable_;
  std::map<std::string, std::string> failures_;
};

// PoCL compiles what the other APIs run too, for four times as long: a third of the models, all in
// Oracle.EveryModelOnOpenCl.
std::vector<AnsweredModel> SampleFor(const std::string& device, std::vector<AnsweredModel> models) {
  if (device != "opencl") return models;
  size_t index = 0;
  std::erase_if(models, [&](const AnsweredModel&) { return !testing::IsInSample(index++, 3); });
  return models;
}

class OracleFamily : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(OracleFamily, GivesWhatTheLiteRtInterpreterGives) {
  const auto& [family, device] = GetParam();
  const std::filesystem::path answers = HEARTH_ORACLE_ANSWERS;
  if (!std::filesystem::exists(answers / "expected.json")) {
    std::ifstream reason(answers / "unavailable.txt");
    std::string why = "run ctest, whose test Oracle.SetUp asks the interpreter";
    std::getline(reason, why);
    GTEST_SKIP() << "no answers of the LiteRT interpreter: " << why;
  }
  if (const std::string why = ChooseDevices(device).status().message(); !why.empty()) GTEST_SKIP() << why;
  const std::vector<AnsweredModel> models = SampleFor(device, ReadAnswers(answers, family));
  const std::map<std::string, std::string> expected = ExpectedFailures(device);
  const std::map<std::string, std::string> failures = FamilyRun(device).Run(models);
  for (const AnsweredModel& model : models) {
    const auto failure = failures.find(model.file);
    const auto listed = expected.find(model.file);
    if (failure != failures.end() && listed == expected.end()) {
      ADD_FAILURE() << model.file << " (" << model.shows << "): " << failure->second;
    } else if (failure == failures.end() && listed != expected.end()) {
      ADD_FAILURE() << model.file << " is listed in expected_failures.txt (" << listed->second
                    << ") but passes: take it off the list";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OracleFamily,
                         ::testing::Combine(::testing::ValuesIn(Families()),
                                            ::testing::ValuesIn(testing::DeviceNames())),
                         [](const auto& info) { return std::get<0>(info.param) + "_on_" + std::get<1>(info.param); });

}  // namespace
}  // namespace hearth::oracle
