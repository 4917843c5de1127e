// Files that are known by their stamps: what a stamp tells, and that it only ever misleads a look-up.
#include "core/base/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/descriptor.h"
#include "hearth/session.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/small_disk.h"
#include "tests/testing/temporary_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::WriteFile;

constexpr int64_t kSecondNs = 1'000'000'000;
const std::string kName = std::string(64, 'a') + "/17";

std::optional<FileStamp> StampOf(const std::filesystem::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return FileStampOf(descriptor.get());
}

#define SKIP_WITHOUT_STAMPS(stamp) \
  if (!(stamp).has_value()) GTEST_SKIP() << "the folder lies in memory, or where times prove nothing"

TEST(FileStamp, ChangesWithTheFileEvenWhereItsDateIsSetBack) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model";
  WriteFile(file, "first");
  const auto before = StampOf(file);
  SKIP_WITHOUT_STAMPS(before);
  EXPECT_EQ(StampOf(file), before);
  struct stat info;
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  ::usleep(20000);  // longer than the clock's grain
  WriteFile(file, "other");
  const timespec times[] = {info.st_atim, info.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_NE(StampOf(file), before) << "the time of the last change of the inode is the system's own";
}

TEST(FileStamp, OfADateThat64BitsOfNanosecondsCannotHoldIsOfTheFuture) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model";
  WriteFile(file, "first");
  const timespec times[] = {{10'000'000'000, 0}, {10'000'000'000, 0}};  // in the year 2286
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  const auto stamp = StampOf(file);
  SKIP_WITHOUT_STAMPS(stamp);
  EXPECT_GT(stamp->modified_ns, stamp->changed_ns);
  EXPECT_FALSE(IsSettled(*stamp, stamp->changed_ns + 3600 * kSecondNs));
}

// A folder that is mounted at another place too.
class SecondMount {
 public:
  explicit SecondMount(const std::filesystem::path& folder)
      : is_mounted_(::mount(folder.c_str(), place_.path().c_str(), nullptr, MS_BIND, nullptr) == 0) {}
  ~SecondMount() {
    if (is_mounted_) ::umount(place_.path().c_str());
  }
  SecondMount(const SecondMount&) = delete;
  SecondMount& operator=(const SecondMount&) = delete;

  bool is_mounted() const { return is_mounted_; }
  bool MakeReadOnly() const {
    return ::mount("none", place_.path().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  }
  const std::filesystem::path& path() const { return place_.path(); }

 private:
  TemporaryFolder place_;
  const bool is_mounted_;
};

// Images are mounted so, and a rebuilt one may give another file the same times.
TEST(FileStamp, OnAReadOnlyMountThereIsNone) {
  const TemporaryFolder folder;
  const SecondMount mount(folder.path());
  if (!mount.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  WriteFile(folder.path() / "model", "first");
  SKIP_WITHOUT_STAMPS(StampOf(mount.path() / "model"));
  ASSERT_TRUE(mount.MakeReadOnly());
  EXPECT_FALSE(StampOf(mount.path() / "model").has_value());
}

TEST(FileStamp, OfTheSameFileOnTwoMountsDiffers) {
  const TemporaryFolder folder;
  const SecondMount mount(folder.path());
  if (!mount.is_mounted()) GTEST_SKIP() << "mounting is not allowed here";
  WriteFile(folder.path() / "model", "first");
  const auto there = StampOf(folder.path() / "model"), here = StampOf(mount.path() / "model");
  SKIP_WITHOUT_STAMPS(there);
  ASSERT_TRUE(here.has_value());
  EXPECT_EQ(there->inode, here->inode);
  EXPECT_NE(there->mount, here->mount);
}

// A page that was mapped and read is written without a fault there, and the file's times stay.
TEST(FileStamp, OnAFileSystemInMemoryThereIsNone) {
  const testing::SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  WriteFile(disk.folder() / "model", "first");
  EXPECT_FALSE(StampOf(disk.folder() / "model").has_value());
}

TEST(FileStamp, OfAFolderOrAPipeThereIsNone) {
  const TemporaryFolder folder;
  EXPECT_FALSE(StampOf(folder.path()).has_value());
  EXPECT_FALSE(FileStampOf(-1).has_value());
}

TEST(FileStamp, IsSettledOnceTheFileIsAMinuteOldAndNeverWhenItIsOfTheFuture) {
  const FileStamp stamp{1, 2, 3, 100 * kSecondNs, 50 * kSecondNs};
  EXPECT_FALSE(IsSettled(stamp, 101 * kSecondNs));
  EXPECT_FALSE(IsSettled(stamp, 159 * kSecondNs));
  EXPECT_TRUE(IsSettled(stamp, 161 * kSecondNs));
  EXPECT_FALSE(IsSettled(stamp, 99 * kSecondNs));
  EXPECT_FALSE(IsSettled(stamp, INT64_MIN / 2));
}

TEST(KnownFiles, AreRememberedFromSessionToSessionByTheWholeStamp) {
  const CacheFolder folder;
  const FileStamp stamp{1, 2, 3, 4, 5, 6};
  {
    const auto store = folder.Open();
    EXPECT_FALSE(store->names()->RecallFile(stamp).has_value());
    store->names()->RememberFile(stamp, {"f1", kName});
  }
  const auto store = folder.Open();
  const auto known = store->names()->RecallFile(stamp);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->fingerprint, "f1");
  EXPECT_EQ(known->name, kName);
  for (const FileStamp& other :
       {FileStamp{9, 2, 3, 4, 5, 6}, FileStamp{1, 9, 3, 4, 5, 6}, FileStamp{1, 2, 9, 4, 5, 6},
        FileStamp{1, 2, 3, 9, 5, 6}, FileStamp{1, 2, 3, 4, 9, 6}, FileStamp{1, 2, 3, 4, 5, 9}}) {
    EXPECT_FALSE(store->names()->RecallFile(other).has_value());
  }
}

TEST(KnownFiles, AModelWhosePlanIsNotStoredIsAmongThem) {
  const std::filesystem::path file = SourceFolder() / "tools/demo/shapes_f32.tflite";
  const auto stamp = StampOf(file);
  SKIP_WITHOUT_STAMPS(stamp);
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (!IsSettled(*stamp, int64_t{now.tv_sec} * kSecondNs)) GTEST_SKIP() << file << " was made within the last minute";
  const CacheFolder folder;
  const Result<Model> model = Model::FromFile(file.string());
  ASSERT_TRUE(model.ok()) << model.status().message();
  {
    Result<Session> session =
        Session::Create(*model, {.device = "cpu", .cache_folder = folder.path().string(), .cache_wait_ms = 60'000});
    ASSERT_TRUE(session.ok()) << session.status().message();
    const std::vector<std::byte> input(session->inputs()[0].size_bytes);
    ASSERT_TRUE(session->SetInput(0, input).ok());
    ASSERT_TRUE(session->Run().ok());
  }
  const auto store = folder.Open();
  const auto known = store->names()->RecallFile(*stamp);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->fingerprint, model->fingerprint());
  EXPECT_EQ(store->names()->RecallFingerprint(known->name), model->fingerprint());
}

// One pass over a model that lies at a new place, or in memory.
TEST(KnownFiles, AContentWithoutAStampHasItsFingerprintByItsName) {
  const CacheFolder folder;
  const std::vector<std::byte> content(5000, std::byte{7}), other(5000, std::byte{8});
  {
    const auto store = folder.Open();
    EXPECT_FALSE(store->names()->RecallFingerprint(store->NameOf(content, NameUse::kLookUp)).has_value());
    store->names()->RememberFile({}, {"f1", store->NameOf(content, NameUse::kPut)});
  }
  const auto store = folder.Open();
  EXPECT_EQ(store->names()->RecallFingerprint(store->NameOf(content, NameUse::kLookUp)), "f1");
  EXPECT_FALSE(store->names()->RecallFingerprint(store->NameOf(other, NameUse::kLookUp)).has_value());
}

TEST(KnownFiles, NothingIsRememberedOfAYoungFileOrOfAShortName) {
  const CacheFolder folder;
  const auto store = folder.Open();
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  const FileStamp young{1, 2, 3, 4, int64_t{now.tv_sec} * kSecondNs, 6}, old{1, 2, 3, 4, 5, 6};
  store->names()->RememberFile(young, {"f1", kName});
  EXPECT_FALSE(store->names()->RecallFile(young).has_value());
  const std::vector<std::byte> unseen(10);
  store->names()->RememberFile(old, {"f1", store->NameOf(unseen, NameUse::kLookUp)});
  EXPECT_FALSE(store->names()->RecallFile(old).has_value());
}

}  // namespace
}  // namespace hearth
