#include "sftp/ssh_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "sabath/error.h"
#include "sabath/path.h"
#include "sftp/login.h"

namespace sabath {
namespace {

constexpr unsigned window_size_bytes = 8 * 1024 * 1024;  // twice what is ever asked for at once
constexpr const char* key_types[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                                     "ssh-rsa"};

LIBSSH2_SESSION* make_session() {
  static const int status = ::libssh2_init(0);  // and never torn down: lanes may outlive main's statics
  LIBSSH2_SESSION* const session = status == 0 ? ::libssh2_session_init() : nullptr;
  if (session == nullptr) throw Error(FailureKind::internal, "cannot make an SSH session: out of memory");
  return session;
}

std::string words_of(LIBSSH2_SESSION* session) {
  char* text = nullptr;
  int length = 0;
  ::libssh2_session_last_error(session, &text, &length, 0);
  return printable(std::string_view(text != nullptr ? text : "", static_cast<std::size_t>(length)));
}

}  // namespace

SshSession::SshSession(const SshHost& host, const SshSettings& settings, const AddressJudge& judge,
                       const Waiter& waiter)
    : connection_(connect_to(host, settings, judge, waiter)), session_(make_session(), Free{connection_.fd()}) {
  ::libssh2_session_set_blocking(session_.get(), 0);
  const KnownKeys known = read_known_keys(host.known_hosts, host.known_name());
  prefer_methods(known);
  shake_hands(waiter);
  check_host_key(host, known, waiter);
  log_in(session_.get(), host, waiter, [&](const auto& call) { return patiently(call, waiter); });
  open_channel(waiter);
}

// A session that can wait for its peer would not be freed: so it must believe that its peer is gone.
void SshSession::Free::operator()(LIBSSH2_SESSION* session) const noexcept {
  ::shutdown(fd, SHUT_RDWR);
  for (int i = 0; i < 100 && ::libssh2_session_free(session) == LIBSSH2_ERROR_EAGAIN; ++i) {}
}

SshSession::~SshSession() {
  if (session_) ::libssh2_session_disconnect(session_.get(), "done");  // one packet, if it can be sent at once
}

// The kinds of key that the user has accepted come first, so that the server shows one that can be recognised.
void SshSession::prefer_methods(const KnownKeys& known) {
  std::string list;
  const auto add = [&](const std::string& type) {
    if ((',' + list + ',').find(',' + type + ',') == std::string::npos) list += (list.empty() ? "" : ",") + type;
  };
  for (const char* type : key_types) {
    for (const HostKey& key : known.accepted) {
      if (key.type == type) add(type);
    }
  }
  for (const char* type : key_types) add(type);
  ::libssh2_session_method_pref(session_.get(), LIBSSH2_METHOD_HOSTKEY, list.c_str());
  for (const int direction : {LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_CRYPT_SC}) {
    ::libssh2_session_method_pref(session_.get(), direction, "aes128-ctr,aes256-ctr,aes192-ctr");
  }
  for (const int direction : {LIBSSH2_METHOD_MAC_CS, LIBSSH2_METHOD_MAC_SC}) {
    ::libssh2_session_method_pref(session_.get(), direction, "hmac-sha2-256,hmac-sha2-512,hmac-sha1");
  }
}

void SshSession::shake_hands(const Waiter& waiter) {
  const int status = patiently([&] { return ::libssh2_session_handshake(session_.get(), connection_.fd()); }, waiter);
  if (status == 0) return;
  switch (status) {
    case LIBSSH2_ERROR_KEX_FAILURE:
    case LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE:
    case LIBSSH2_ERROR_METHOD_NONE:
    case LIBSSH2_ERROR_METHOD_NOT_SUPPORTED:
    case LIBSSH2_ERROR_HOSTKEY_INIT:
    case LIBSSH2_ERROR_HOSTKEY_SIGN:
      throw Error(FailureKind::unavailable, fmt::format("{}: {}", waiter.what(), words_of(session_.get())),
                  "the server and libssh2 " LIBSSH2_VERSION " have no algorithm in common");
    default:
      fail_lost(waiter, "SSH handshake");
  }
}

void SshSession::check_host_key(const SshHost& host, const KnownKeys& known, const Waiter& waiter) {
  std::size_t size = 0;
  int type = 0;
  const char* blob = ::libssh2_session_hostkey(session_.get(), &size, &type);
  const std::string key(blob != nullptr ? blob : "", blob != nullptr ? size : 0);
  const KnownKeys::Answer answer = known.judge({key_type(key), key});
  if (answer == KnownKeys::Answer::known) return;
  const std::string shown = fmt::format("{} {}", printable(key_type(key)), key_fingerprint(key));
  const std::string name = printable(host.known_name());
  if (answer == KnownKeys::Answer::unknown) {
    throw Error(FailureKind::access, fmt::format("{}: unknown host key of {}: {}", waiter.what(), name, shown),
                fmt::format("compare it with what the site publishes, then accept it once by `ssh {}{}`",
                            host.port == 22 ? "" : fmt::format("-p {} ", host.port), printable(host.alias)));
  }
  throw Error(
      FailureKind::access,
      fmt::format("{}: the host key of {} is {}: {}", waiter.what(), name,
                  answer == KnownKeys::Answer::revoked ? "revoked" : "not the one that was accepted", shown),
      fmt::format("an attacker may be in between, or the site has a new key: ask it, and only then `ssh-keygen -R "
                  "'{}'` and accept the new one by ssh",
                  name));
}

void SshSession::open_channel(const Waiter& waiter) {
  const int opened = patiently(
      [&] {
        channel_ = ::libssh2_channel_open_ex(session_.get(), "session", 7, window_size_bytes,
                                             LIBSSH2_CHANNEL_PACKET_DEFAULT, nullptr, 0);
        return channel_ == nullptr ? ::libssh2_session_last_errno(session_.get()) : 0;
      },
      waiter);
  if (opened == LIBSSH2_ERROR_CHANNEL_FAILURE) {
    throw Error(FailureKind::network, fmt::format("{}: {}", waiter.what(), words_of(session_.get())),
                "the server gives no more sessions now");
  }
  if (opened != 0) fail_lost(waiter, "opening a channel");
  subsystem_status_ = ::libssh2_channel_subsystem(channel_, "sftp");  // asked; what is written next goes on its heels
}

void SshSession::await_subsystem(const Waiter& waiter) {
  if (subsystem_status_ == LIBSSH2_ERROR_EAGAIN)
    subsystem_status_ = patiently([&] { return ::libssh2_channel_subsystem(channel_, "sftp"); }, waiter);
  if (subsystem_status_ == 0) return;
  throw Error(FailureKind::unavailable, fmt::format("{}: the server offers no SFTP", waiter.what()),
              "its administrator can enable the sftp subsystem of sshd");
}

int SshSession::patiently(const std::function<int()>& call, const Waiter& waiter) {
  for (;;) {
    const int status = call();
    if (status != LIBSSH2_ERROR_EAGAIN) return status;
    const int directions = ::libssh2_session_block_directions(session_.get());
    const bool writes = (directions & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
    const bool reads = (directions & LIBSSH2_SESSION_BLOCK_INBOUND) != 0 || !writes;
    waiter.wait(connection_.fd(), static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)));
  }
}

std::size_t SshSession::read_some(std::span<std::byte> bytes, const Waiter& waiter) {
  waiter.check_stop();
  await_subsystem(waiter);
  const int got = patiently(
      [&] {
        return static_cast<int>(::libssh2_channel_read(channel_, reinterpret_cast<char*>(bytes.data()), bytes.size()));
      },
      waiter);
  if (got < 0) fail_lost(waiter, "reading");
  return static_cast<std::size_t>(got);
}

void SshSession::write_all(std::span<const std::byte> bytes, const Waiter& waiter) {
  while (!bytes.empty()) {
    const int sent = patiently(
        [&] {
          return static_cast<int>(
              ::libssh2_channel_write(channel_, reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        },
        waiter);
    if (sent < 0) fail_lost(waiter, "asking");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void SshSession::fail_lost(const Waiter& waiter, std::string_view doing) const {
  const std::string complaint = connection_.child ? connection_.child->complaint() : "";
  throw Error(FailureKind::network, fmt::format("{}: {}: {}{}", waiter.what(), doing, words_of(session_.get()),
                                                complaint.empty() ? "" : " (the ProxyJump says: " + complaint + ")"));
}

}  // namespace sabath
