// What keeps an engine from the network; tests/clients has a real engine that tries.
#include "companion/isolation.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace sabath::companion {
namespace {

// The status with which a child process ends after `act`.
template <typename Act>
int in_child(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Isolation, TheFilterLeavesLocalSocketsAlone) {
  constexpr int no_filter = 77;
  const int ended = in_child([] {
    if (!refuse_sockets()) return no_filter;
    if (::socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES) return 1;
    if (::socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno != EACCES) return 2;
    if (::socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || errno != EACCES) return 3;
    return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 4;
  });
  if (ended == no_filter) GTEST_SKIP() << "this kernel has no filter for calls";
  EXPECT_EQ(ended, 0);
}

TEST(Isolation, NothingAnswersOnceTheNetworkIsLeft) {
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  ASSERT_EQ(::listen(server, 1), 0);
  ASSERT_EQ(::getsockname(server, reinterpret_cast<sockaddr*>(&place), &length), 0);
  const auto connects = [&] {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    return client >= 0 && ::connect(client, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0;
  };
  EXPECT_EQ(in_child([&] { return connects() ? 0 : 1; }), 0);
  EXPECT_EQ(in_child([&] { return leave_network() == Isolation::none || !connects() ? 0 : 1; }), 0);
  ::close(server);
}

}  // namespace
}  // namespace sabath::companion
