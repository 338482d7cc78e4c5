// An SSH session by libssh2, logged in, with one channel to the server's SFTP subsystem. The host key must be one that
// the user has accepted before: anything else is Error{access}. One thread at a time. Throws Error.
#pragma once

#include <libssh2.h>

#include <functional>
#include <memory>

#include "sftp/connect.h"
#include "sftp/known_hosts.h"
#include "sftp/ssh_config.h"
#include "sftp/stream.h"

namespace sabath {

class SshSession final : public Stream {
 public:
  SshSession(const SshHost& host, const SshSettings& settings, const AddressJudge& judge, const Waiter& waiter);
  ~SshSession() override;
  std::size_t read_some(std::span<std::byte> bytes, const Waiter& waiter) override;
  void write_all(std::span<const std::byte> bytes, const Waiter& waiter) override;

 private:
  struct Free {
    int fd;
    void operator()(LIBSSH2_SESSION* session) const noexcept;
  };
  void prefer_methods(const KnownKeys& known);
  void shake_hands(const Waiter& waiter);
  void check_host_key(const SshHost& host, const KnownKeys& known, const Waiter& waiter);
  void open_channel(const Waiter& waiter);
  void await_subsystem(const Waiter& waiter);
  int patiently(const std::function<int()>& call, const Waiter& waiter);
  [[noreturn]] void fail_lost(const Waiter& waiter, std::string_view doing) const;

  Connection connection_;
  std::unique_ptr<LIBSSH2_SESSION, Free> session_;
  LIBSSH2_CHANNEL* channel_ = nullptr;  // the session frees it
  int subsystem_status_ = 0;            // of the request for it; its answer is waited for when the first byte is
};

}  // namespace sabath
