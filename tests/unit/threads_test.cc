#include "core/base/threads.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hearth
