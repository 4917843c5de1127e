// A model's file is changed in place while a session has it: calls that read it return an error, and runs go on.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "hearth/session.h"
#include "tests/testing/device_names.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int64_t kTableRows = 1 << 19;  // of 4 floats: more than the CPU copies from a file

class ChangedModel : public ::testing::TestWithParam<std::string> {
 protected:
  std::string Demo(const std::string& name) {
    const fs::path copy = folder_.path() / name;
    fs::copy_file(SourceFolder() / "tools/demo" / name, copy);
    return copy.string();
  }

  // Rows of a table in a file beside the model, chosen in a run: [1,4] of float32.
  std::string TableModel() {
    std::ofstream(folder_.path() / "table.bin", std::ios::binary)
        << std::string(static_cast<size_t>(kTableRows) * 16, '\x3f');
    OnnxGraph graph;
    graph.External("table", {kTableRows, 4}, "table.bin", 0).Input("row", {"1"}, 7);
    graph.Node("Gather", {"table", "row"}, {"y"}).Output("y");
    return Written("table.onnx", OnnxFile(graph));
  }

  std::string Written(const std::string& name, const std::string& content) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

  Result<Session> Opened(const std::string& model, const std::string& start = "ready") {
    SessionOptions options;
    options.device = GetParam();
    options.start = start;
    options.cache_folder = (folder_.path() / "cache").string();
    options.on_cache_event = [this](const CacheEvent& event) {
      if (event.kind == "plan" && !shortened_by_event_.empty())
        fs::resize_file(std::exchange(shortened_by_event_, ""), 0);
    };
    return Session::Open(model, options);
  }

  static void Overwrite(const std::string& path) {  // in place, with the same size
    const auto size = fs::file_size(path);
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << std::string(size, '\x55');
  }

  static void Touch(const std::string& path) {
    const timespec times[] = {{0, UTIME_NOW}, {1'000'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  // The first output for zeros.
  static Result<std::vector<std::byte>> Answer(Session& session) {
    const std::vector<std::byte> zeros(session.inputs()[0].size_bytes);
    if (Status set = session.SetInput(0, zeros); !set.ok()) return set;
    if (Status ran = session.Run(); !ran.ok()) return ran;
    return std::vector<std::byte>(session.output(0).begin(), session.output(0).end());
  }

  // All calls that read the file say `why`, and runs give the same bits as before.
  static void ExpectToldAndAlive(Session& session, const std::vector<std::byte>& before, const std::string& why) {
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_EQ(session.Clone().status().code(), StatusCode::kIoError);
      EXPECT_THAT(session.Clone().status().message(), HasSubstr(why));
      EXPECT_THAT(session.ResizeBatch(2).message(), HasSubstr(why));
      EXPECT_THAT(session.model().ReadMetadata().status().message(), HasSubstr(why));
      const auto after = Answer(session);
      ASSERT_TRUE(after.ok()) << after.status().message();
      EXPECT_EQ(*after, before);
      session.SaveToCache();
      EXPECT_THAT(session.report().warnings, ::testing::Contains(HasSubstr(why)));
    }
  }

  TemporaryFolder folder_;
  std::string shortened_by_event_;  // the path of a file that the next look-up of a plan shortens
};

#define OPEN_OR_SKIP(session, path)                                          \
  Result<Session> session##_opened = Opened(path);                           \
  if (session##_opened.status().code() == StatusCode::kUnavailable)          \
    GTEST_SKIP() << session##_opened.status().message();                     \
  ASSERT_TRUE(session##_opened.ok()) << session##_opened.status().message(); \
  Session session = std::move(session##_opened).value()

TEST_P(ChangedModel, AShortenedFileIsAnErrorOfTheCallAndRunsGoOn) {
  for (const std::string name : {"shapes_f32.tflite", "shapes_int8.tflite"}) {
    for (const bool is_first_start : {true, false}) {
      const std::string path = is_first_start ? Demo(name) : (folder_.path() / name).string();
      if (!is_first_start)
        fs::copy_file(SourceFolder() / "tools/demo" / name, path, fs::copy_options::overwrite_existing);
      OPEN_OR_SKIP(session, path);
      const auto before = Answer(session);
      ASSERT_TRUE(before.ok()) << before.status().message();
      fs::resize_file(path, 0);
      ExpectToldAndAlive(session, *before, "was shortened from");
    }
  }
}

// The device's weights are packed after the look-up of its plan, on another thread.
TEST_P(ChangedModel, AFileShortenedWhileADeviceIsPreparedLeavesTheCpusAnswers) {
  if (GetParam() == "cpu") GTEST_SKIP() << "the CPU is no other device";
  for (const std::string name : {"shapes_f32.tflite", "shapes_int8.tflite"}) {
    const std::string path = Demo(name);
    shortened_by_event_ = path;
    Result<Session> session = Opened(path, "hot");
    ASSERT_TRUE(session.ok()) << session.status().message();
    const auto before = Answer(*session);
    ASSERT_TRUE(before.ok()) << before.status().message();
    const Status status = session->WaitForDevice();
    if (status.code() == StatusCode::kUnavailable) GTEST_SKIP() << status.message();
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_THAT(status.message(), HasSubstr("was shortened from"));
    ExpectToldAndAlive(*session, *before, "was shortened from");
  }
}

TEST_P(ChangedModel, AnOverwrittenFileIsToldAndNothingOfItIsKept) {
  const std::string path = Demo("shapes_int8.tflite");
  {
    OPEN_OR_SKIP(session, path);
    const auto before = Answer(session);
    ASSERT_TRUE(before.ok()) << before.status().message();
    Overwrite(path);
    ExpectToldAndAlive(session, *before, "was overwritten");
  }
  fs::remove(path);
  OPEN_OR_SKIP(session, Demo("shapes_int8.tflite"));
  ASSERT_TRUE(Answer(session).ok());
  EXPECT_TRUE(session.report().warnings.empty());
}

TEST_P(ChangedModel, ATouchedFileAndOneThatAnotherWasRenamedOverStayWhatTheyWere) {
  const std::string path = Demo("shapes_int8.tflite");
  OPEN_OR_SKIP(session, path);
  const auto before = Answer(session);
  ASSERT_TRUE(before.ok()) << before.status().message();
  Touch(path);
  EXPECT_TRUE(session.Clone().ok()) << session.Clone().status().message();
  fs::rename(Written("other", "no model"), path);
  Result<Session> clone = session.Clone();
  ASSERT_TRUE(clone.ok()) << clone.status().message();
  EXPECT_EQ(Answer(*clone).value(), *before);
  session.SaveToCache();
  EXPECT_TRUE(session.report().warnings.empty());
}

TEST_P(ChangedModel, AShortenedFileBesideTheModelIsTold) {
  const std::string path = TableModel();
  OPEN_OR_SKIP(session, path);
  const auto before = Answer(session);
  ASSERT_TRUE(before.ok()) << before.status().message();
  fs::resize_file(folder_.path() / "table.bin", 0);
  EXPECT_THAT(session.Clone().status().message(), HasSubstr("table.bin' was shortened from"));
  session.SaveToCache();
  EXPECT_THAT(session.report().warnings, ::testing::Contains(HasSubstr("table.bin' was shortened from")));
  const auto after = Answer(session);
  if (GetParam() == "cpu") {  // reads the table where it lies
    EXPECT_EQ(after.status().code(), StatusCode::kIoError);
    EXPECT_THAT(after.status().message(), HasSubstr("table.bin' was shortened from"));
  } else {
    ASSERT_TRUE(after.ok()) << after.status().message();
    EXPECT_EQ(*after, *before);
  }
}

INSTANTIATE_TEST_SUITE_P(, ChangedModel, ::testing::ValuesIn(testing::DeviceNames()),
                         [](const auto& info) { return info.param; });

TEST(ChangedModelBeforeASession, IsAnErrorOfCreate) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model.tflite";
  fs::copy_file(SourceFolder() / "tools/demo/shapes_f32.tflite", path);
  const Result<Model> model = Model::FromFile(path.string());
  ASSERT_TRUE(model.ok()) << model.status().message();
  fs::resize_file(path, 4096);
  SessionOptions options;
  options.device = "cpu";
  options.cache_folder = (folder.path() / "cache").string();
  const Status status = Session::Create(*model, options).status();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_THAT(status.message(), HasSubstr("was shortened from 331404 to 4096 bytes"));
  EXPECT_EQ(model->fingerprint(), "");
}

}  // namespace
}  // namespace hearth
