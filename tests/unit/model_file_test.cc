#include "runtime/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/shared_data.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

class ModelFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const auto path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

  TemporaryFolder folder_;
};

TEST_F(ModelFileTest, MapsTheContentsAndFingerprintsThem) {
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->bytes().size(), 12u);
  EXPECT_EQ(std::memcmp(file->bytes().data(), "some content", 12), 0);
  EXPECT_EQ(file->ContentFingerprint().value(), FingerprintOf(std::as_bytes(std::span("some content", 12))));
}

TEST_F(ModelFileTest, ReleasedPagesLeaveMemoryAndComeBackTheSame) {
  std::string content(1 << 20, '\0');
  for (size_t k = 0; k < content.size(); ++k) content[k] = static_cast<char>(k * 31 % 251);
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", content));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Fingerprint before = FingerprintOf(file->bytes());
  const auto resident_bytes = [] {  // of all mapped files of this process; those of a tmpfs count as shared memory
    std::ifstream status("/proc/self/status");
    std::string word;
    size_t sum_bytes = 0, kilobytes = 0;
    while (status >> word) {
      if ((word == "RssFile:" || word == "RssShmem:") && status >> kilobytes) sum_bytes += kilobytes * 1024;
    }
    return sum_bytes;
  };
  const size_t touched = resident_bytes();
  file->ReleasePages(file->bytes());
  EXPECT_LT(resident_bytes() + (content.size() / 2), touched);
  EXPECT_EQ(FingerprintOf(file->bytes()), before);
  file->ReleasePages(file->bytes().subspan(5, 7));  // no whole page: nothing to do
  EXPECT_EQ(file->ContentFingerprint().value(), before);
}

TEST_F(ModelFileTest, KeepsItsBytesInPlaceWhenMoved) {
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::byte* address = file->bytes().data();
  ModelFile moved = std::move(*file);
  EXPECT_EQ(moved.bytes().data(), address);
  EXPECT_EQ(static_cast<char>(moved.bytes()[0]), 's');
}

TEST_F(ModelFileTest, AShortenedFileIsAnErrorOfWhatReadsIt) {
  const std::string path = Write("a.tflite", std::string(3 << 20, 'a'));
  Result<ModelFile> file = ModelFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::filesystem::resize_file(path, 2 << 20);
  std::vector<std::byte> memory(1 << 20);
  EXPECT_TRUE(file->ReadInto(0, memory).ok());
  for (const Status& status :
       {file->ContentFingerprint().status(), file->Hold().status(), file->ReadInto((2 << 20) - 1, memory),
        DigestsOf(file->content(), {}, WithName::kYes).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_THAT(status.message(), HasSubstr("was shortened from 3145728 to 2097152 bytes"));
  }
  EXPECT_FALSE(file->KeepInMemory({file->bytes().subspan(5, 2 << 20)}));
}

TEST_F(ModelFileTest, PagesThatNobodyWillReadAreNotHeld) {
  const std::string path = Write("a.tflite", std::string(10 * 4096, 'a'));
  Result<ModelFile> file = ModelFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto part = [&](size_t offset, size_t size) { return file->bytes().subspan(offset, size); };
  Result<HeldBytes> held = file->Hold({part(4096 * 5 + 1, 4096 * 3), part(100, 4096 * 3), part(4096, 4096)});
  ASSERT_TRUE(held.ok()) << held.status().message();
  std::ofstream(path, std::ios::binary) << std::string(10 * 4096, 'b');
  std::string pages;
  for (size_t page = 0; page < 10; ++page) pages += static_cast<char>(file->bytes()[page * 4096]);
  EXPECT_EQ(pages, "abbaaabbaa") << "a: held, b: of the file";
}

TEST_F(ModelFileTest, HeldBytesOutliveTheFilesAndReturnToItAfterwards) {
  const std::string content = std::string(1 << 20, 'a') + std::string(5000, 'b'), path = Write("a.tflite", content);
  Result<ModelFile> file = ModelFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE(file->KeepInMemory({file->bytes().subspan(4096, 10)}));
  const auto text = [&](size_t offset, size_t size) {
    return std::string(reinterpret_cast<const char*>(file->bytes().data()) + offset, size);
  };
  {
    Result<HeldBytes> held = file->Hold(), again = file->Hold();
    ASSERT_TRUE(held.ok() && again.ok()) << held.status().message() << again.status().message();
    ASSERT_TRUE(file->KeepInMemory({file->bytes().subspan(20000, 10)}));
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(text(0, content.size()), content);
    again = HeldBytes();
    EXPECT_EQ(text(0, content.size()), content);
  }
  EXPECT_EQ(text(4096, 10), "aaaaaaaaaa") << "kept before";
  EXPECT_EQ(text(20000, 10), "aaaaaaaaaa") << "kept meanwhile";
  std::ofstream(path, std::ios::binary) << std::string(content.size(), 'c');
  EXPECT_EQ(text(0, 10), "cccccccccc");
  EXPECT_EQ(text(4096, 10), "aaaaaaaaaa");
}

TEST_F(ModelFileTest, WhoeverOpensAnUnchangedFileGetsTheSameIdentity) {
  const std::string path = (SourceFolder() / "tools/demo/shapes_f32.tflite").string();
  const Result<ModelFile> one = ModelFile::Open(path), again = ModelFile::Open(path);
  ASSERT_TRUE(one.ok() && again.ok());
  if (!one->UnchangedStamp() || !IsSettledNow(*one->UnchangedStamp()))
    GTEST_SKIP() << path << " was made within the last minute, or stamps are unreliable there";
  ASSERT_TRUE(one->Identity().has_value());
  EXPECT_EQ(one->Identity(), again->Identity());
  EXPECT_NE(ModelFile::Open((SourceFolder() / "README.md").string())->Identity(), one->Identity());
}

TEST_F(ModelFileTest, AFileThatWasWrittenJustNowHasNoIdentity) {
  const Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_FALSE(file->Identity().has_value());
}

TEST_F(ModelFileTest, FilesBehindItAreReadWithTheZerosBetweenThem) {
  Write("one", "1");
  Write("two", std::string(5000, '2'));
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", std::string(4097, 'a')));
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE(file->Append({"one", "two"}).ok());
  std::vector<std::byte> memory(file->bytes().size());
  ASSERT_TRUE(file->ReadInto(0, memory).ok());
  EXPECT_TRUE(std::ranges::equal(memory, file->bytes()));
  memory.resize(4100);
  ASSERT_TRUE(file->ReadInto(4095, memory).ok());
  EXPECT_TRUE(std::ranges::equal(memory, file->bytes().subspan(4095, 4100)));
  EXPECT_EQ(file->ContentFingerprint().value(), FingerprintOf(file->bytes()));
}

TEST_F(ModelFileTest, AFileBehindItThatIsRenamedAndThenShortenedIsAnErrorOfWhatReadsIt) {
  const std::string path = Write("weights", std::string(1 << 20, 'w'));
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE(file->Append({"weights"}).ok());
  std::filesystem::rename(path, path + ".old");
  Write("weights", "another one");
  EXPECT_TRUE(file->CheckUnchanged({}).ok());
  EXPECT_TRUE(file->ContentFingerprint().ok());
  std::filesystem::resize_file(path + ".old", 5000);
  for (const Status& status : {file->CheckUnchanged({}), file->ContentFingerprint().status()}) {
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_THAT(status.message(), HasSubstr("was shortened from 1048576 to 5000 bytes"));
  }
}

TEST_F(ModelFileTest, AFileBehindItThatCantBeReachedIsNotCalledMissing) {
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::filesystem::create_symlink("loop", folder_.path() / "loop");
  const Status loop = file->Append({"loop"}).status();
  EXPECT_EQ(loop.code(), StatusCode::kNotFound);
  EXPECT_THAT(loop.message(), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(ModelFileTest, MoreFilesThanMayBeOpenLieBehindIt) {
  struct rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit lower = {128, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  std::vector<std::string> names;
  for (int k = 0; k < 200; ++k) {
    names.push_back("weights" + std::to_string(k));
    Write(names.back(), names.back());
  }
  Result<ModelFile> file = ModelFile::Open(Write("a.tflite", "some content"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Result<std::vector<ModelPart>> parts = file->Append(names);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  std::vector<std::byte> memory(file->bytes().size());
  ASSERT_TRUE(file->ReadInto(0, memory).ok());
  EXPECT_TRUE(std::ranges::equal(memory, file->bytes()));
  EXPECT_EQ(static_cast<char>(memory[parts->back().offset_bytes + 9]), '9');
}

TEST_F(ModelFileTest, AMissingFileIsNotFound) {
  const Status status = ModelFile::Open((folder_.path() / "none.tflite").string()).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("none.tflite"));
}

TEST_F(ModelFileTest, AFileUsedAsAFolderIsNotFound) {
  const std::string path = Write("file", "x") + "/model.tflite";
  EXPECT_EQ(ModelFile::Open(path).status().code(), StatusCode::kNotFound);
}

TEST_F(ModelFileTest, AnEmptyFileIsMalformed) {
  const Status status = ModelFile::Open(Write("empty.tflite", "")).status();
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_THAT(status.message(), HasSubstr("is empty"));
}

TEST_F(ModelFileTest, AFolderIsMalformed) {
  const Status status = ModelFile::Open(folder_.path().string()).status();
  EXPECT_EQ(status.code(), StatusCode::kMalformedInput);
  EXPECT_THAT(status.message(), HasSubstr("is a folder"));
}

TEST_F(ModelFileTest, ANamedPipeIsRefusedWithoutWaitingForAWriter) {
  const auto path = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ModelFile::Open(path.string()).status().code(), StatusCode::kMalformedInput);
}

TEST_F(ModelFileTest, AnUnreadableFileIsAnIoError) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const std::string path = Write("secret.tflite", "x");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(ModelFile::Open(path).status().code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace hearth
