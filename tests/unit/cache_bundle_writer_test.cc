// Bundles that are not finished, and those that begin at the same place.
#include "cache/bundle_writer.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;

TEST(BundleWriting, OfTwoExportsIntoOneFolderOneFailsAndLeavesTheOtherAlone) {
  const Carried carried;
  const auto first = BundleWriter::Create(carried.bundle);
  auto second = BundleWriter::Create(carried.bundle);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE((*first)->AddTexts({"the first", "a signature"}).ok());
  EXPECT_EQ((*second)->AddTexts({"the second", ""}).code(), StatusCode::kInvalidArgument);
  second->reset();
  EXPECT_EQ(carried.Export().status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE((*first)->Finish().ok());
  EXPECT_EQ(testing::ReadFile(carried.manifest()), "the first");
  EXPECT_TRUE(fs::exists(carried.bundle / "hearth.db"));
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
    EXPECT_TRUE(fs::exists(bundle / "manifest.txt"));
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
