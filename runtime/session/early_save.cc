#include "runtime/session/early_save.h"

#include <chrono>
#include <cstdlib>
#include <set>

#include "core/base/error.h"
#include "core/base/threads.h"

namespace hearth {
namespace {

// A program that runs once and closes its session stores on its own thread.
constexpr std::chrono::milliseconds kAfterFirstAnswer{200};
constexpr int kSavingStepsDown = 5;
// For drivers that hold up runs while their binaries are read: PoCL for 2 s and more.
constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr std::chrono::seconds kLongestWaitForQuiet{5};

// All that live. exit() ends drivers under the threads that are inside them, so it waits for these first: its handler
// is registered after the drivers' own, and runs before them.
class Living {
 public:
  static Living& Instance() {
    static Living* const living = [] {
      std::atexit([] { Instance().EndAll(); });
      return new Living;
    }();
    return *living;
  }

  void Add(EarlySave* save) {
    const std::scoped_lock lock(mutex_);
    all_.insert(save);
  }
  void Remove(EarlySave* save) {
    const std::scoped_lock lock(mutex_);
    all_.erase(save);
  }

 private:
  void EndAll() {
    const std::unique_lock lock(mutex_, std::try_to_lock);  // a forked child may have a copy that stays locked
    if (!lock.owns_lock()) return;
    for (EarlySave* save : all_) save->EndBeforeExit();
  }

  std::mutex mutex_;
  std::set<EarlySave*> all_;
};

}  // namespace

EarlySave::EarlySave(Save save, std::function<bool()> is_quiet)
    : save_(std::move(save)), is_quiet_(std::move(is_quiet)) {
  Living::Instance().Add(this);
  if (!StartThread(thread_, [this] { Work(); }).ok()) state_ = State::kCancelled;
}

EarlySave::~EarlySave() {
  Finish();
  Living::Instance().Remove(this);
}

bool EarlySave::Finish() {
  EndBeforeExit();
  if (thread_.joinable()) thread_.join();
  return state_ == State::kDone;
}

void EarlySave::EndBeforeExit() {
  if (process_ != ::getpid()) return;  // a forked child has no such thread
  std::unique_lock lock(mutex_);
  if (state_ == State::kWaiting) state_ = State::kCancelled;
  changed_.notify_all();
  changed_.wait(lock, [this] { return state_ != State::kSaving; });
}

void EarlySave::Work() {
  {
    std::unique_lock lock(mutex_);
    const auto is_cancelled = [this] { return state_ == State::kCancelled; };
    const auto latest = std::chrono::steady_clock::now() + kLongestWaitForQuiet;
    if (changed_.wait_for(lock, kAfterFirstAnswer, is_cancelled)) return;
    while (!is_quiet_() && std::chrono::steady_clock::now() < latest) {
      if (changed_.wait_for(lock, kBetweenLooks, is_cancelled)) return;
    }
    state_ = State::kSaving;
  }
  LowerPriority(kSavingStepsDown);
  const Status saved = Guarded([this] {
    warnings_ = save_();
    return Status::Ok();
  });
  if (!saved.ok()) warnings_.push_back(saved.message());
  const std::scoped_lock lock(mutex_);
  state_ = State::kDone;
  changed_.notify_all();
}

}  // namespace hearth
