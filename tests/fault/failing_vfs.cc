#include "tests/testing/failing_vfs.h"

#include <sqlite3.h>

#include <cerrno>
#include <mutex>
#include <utility>

namespace hearth::testing {
namespace {

struct Fault {
  FaultKind kind = FaultKind::kIoError;
  int first = 0;  // 0: none
  bool lasts = false;
  int calls = 0, failures = 0;
};
std::function<void()> before_opening;
std::mutex fault_mutex;
Fault fault;

bool Fails(FaultKind kind) {
  const std::scoped_lock lock(fault_mutex);
  if (fault.first == 0 || fault.kind != kind) return false;
  ++fault.calls;
  if (fault.calls != fault.first && !(fault.lasts && fault.calls > fault.first)) return false;
  ++fault.failures;
  return true;
}

sqlite3_vfs* RealVfs() {
  static sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);  // asked for before ours becomes the default
  return real;
}

// sqlite allocates szOsFile bytes for each: ours, and behind it the real one's.
struct File {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File* FileOf(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}
const sqlite3_io_methods& Real(sqlite3_file* file) {
  return *FileOf(file)->real()->pMethods;
}

int Close(sqlite3_file* file) {
  return Real(file).xClose(FileOf(file)->real());
}
int Read(sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_READ;
  if (Fails(FaultKind::kMisread)) return SQLITE_IOERR_CORRUPTFS;
  return Real(file).xRead(FileOf(file)->real(), bytes, count, offset);
}
int Write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (Fails(FaultKind::kDiskFull)) {
    // A full disk takes a part.
    Real(file).xWrite(FileOf(file)->real(), bytes, count / 2, offset);
    return SQLITE_FULL;
  }
  if (Fails(FaultKind::kQuota)) {
    errno = EDQUOT;
    return SQLITE_IOERR_WRITE;
  }
  if (Fails(FaultKind::kFileTooBig)) return SQLITE_IOERR_WRITE;
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_WRITE;
  return Real(file).xWrite(FileOf(file)->real(), bytes, count, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_TRUNCATE;
  return Real(file).xTruncate(FileOf(file)->real(), size);
}
int Sync(sqlite3_file* file, int flags) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_FSYNC;
  return Real(file).xSync(FileOf(file)->real(), flags);
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_FSTAT;
  return Real(file).xFileSize(FileOf(file)->real(), size);
}
int Lock(sqlite3_file* file, int level) {
  if (Fails(FaultKind::kLocked)) return SQLITE_BUSY;
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_LOCK;
  return Real(file).xLock(FileOf(file)->real(), level);
}
int Unlock(sqlite3_file* file, int level) {
  return Real(file).xUnlock(FileOf(file)->real(), level);
}
int CheckReservedLock(sqlite3_file* file, int* result) {
  return Real(file).xCheckReservedLock(FileOf(file)->real(), result);
}
int FileControl(sqlite3_file* file, int op, void* argument) {
  return Real(file).xFileControl(FileOf(file)->real(), op, argument);
}
int SectorSize(sqlite3_file* file) {
  return Real(file).xSectorSize(FileOf(file)->real());
}
int DeviceCharacteristics(sqlite3_file* file) {
  return Real(file).xDeviceCharacteristics(FileOf(file)->real());
}
int ShmMap(sqlite3_file* file, int page, int page_bytes, int extend, void volatile** memory) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_SHMMAP;
  return Real(file).xShmMap(FileOf(file)->real(), page, page_bytes, extend, memory);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  if ((flags & SQLITE_SHM_LOCK) != 0 && Fails(FaultKind::kLocked)) return SQLITE_BUSY;
  return Real(file).xShmLock(FileOf(file)->real(), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) {
  Real(file).xShmBarrier(FileOf(file)->real());
}
int ShmUnmap(sqlite3_file* file, int delete_flag) {
  return Real(file).xShmUnmap(FileOf(file)->real(), delete_flag);
}

const sqlite3_io_methods kMethods = {2,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReservedLock,
                                     FileControl,
                                     SectorSize,
                                     DeviceCharacteristics,
                                     ShmMap,
                                     ShmLock,
                                     ShmBarrier,
                                     ShmUnmap,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (before_opening) std::exchange(before_opening, nullptr)();
  if (Fails(FaultKind::kCantOpen)) return SQLITE_CANTOPEN;
  const int code = RealVfs()->xOpen(RealVfs(), name, FileOf(file)->real(), flags, out_flags);
  if (FileOf(file)->real()->pMethods != nullptr) file->pMethods = &kMethods;
  return code;
}
int Delete(sqlite3_vfs*, const char* name, int sync_folder) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_DELETE;
  return RealVfs()->xDelete(RealVfs(), name, sync_folder);
}
int Access(sqlite3_vfs*, const char* name, int flags, int* result) {
  if (Fails(FaultKind::kIoError)) return SQLITE_IOERR_ACCESS;
  return RealVfs()->xAccess(RealVfs(), name, flags, result);
}
int FullPathname(sqlite3_vfs*, const char* name, int size, char* out) {
  return RealVfs()->xFullPathname(RealVfs(), name, size, out);
}

sqlite3_vfs failing_vfs;

}  // namespace

FailingVfs::FailingVfs() {
  failing_vfs = *RealVfs();  // the calls that have no file: time, randomness, sleep
  failing_vfs.szOsFile = static_cast<int>(sizeof(File)) + RealVfs()->szOsFile;
  failing_vfs.zName = "hearth-failing";
  failing_vfs.pNext = nullptr;
  failing_vfs.xOpen = Open;
  failing_vfs.xDelete = Delete;
  failing_vfs.xAccess = Access;
  failing_vfs.xFullPathname = FullPathname;
  sqlite3_vfs_register(&failing_vfs, 1);
}

FailingVfs::~FailingVfs() {
  Disarm();
  sqlite3_vfs_unregister(&failing_vfs);
  sqlite3_vfs_register(RealVfs(), 1);
}

void FailingVfs::Arm(FaultKind kind, int first, bool lasts) {
  const std::scoped_lock lock(fault_mutex);
  fault = {kind, first, lasts, 0, 0};
}

void FailingVfs::BeforeOpening(std::function<void()> action) {
  before_opening = std::move(action);
}

int FailingVfs::Disarm() {
  const std::scoped_lock lock(fault_mutex);
  const int failures = fault.failures;
  fault = {};
  return failures;
}

}  // namespace hearth::testing
