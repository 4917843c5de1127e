#include "tools/hearth/pictures/picture_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "tools/hearth/files.h"

namespace hearth {
namespace {

class Files final : public PictureSource {
 public:
  explicit Files(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  Result<std::optional<SourcePicture>> Next() override {
    if (next_ == paths_.size()) return std::optional<SourcePicture>();
    const std::string& path = paths_[next_++];
    std::string stem = std::filesystem::path(path).stem();
    if (stem == "." || stem == "..") stem = std::filesystem::path(path).filename();  // these are folders
    std::string free = stem;
    for (int k = 2; !stems_.insert(free).second; ++k) free = fmt::format("{}_{}", stem, k);
    return std::optional(SourcePicture{path, path, free});
  }

 private:
  std::vector<std::string> paths_;
  std::set<std::string> stems_;
  size_t next_ = 0;
};

// ffmpeg writes a BMP file for each frame, whose header tells its size, into a pipe.
class Frames final : public PictureSource {
 public:
  explicit Frames(std::string path) : path_(std::move(path)) {}

  ~Frames() override {
    frames_.reset();  // ffmpeg ends when nobody reads
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  Status Start() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return Error(StatusCode::kIoError, "no pipe to ffmpeg: {}", std::strerror(errno));
    frames_.reset(::fdopen(ends[0], "rb"));
    // "file:" keeps names with a colon from being protocols.
    std::error_code error;
    const bool is_camera = path_.starts_with("/dev/") && std::filesystem::is_character_file(path_, error);
    const std::string input = is_camera ? path_ : "file:" + path_;
    std::vector<const char*> arguments = {"ffmpeg", "-nostdin", "-loglevel", "error"};
    if (is_camera) arguments.insert(arguments.end(), {"-f", "v4l2"});
    arguments.insert(arguments.end(),
                     {"-i", input.c_str(), "-f", "image2pipe", "-c:v", "bmp", "-pix_fmt", "bgr24", "-", nullptr});
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failure =
        ::posix_spawnp(&child_, "ffmpeg", &actions, nullptr, const_cast<char* const*>(arguments.data()), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failure == 0) return Status::Ok();
    child_ = -1;
    return Error(StatusCode::kUnavailable, "{}: a video is read by the program ffmpeg, which can't be started: {}",
                 path_, std::strerror(failure));
  }

  Result<std::optional<SourcePicture>> Next() override {
    constexpr size_t kHeaderBytes = 6;
    constexpr uint32_t kMostBytes = 1u << 30;
    std::string frame(kHeaderBytes, '\0');
    const size_t read = std::fread(frame.data(), 1, kHeaderBytes, frames_.get());
    if (read != kHeaderBytes) return End(read > 0);
    uint32_t bytes = 0;
    std::memcpy(&bytes, frame.data() + 2, sizeof bytes);
    if (!frame.starts_with("BM") || bytes < kHeaderBytes || bytes > kMostBytes)
      return Error(StatusCode::kMalformedInput, "{}: ffmpeg wrote no picture after frame {}", path_, count_);
    frame.resize(bytes);
    const size_t rest = bytes - kHeaderBytes;
    if (std::fread(frame.data() + kHeaderBytes, 1, rest, frames_.get()) != rest) return End(true);
    if (folder_.empty()) HEARTH_TRY(MakeFolder());
    const std::string path = folder_ + "/frame.bmp";
    HEARTH_TRY(WriteFile(path, frame));
    ++count_;
    return std::optional(SourcePicture{path, fmt::format("frame {}", count_), fmt::format("{:06}", count_)});
  }

 private:
  // Not before there is a frame: until then ^C ends the program at once.
  Status MakeFolder() {
    std::error_code error;
    std::string folder = (std::filesystem::temp_directory_path(error) / "hearth-frames-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr)
      return Error(StatusCode::kIoError, "can't make a folder for frames in {}", folder);
    folder_ = std::move(folder);
    return Status::Ok();
  }

  Result<std::optional<SourcePicture>> End(bool is_cut) {
    int status = 0;
    const bool is_fine = ::waitpid(std::exchange(child_, -1), &status, 0) > 0 && status == 0 && !is_cut;
    if (is_fine && count_ > 0) return std::optional<SourcePicture>();
    return Error(StatusCode::kMalformedInput, "{}: ffmpeg read {} frames of it{}", path_, count_,
                 is_fine ? "" : " and failed");
  }

  std::string path_, folder_;  // folder_: empty until the first frame
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> frames_{nullptr, std::fclose};
  pid_t child_ = -1;
  uint64_t count_ = 0;
};

}  // namespace

bool IsPicture(const std::string& path) {
  const std::string ending = EndingOf(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".bmp";
}

Result<std::vector<std::string>> PicturesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    std::error_code unknown;  // of a link to nothing, which is told of like a damaged picture
    const bool is_no_file = file->exists(unknown) && !file->is_regular_file(unknown);
    if (IsPicture(file->path()) && !is_no_file) paths.push_back(file->path());
  }
  if (error) return Error(StatusCode::kNotFound, "can't list the folder {}: {}", folder, error.message());
  if (paths.empty()) return Error(StatusCode::kNotFound, "{} holds no pictures (.png, .jpg, .jpeg, .bmp)", folder);
  std::ranges::sort(paths);
  return paths;
}

std::unique_ptr<PictureSource> PicturesOf(std::vector<std::string> paths) {
  return std::make_unique<Files>(std::move(paths));
}

Result<std::unique_ptr<PictureSource>> FramesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Error(StatusCode::kNotFound, "there is no video {}", path);
  auto frames = std::make_unique<Frames>(path);
  HEARTH_TRY(frames->Start());
  return Result<std::unique_ptr<PictureSource>>(std::move(frames));
}

}  // namespace hearth
