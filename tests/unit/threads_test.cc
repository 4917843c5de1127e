#include "core/base/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace hearth {
namespace {

TEST(Threads, OfOursTakeNoSignalsThatAreTheProgramsBusiness) {
  sigset_t before, in_thread, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::thread thread;
  ASSERT_TRUE(StartThread(thread, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &in_thread); }).ok());
  thread.join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int programs : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGHUP, SIGPIPE})
    EXPECT_EQ(sigismember(&in_thread, programs), 1) << "signal " << programs;
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    EXPECT_EQ(sigismember(&in_thread, own), sigismember(&before, own)) << "signal " << own;
  for (const int any : {SIGINT, SIGTERM, SIGUSR1, SIGSEGV})
    EXPECT_EQ(sigismember(&after, any), sigismember(&before, any)) << "signal " << any;
}

// A program that was started with `nice` has a low priority already.
TEST(Threads, ThatAreLoweredGoBelowThePriorityTheyHave) {
  const int own = std::min(::getpriority(PRIO_PROCESS, 0) + 1, 17);
  if (own <= ::getpriority(PRIO_PROCESS, 0)) GTEST_SKIP() << "the tests run at the lowest priorities";
  int lowered = 0, inherited = 0;
  std::thread([&] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, own), 0);
    LowerPriority(2);
    lowered = ::getpriority(PRIO_PROCESS, 0);
    std::thread([&] { inherited = ::getpriority(PRIO_PROCESS, 0); }).join();
  }).join();
  EXPECT_EQ(lowered, own + 2);
  EXPECT_EQ(inherited, own + 2);
}

}  // namespace
}  // namespace hearth
