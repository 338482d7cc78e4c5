// The sftp fetcher: ranges of files by the SSH file transfer protocol, with the user's own ssh configuration, keys and
// known hosts. scp:// is the same said plainly: what is copied is named the same way, and servers retire the old scp.
#include <fmt/format.h>

#include <algorithm>

#include "base/reach.h"
#include "sabath/error.h"
#include "set/addresses.h"
#include "set/known_fetchers.h"
#include "sftp/pool.h"
#include "sftp/ssh_config.h"
#include "sftp/ssh_program.h"
#include "sftp/ssh_session.h"

namespace sabath {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void refuse_read(FailureKind kind, const Url& url, std::string_view why, std::string hint = {}) {
  throw Error(kind, fmt::format("cannot read {}: {}", url.display(), why), std::move(hint));
}

// "/~/x" is x in the home directory, as curl and others write it.
std::string remote_path(const Url& url) {
  std::string path = percent_decode(url.path());
  if (path.empty() || path.ends_with('/') || path.find('\0') != path.npos) {
    refuse_read(FailureKind::unavailable, url, "not the URL of a file", "a directory cannot be read");
  }
  return path.starts_with("/~/") ? path.substr(3) : path;
}

// Whole seconds: the length tells apart what was written within one.
std::string version_of(const sftp::Attributes& attributes) {
  return attributes.modified ? fmt::format("{}/{}", *attributes.modified, *attributes.size) : "";
}

// Passes what the client hears of the file on to the sink.
class Hearing : public sftp::Client::Listener {
 public:
  Hearing(const ReadRequest& request, Sink& sink) : request_(request), sink_(sink) {}

  void ask() { asked_ = Waiter::Clock::now(); }  // from now on an answer is on its way

  bool expects(const sftp::Attributes& attributes) const override {
    return !request_.expected.last_modified.empty() && request_.expected.last_modified == version_of(attributes);
  }
  void begin(const sftp::Attributes& attributes) override {
    const std::uint64_t size = *attributes.size;
    const std::string version = version_of(attributes);
    const std::string& expected = request_.expected.last_modified;
    if (!expected.empty() && !version.empty() && expected != version) {
      refuse_read(FailureKind::changed, request_.url, "the source has another version than the one that was begun");
    }
    if (request_.offset > size) {
      refuse_read(FailureKind::unavailable, request_.url,
                  fmt::format("it ends at byte {}, before offset {}", size, request_.offset));
    }
    sink_.begin({.size_bytes = size,
                 .ranges = true,
                 .validators = {.etag = {}, .last_modified = version},
                 .content_type = {},
                 .final_url = request_.url.display(),
                 .latency = Waiter::Clock::now() - asked_});
  }
  void write(std::span<const std::byte> bytes) override { sink_.write(bytes); }

 private:
  const ReadRequest& request_;
  Sink& sink_;
  Waiter::Clock::time_point asked_{};
};

class SftpFetcher : public Fetcher {
 public:
  explicit SftpFetcher(const FetcherSettings& settings) : settings_(settings) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "sftp", .built = true, .ranges = true}, {.name = "scp", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const std::string path = remote_path(request.url);
    const SshHost host = resolve_ssh_host(settings_.ssh, request.url);
    const std::string login = login_of(host, request.url);
    Waiter waiter("cannot read " + request.url.display(), stop, milliseconds(settings_.stall_timeout_ms));
    waiter.check_stop();
    Hearing hearing(request, sink);
    auto client = pool_.try_take(login);
    if (client && read_by(std::move(client), true, login, path, request, hearing, traffic, waiter)) return;
    read_by(log_in(host, login, request.url, waiter, stop), false, login, path, request, hearing, traffic, waiter);
  }

  std::string place(const Url& url) const override {
    const SshHost host = resolve_ssh_host(settings_.ssh, url);
    std::string at;
    if (host.name != host.alias || host.port != url.port().value_or(22))
      at = fmt::format("{}:{}", host.name, host.port);
    if (!host.proxy_jump.empty()) at += " by " + host.proxy_jump;  // names are other hosts' behind another door
    if (host.proxy_command) at += " by a command";
    if (url.path().starts_with("/~")) at += " as " + host.user;
    return at;
  }

  void warm_up(const Url& url, std::stop_token stop) override {
    const SshHost host = resolve_ssh_host(settings_.ssh, url);
    const std::string login = login_of(host, url);
    Waiter waiter("cannot log in for " + url.display(), stop, milliseconds(settings_.stall_timeout_ms));
    pool_.give(login, log_in(host, login, url, waiter, stop));
  }

 private:
  // A connection to a host that others name has been judged for them.
  std::string login_of(const SshHost& host, const Url& url) const {
    const bool others = is_of_others(host, url);
    return fmt::format("{}@{}:{} {} {}", host.user, host.name, host.port, host.alias,
                       others ? static_cast<int>(url.namer()->reach) : -1);
  }

  // The user has not named the host: by a URL of his own, his ssh configuration, or near_hosts.
  bool is_of_others(const SshHost& host, const Url& url) const {
    const bool configured = host.name != host.alias || !host.proxy_jump.empty() || host.proxy_command;
    return url.namer() && !url.namer()->own_host && !configured && !is_near_host(url.host(), settings_.web.near_hosts);
  }

  // The program looks up the address by itself: a host that others name is asked by the library.
  std::unique_ptr<Stream> stream_to(const SshHost& host, const Url& url, const Waiter& waiter) {
    const SshTransport transport = settings_.ssh.transport;
    const bool others = is_of_others(host, url);
    if (others && transport == SshTransport::program) admit_program(url, settings_);
    const Url asked = others ? url : Url::parse(url.text());
    const auto judge = [&](std::string_view address) {
      static_cast<void>(check_reach(asked, address, settings_.web.near_hosts));
    };
    judge({});
    if (transport != SshTransport::library && !others) {
      try {
        return std::make_unique<SshProgram>(host, url, settings_.ssh);
      } catch (const Error& error) {  // there is none
        const bool needed = transport == SshTransport::program || host.proxy_command || host.control_path;
        if (needed || error.failure().kind != FailureKind::unavailable) throw;
      }
    }
    return std::make_unique<SshSession>(host, settings_.ssh, judge, waiter);
  }

  std::unique_ptr<sftp::Client> log_in(const SshHost& host, const std::string& login, const Url& url, Waiter& waiter,
                                       const std::stop_token& stop) {
    const sftp::Pool::Door door(pool_, login, stop);
    waiter.begin_deadline(milliseconds(settings_.connect_timeout_ms));
    auto client = std::make_unique<sftp::Client>(stream_to(host, url, waiter), waiter);
    waiter.end_deadline();
    return client;
  }

  // False: the server had closed this connection while it was idle, which is no failure.
  bool read_by(std::unique_ptr<sftp::Client> client, bool was_kept, const std::string& login, const std::string& path,
               const ReadRequest& request, Hearing& hearing, Traffic& traffic, const Waiter& waiter) {
    hearing.ask();
    try {
      client->read(path, request.offset, request.length, hearing, traffic, waiter);
    } catch (const Error& error) {
      if (was_kept && error.failure().kind == FailureKind::network && !client->heard_anything()) return false;
      if (client->idle()) pool_.give(login, std::move(client));
      throw;
    }
    if (client->idle()) pool_.give(login, std::move(client));
    return true;
  }

  const FetcherSettings settings_;
  sftp::Pool pool_;
};

}  // namespace

void add_sftp(KnownFetchers& set, const FetcherParts& parts) { set.add(std::make_unique<SftpFetcher>(parts.settings)); }

}  // namespace sabath
