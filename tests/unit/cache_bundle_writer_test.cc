// Bundles that are not finished, and those that begin at the same place.
#include <csignal>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "cache/bundle_writer.h"
#include "tests/testing/carried_bundle.h"
#include "tests/testing/child_process.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(BundleWriting, OfTwoExportsToOneNameTheOneThatIsCompleteFirstStays) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    auto first = BundleWriter::Create(carried.bundle);
    auto second = BundleWriter::Create(carried.bundle);
    ASSERT_TRUE(first.ok() && second.ok());
    for (auto* writer : {&first, &second}) {
      ASSERT_TRUE((**writer)->AddTexts({writer == &first ? "the first" : "the second", "a signature"}).ok());
    }
    EXPECT_TRUE((*first)->Finish().ok());
    EXPECT_EQ((*second)->Finish().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(carried.Export().status().code(), StatusCode::kInvalidArgument) << name;
    second->reset();
    const std::string manifest =
        testing::ReadFile(fs::is_directory(carried.bundle) ? carried.manifest() : carried.bundle);
    EXPECT_NE(manifest.find("the first"), std::string::npos) << name;
    EXPECT_EQ(FilesIn(carried.parent.path()), 1u) << name;
  }
}

TEST(BundleWriting, ABundleHasItsNameOnlyWhenItIsComplete) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    const auto writer = BundleWriter::Create(carried.bundle);
    ASSERT_TRUE(writer.ok() && (*writer)->AddTexts({"manifest", "a signature"}).ok());
    EXPECT_FALSE(fs::exists(carried.bundle)) << name;
    EXPECT_TRUE((*writer)->Finish().ok());
    EXPECT_TRUE(fs::exists(carried.bundle)) << name;
    EXPECT_EQ(FilesIn(carried.parent.path()), 1u) << name;
  }
}

TEST(BundleWriting, AKilledExportLeavesTheNameToTheNextOne) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    const pid_t child = testing::StartProcess([&] {
      const auto writer = BundleWriter::Create(carried.bundle);
      if (writer.ok() && (*writer)->AddTexts({"manifest", ""}).ok()) ::raise(SIGKILL);
      return 1;
    });
    ASSERT_EQ(testing::WaitFor(child), 128 + SIGKILL) << name;
    const auto exported = carried.Export();
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    ImportRequest request = carried.Request();
    request.is_trusted = true;
    EXPECT_TRUE(ImportBundle(request).ok()) << name;
  }
}

TEST(BundleWriting, AFileThatTakesTheNameMeanwhileIsLeftAlone) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    const auto writer = BundleWriter::Create(carried.bundle);
    ASSERT_TRUE(writer.ok() && (*writer)->AddTexts({"manifest", ""}).ok());
    testing::WriteFile(carried.bundle, "mine");
    EXPECT_EQ((*writer)->Finish().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(testing::ReadFile(carried.bundle), "mine") << name;
  }
}

TEST(BundleWriting, AnEmptyFolderThatIsFilledKeepsItsMode) {
  const Carried carried;
  fs::create_directory(carried.bundle);
  ASSERT_EQ(::chmod(carried.bundle.c_str(), 0755), 0);
  ASSERT_TRUE(carried.Export().ok());
  EXPECT_EQ(fs::status(carried.bundle).permissions(), fs::perms(0755));
  EXPECT_TRUE(fs::exists(carried.manifest()));
}

TEST(BundleWriting, AnEmptyFolderThatNoOtherCanReplaceIsFilledWhereItIs) {
  const testing::SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  const Carried carried;
  ExportRequest request = carried.ExportRequestFor(std::nullopt);
  request.bundle = disk.folder();
  const auto exported = ExportBundle(request);
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_TRUE(fs::exists(disk.folder() / "manifest.txt"));
}

TEST(BundleWriting, AFolderThatIsFilledMeanwhileIsLeftAlone) {
  const Carried carried;
  auto writer = BundleWriter::Create(carried.bundle);
  ASSERT_TRUE(writer.ok());
  fs::create_directory(carried.bundle);
  testing::WriteFile(carried.bundle / "hearth.db", "another's");
  EXPECT_EQ((*writer)->AddTexts({"manifest", ""}).code(), StatusCode::kInvalidArgument);
  writer->reset();
  EXPECT_EQ(testing::ReadFile(carried.bundle / "hearth.db"), "another's");
  EXPECT_FALSE(fs::exists(carried.manifest()));
}

TEST(BundleWriting, AnUnfinishedBundleTakesTheFoldersAlongThatWereMadeForIt) {
  const CacheFolder parent;
  const auto begin = [](const fs::path& bundle) {
    const auto writer = BundleWriter::Create(bundle);
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE((*writer)->AddTexts({"manifest", ""}).ok());
    EXPECT_FALSE(fs::exists(bundle / "manifest.txt"));
  };
  begin(parent.path() / "p/q/own");
  EXPECT_TRUE(fs::is_empty(parent.path()));
  fs::create_directory(parent.path() / "p");
  begin(parent.path() / "p/q/own/");
  EXPECT_TRUE(fs::exists(parent.path() / "p") && fs::is_empty(parent.path() / "p"));
  begin(parent.path() / "p");
  EXPECT_TRUE(fs::is_empty(parent.path() / "p")) << "it was there before";
}

TEST(BundleWriting, AnExportOfADamagedStoreNamesTheRemedyAndLeavesNothing) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    testing::WriteFile(carried.source.file(), std::string(5000, 'x'));
    const Status refused = carried.Export().status();
    EXPECT_EQ(refused.code(), StatusCode::kIoError) << name;
    EXPECT_NE(refused.message().find("hearth cache verify --repair"), std::string::npos) << refused.message();
    EXPECT_TRUE(fs::is_empty(carried.parent.path())) << name;
  }
}

}  // namespace
}  // namespace hearth
