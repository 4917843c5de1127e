// Bundles that are not finished, and those that begin at the same place.
#include <csignal>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "tests/testing/carried_bundle.h"
#include "tests/testing/child_process.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;

size_t FilesIn(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(BundleWriting, OfTwoExportsToOneNameTheOneThatIsCompleteFirstStays) {
  const Carried carried;
  auto first = BundleFileWriter::Create(carried.bundle);
  auto second = BundleFileWriter::Create(carried.bundle);
  ASSERT_TRUE(first.ok() && second.ok());
  for (auto* writer : {&first, &second}) {
    ASSERT_TRUE((*writer)->AddTexts({writer == &first ? "the first" : "the second", "a signature"}).ok());
  }
  EXPECT_TRUE(first->Finish().ok());
  EXPECT_EQ(second->Finish().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(carried.Export().status().code(), StatusCode::kInvalidArgument);
  { const BundleFileWriter closed = std::move(second).value(); }
  EXPECT_NE(testing::ReadFile(carried.bundle).find("the first"), std::string::npos);
  EXPECT_EQ(FilesIn(carried.parent.path()), 1u);
}

TEST(BundleWriting, ABundleHasItsNameOnlyWhenItIsComplete) {
  const Carried carried;
  auto writer = BundleFileWriter::Create(carried.bundle);
  ASSERT_TRUE(writer.ok() && writer->AddTexts({"manifest", "a signature"}).ok());
  EXPECT_FALSE(fs::exists(carried.bundle));
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(fs::exists(carried.bundle));
  EXPECT_EQ(FilesIn(carried.parent.path()), 1u);
}

TEST(BundleWriting, AKilledExportLeavesTheNameToTheNextOne) {
  const Carried carried;
  const pid_t child = testing::StartProcess([&] {
    auto writer = BundleFileWriter::Create(carried.bundle);
    if (writer.ok() && writer->AddTexts({"manifest", ""}).ok()) ::raise(SIGKILL);
    return 1;
  });
  ASSERT_EQ(testing::WaitFor(child), 128 + SIGKILL);
  const auto exported = carried.Export();
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_TRUE(carried.ImportTrusting().ok());
}

TEST(BundleWriting, AFileThatTakesTheNameMeanwhileIsLeftAlone) {
  const Carried carried;
  auto writer = BundleFileWriter::Create(carried.bundle);
  ASSERT_TRUE(writer.ok() && writer->AddTexts({"manifest", ""}).ok());
  testing::WriteFile(carried.bundle, "mine");
  EXPECT_EQ(writer->Finish().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(testing::ReadFile(carried.bundle), "mine");
}

TEST(BundleWriting, AnExportOfADamagedStoreNamesTheRemedyAndLeavesNothing) {
  const Carried carried;
  testing::WriteFile(carried.source.file(), std::string(5000, 'x'));
  const Status refused = carried.Export().status();
  EXPECT_EQ(refused.code(), StatusCode::kIoError);
  EXPECT_NE(refused.message().find("hearth cache verify --repair"), std::string::npos) << refused.message();
  EXPECT_TRUE(fs::is_empty(carried.parent.path()));
}

}  // namespace
}  // namespace hearth
