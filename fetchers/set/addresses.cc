#include "set/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/reach.h"
#include "base/threads.h"
#include "curl/proxy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// A look-up that outlives its asker: getaddrinfo(3) cannot be interrupted, and no thread waits for it after a stop.
struct NameQuery {
  std::string name;
  std::mutex mutex;
  std::condition_variable_any done;
  bool ended = false;
  int status = 0;
  std::vector<std::string> addresses;
};

std::string address_text(const addrinfo& one) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = one.ai_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(one.ai_addr)->sin_addr)
                          : &reinterpret_cast<const sockaddr_in6*>(one.ai_addr)->sin6_addr;
  return inet_ntop(one.ai_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

void run_query(NameQuery& lookup) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(lookup.name.c_str(), nullptr, &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(status == 0 ? list : nullptr, ::freeaddrinfo);
  const std::lock_guard lock(lookup.mutex);
  for (const addrinfo* one = owner.get(); one != nullptr; one = one->ai_next) {
    const bool known = one->ai_family == AF_INET || one->ai_family == AF_INET6;
    if (known) lookup.addresses.push_back(address_text(*one));
  }
  lookup.status = status;
  lookup.ended = true;
  lookup.done.notify_all();
}

std::vector<std::string> ask_names(const Url& url, const std::stop_token& stop) {
  const auto lookup = std::make_shared<NameQuery>();
  lookup->name = url.host();
  start_thread([lookup] { run_query(*lookup); }).detach();
  std::unique_lock lock(lookup->mutex);
  if (!lookup->done.wait(lock, stop, [&] { return lookup->ended; }))
    throw Error(FailureKind::interrupted, fmt::format("cannot read {}: stopped", url.display()));
  if (lookup->status == 0 && !lookup->addresses.empty()) return lookup->addresses;
  throw Error(lookup->status == EAI_AGAIN ? FailureKind::network : FailureKind::unavailable,
              fmt::format("cannot read {}: no address for {}: {}", url.display(), url.host(),
                          lookup->status == 0 ? "none is known" : ::gai_strerror(lookup->status)),
              "check the host name and this machine's name service");
}

bool is_literal_address(const std::string& host) {
  in_addr v4{};
  return host.starts_with('[') || inet_aton(host.c_str(), &v4) != 0;
}

unsigned asked_port(const Url& url) {
  constexpr std::pair<std::string_view, unsigned> usual[] = {{"https", 443}, {"http", 80}, {"ftp", 21}, {"ftps", 990}};
  for (const auto& [scheme, port] : usual)
    if (!url.port() && url.scheme() == scheme) return port;
  return url.port().value_or(0);
}

}  // namespace

std::vector<std::string> judged_addresses(const Url& url, const FetcherSettings& settings,
                                          const std::stop_token& stop) {
  const auto& near_hosts = settings.web.near_hosts;
  static_cast<void>(check_reach(url, "", near_hosts));
  if (is_literal_address(url.host()) || !proxy_for(url, settings.commands.environment).empty()) return {};
  std::vector<std::string> addresses = ask_names(url, stop);
  for (const std::string& address : addresses) static_cast<void>(check_reach(url, address, near_hosts));
  return addresses;
}

void admit_program(const Url& url, const FetcherSettings& settings) {
  const auto& near_hosts = settings.web.near_hosts;
  static_cast<void>(check_reach(url, "", near_hosts));
  const bool own_endpoint = url.scheme() == "s3" && !settings.s3.endpoint_url.empty();
  if (!url.namer() || url.namer()->own_host || own_endpoint || is_near_host(url.host(), near_hosts)) return;
  throw Error(FailureKind::unavailable,
              fmt::format("cannot read {}: others name its host, and the program that would ask it looks up the "
                          "address by itself",
                          url.display()),
              "let SABATH read it itself (`prefer` of the configuration), or name its host in `near_hosts`");
}

void admit_look_up(const Url& url, const FetcherSettings& settings, const std::stop_token& stop) {
  admit_program(url, settings);
  if (is_literal_address(url.host())) return;
  std::vector<std::string> addresses;
  try {
    addresses = ask_names(url, stop);
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
  }
  const bool by_proxy = !proxy_for(url, settings.commands.environment).empty();  // not every program heeds it
  for (const std::string& address : addresses)
    if (!by_proxy || reach_of(address) == Reach::link)
      static_cast<void>(check_reach(url, address, settings.web.near_hosts));
}

std::string resolve_entry(const Url& url, const std::vector<std::string>& addresses) {
  if (addresses.empty()) return {};
  std::vector<std::string> texts;
  for (const std::string& address : addresses)
    texts.push_back(address.find(':') == address.npos ? address : fmt::format("[{}]", address));
  return fmt::format("{}:{}:{}", url.host(), asked_port(url), fmt::join(texts, ","));
}

}  // namespace sabath
