#include "sftp/login.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/file.h"
#include "base/hmac.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/secret.h"

namespace sabath {
namespace {

constexpr std::uint64_t key_size_max = 64 * 1024;

class SshLogin {
 public:
  SshLogin(LIBSSH2_SESSION* session, const SshHost& host, const Patiently& patiently)
      : session_(session), host_(host), patiently_(patiently) {}

  bool try_agent() {
    if (host_.agent.empty()) return false;
    const std::unique_ptr<LIBSSH2_AGENT, void (*)(LIBSSH2_AGENT*)> agent(::libssh2_agent_init(session_),
                                                                         ::libssh2_agent_free);
    if (!agent) return false;
    ::libssh2_agent_set_identity_path(agent.get(), host_.agent.c_str());
    if (::libssh2_agent_connect(agent.get()) != 0 || ::libssh2_agent_list_identities(agent.get()) != 0) {
      tried_.push_back("no answer from the agent");
      return false;
    }
    bool done = false;
    libssh2_agent_publickey* key = nullptr;
    while (!done && ::libssh2_agent_get_identity(agent.get(), &key, key) == 0) {
      if (host_.identities_only && !is_named(*key)) continue;
      const int status = patiently_([&] { return ::libssh2_agent_userauth(agent.get(), host_.user.c_str(), key); });
      done = status == 0;
      if (is_lost(status)) break;
      if (!done) refuse(fmt::format("the agent's key {}", printable(key->comment ? key->comment : "", 60)));
    }
    ::libssh2_agent_disconnect(agent.get());
    return done;
  }

  bool try_file(const std::filesystem::path& file) {
    const auto facts = try_stat(file);
    if (!facts) return false;
    const std::string name = printable(file.string());
    if ((facts->st_mode & 077) != 0 && facts->st_uid == ::getuid()) {
      tried_.push_back(name + " is not used: others may read it (chmod 600 it)");
      return false;
    }
    const Secret key(try_read_text(file, key_size_max).value_or(""));
    const int status = patiently_([&] {
      return ::libssh2_userauth_publickey_frommemory(session_, host_.user.c_str(), host_.user.size(), nullptr, 0,
                                                     key.reveal().data(), key.reveal().size(), "");
    });
    if (status != 0 && !is_lost(status)) refuse(name + why(status, key));
    return status == 0;
  }

  // Asked last: it costs a round trip, and hardly any server lets in a user without any proof.
  [[nodiscard]] bool try_nothing() {
    const char* list = nullptr;
    const int status = patiently_([&] {
      list = ::libssh2_userauth_list(session_, host_.user.c_str(), static_cast<unsigned>(host_.user.size()));
      return list == nullptr ? ::libssh2_session_last_errno(session_) : 0;
    });
    if (list != nullptr) methods_ = list;
    return !is_lost(status) && ::libssh2_userauth_authenticated(session_) != 0;
  }

  [[nodiscard]] bool lost() const { return lost_; }

  [[noreturn]] void fail(const Waiter& waiter) const {
    if (lost_ && !refused_) {
      throw Error(FailureKind::network, waiter.what() + ": the server hung up during the login",
                  "it may be taking no more connections now");
    }
    std::string tried;
    for (const std::string& each : tried_) tried += (tried.empty() ? "" : "; ") + each;
    throw Error(
        FailureKind::access,
        fmt::format("{}: {} refused the login of {}: {}; it takes: {}", waiter.what(), host_.name,
                    printable(host_.user), tried.empty() ? "there is no key to show" : "tried " + tried,
                    methods_.empty() ? "?" : printable(methods_)),
        fmt::format("make `ssh -oBatchMode=yes {}` work first: User and IdentityFile in ~/.ssh/config, `ssh-add` "
                    "for a key with a passphrase; passwords are never asked for",
                    printable(host_.alias)));
  }

 private:
  // A key of the agent is meant if the public half of a named file is the same.
  bool is_named(const libssh2_agent_publickey& key) const {
    const std::string blob(reinterpret_cast<const char*>(key.blob), key.blob_len);
    for (const std::filesystem::path& file : host_.identities) {
      const auto text = try_read_text(file.string() + ".pub", key_size_max);
      if (text && text->find(to_base64(blob)) != text->npos) return true;
    }
    return false;
  }

  bool is_lost(int status) {
    lost_ = lost_ || status == LIBSSH2_ERROR_SOCKET_DISCONNECT || status == LIBSSH2_ERROR_SOCKET_RECV;
    return lost_;
  }

  void refuse(std::string key) {
    tried_.push_back(std::move(key));
    refused_ = true;
  }

  static std::string why(int status, const Secret& key) {
    const bool rsa = key.reveal().find("BEGIN RSA") != std::string_view::npos;
    if (status == LIBSSH2_ERROR_AUTHENTICATION_FAILED || status == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED) {
      return rsa ? " (libssh2 before 1.11 signs by RSA with SHA-1 only, which new servers refuse)" : " (refused)";
    }
    return " (not readable, or locked by a passphrase)";
  }

  LIBSSH2_SESSION* session_;
  const SshHost& host_;
  const Patiently& patiently_;
  std::vector<std::string> tried_;
  std::string methods_;
  bool lost_ = false;     // the server hung up: on a refused one that tries on, or on all who come now
  bool refused_ = false;  // it has answered
};

}  // namespace

void log_in(LIBSSH2_SESSION* session, const SshHost& host, const Waiter& waiter, const Patiently& patiently) {
  SshLogin login(session, host, patiently);
  if (login.try_agent()) return;
  for (const std::filesystem::path& file : host.identities) {
    if (!login.lost() && login.try_file(file)) return;
  }
  if (!login.lost() && login.try_nothing()) return;
  login.fail(waiter);
}

}  // namespace sabath
