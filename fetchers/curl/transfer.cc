#include "curl/transfer.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/certificates.h"
#include "base/file.h"
#include "base/reach.h"
#include "base/text.h"
#include "curl/proxy.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t head_bytes_max = 1024 * 1024;

template <typename F>
void guard(Transfer& transfer, F&& hear) noexcept {
  try {
    hear();
  } catch (...) {
    transfer.thrown = std::current_exception();
  }
  transfer.last_progress = Transfer::Clock::now();
}

// How long the first packets of a new connection were on their way.
std::chrono::microseconds trip_of(CURL* easy) {
  curl_off_t looked_up = 0, connected = 0;
  curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &looked_up);
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connected);
  return std::chrono::microseconds(std::max<curl_off_t>(0, connected - looked_up));
}

int on_socket(void* self, curl_socket_t, curlsocktype) {
  auto& transfer = *static_cast<Transfer*>(self);
  guard(transfer, [&] { transfer.receiver.connecting(); });
  return transfer.thrown ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

std::string text_of(const curl_sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(address.addr).sin_addr;
  if (address.family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6&>(address.addr).sin6_addr;
  if (bytes == nullptr || inet_ntop(address.family, bytes, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

// No packet has been sent to the address yet, and anything may have led to it: a URL, a redirect, a name, an FTP
// server's words.
curl_socket_t on_open(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  guard(transfer, [&] { static_cast<void>(transfer.judge(text_of(*address))); });
  if (transfer.thrown) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int on_connected(void* self, char* address, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.connected = true;
  guard(transfer, [&] {  // a kept connection is judged here alone
    const Reach reach = transfer.judge(address != nullptr ? address : "");
    transfer.traffic.reaches |= 1U << static_cast<unsigned>(reach);
    transfer.receiver.connected({trip_of(transfer.easy), reach});
  });
  if (transfer.ended()) return CURL_PREREQFUNC_ABORT;
  ++transfer.traffic.requests;
  return CURL_PREREQFUNC_OK;
}

// A field may go on in lines that begin with white space (RFC 9112 section 5.2): a receiver hears one line.
void hear_line(Transfer& transfer, std::string_view line) {
  if (!transfer.request.url.scheme().starts_with("http")) return transfer.receiver.header(line);
  const bool goes_on = (line.starts_with(' ') || line.starts_with('\t')) && !transfer.field.empty();
  if (goes_on) {
    transfer.field += fmt::format(" {}", trim(line));
    return;
  }
  if (!transfer.field.empty()) transfer.receiver.header(std::exchange(transfer.field, {}));
  if (line.empty() || line.starts_with("HTTP/")) return transfer.receiver.header(line);
  transfer.field = line;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  transfer.head_bytes += size;
  guard(transfer, [&] {
    if (transfer.head_bytes > head_bytes_max) {
      throw Error(FailureKind::unavailable, "cannot read " + transfer.source + ": its head, or its trailer, has no end",
                  "the server is broken or hostile; use another mirror");
    }
    hear_line(transfer, line);
  });
  return transfer.thrown ? 0 : size;
}

// To end a transfer the callback pauses it, and the loop takes it out: then no protocol waits for the peer
// (an FTP transfer that ends by a write error waits a minute for the last word of a stalled server).
std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.paused = transfer.has_room && !transfer.has_room();
  if (transfer.ended()) transfer.count(size);  // they came, and are thrown away
  if (transfer.ended() || transfer.paused) return CURL_WRITEFUNC_PAUSE;
  transfer.count(size);
  guard(transfer, [&] { transfer.enough = !transfer.receiver.body(std::as_bytes(std::span(data, size))); });
  return transfer.ended() ? CURL_WRITEFUNC_PAUSE : size;
}

// Empty: libcurl's own. One that was built on another distribution may know no place, or none that is here.
const std::string& default_ca_file() {
  static const std::string file = [] {
    const curl_version_info_data* const built = curl_version_info(CURLVERSION_NOW);
    const auto is_there = [](const char* place) { return place != nullptr && try_stat(place).has_value(); };
    return is_there(built->cainfo) || is_there(built->capath) ? std::string() : system_ca_file().string();
  }();
  return file;
}

// This protocol and no other.
void set_protocol(CURL* easy, const std::string& scheme) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, scheme.c_str());
#else
  constexpr std::pair<std::string_view, long> known[] = {
      {"http", CURLPROTO_HTTP}, {"https", CURLPROTO_HTTPS}, {"ftp", CURLPROTO_FTP}, {"ftps", CURLPROTO_FTPS}};
  const auto* const found = std::ranges::find(known, scheme, &std::pair<std::string_view, long>::first);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, found == std::end(known) ? 0 : found->second);
#endif
}

void set_request(CURL* easy, const TransferRequest& request, const FetcherSettings& settings) {
  curl_easy_setopt(easy, CURLOPT_URL, request.url.text().c_str());
  set_protocol(easy, request.url.scheme());
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // what was checked and signed is what is sent
  curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, settings.user_agent.c_str());
  const std::string& ca_file = settings.ca_file.empty() ? default_ca_file() : settings.ca_file;
  if (!ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, settings.connect_timeout_ms);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name that is being looked up
#endif
  if (!request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());  // not copied: it outlives the transfer
  }
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (!request.method.empty())
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  // Our own header says what is asked for; this decodes what comes.
  if (request.unpack) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(request.resume_from));
  // For directories: old servers list the one that they are in, and ignore the name that comes with the command.
  const long way = request.method.empty() ? CURLFTPMETHOD_NOCWD : CURLFTPMETHOD_SINGLECWD;
  curl_easy_setopt(easy, CURLOPT_FTP_FILEMETHOD, way);
  if (request.url.scheme() == "ftps")  // else a server that refuses PROT P is read in clear
    curl_easy_setopt(easy, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
  curl_easy_setopt(easy, CURLOPT_FILETIME, 1L);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR,
                   request.url.scheme().starts_with("ftp") ? 1L : 0L);  // FTP through an HTTP proxy
}

// A stream of HTTP/2 waits for the connection that others have begun. Alone, a transfer gains nothing from HTTP/2.
void set_sharing(CURL* easy, bool shared) {
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, shared ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, shared ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (shared ? 64L : 512L) * 1024);
}

// What libcurl would choose by itself is chosen here: the proxy's address says nothing of the host's. A program that
// uses the library without an environment leaves it to libcurl.
void set_proxy(CURL* easy, const std::map<std::string, std::string>& environment, const Url& url, bool& by_proxy) {
  if (environment.empty()) return;
  const std::string proxy = proxy_for(url, environment);
  by_proxy = !proxy.empty();
  curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
}

// In memory; those of this transfer's chain of redirects.
void set_cookies(CURL* easy, const std::vector<std::string>* cookies) {
  if (cookies == nullptr) return;
  curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
  for (const std::string& line : *cookies) curl_easy_setopt(easy, CURLOPT_COOKIELIST, line.c_str());
}

}  // namespace

void HeaderList::add(const std::string& line) {
  curl_slist* longer = curl_slist_append(list_.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list_.release());
  list_.reset(longer);
}

Transfer::Transfer(const TransferRequest& asked, Receiver& hears, Traffic& counts, const std::stop_token& stops)
    : request(asked), receiver(hears), traffic(counts), stop(stops), source(asked.url.display()) {}

void Transfer::prepare(CURL* handle, const FetcherSettings& settings, bool shared) {
  for (const std::string& line : request.headers) headers.add(line);
  easy = handle;
  near_hosts = settings.web.near_hosts;
  set_proxy(easy, settings.commands.environment, request.url, by_proxy);
  static_cast<void>(judge(""));
  stall_timeout = std::chrono::milliseconds(settings.stall_timeout_ms);
  set_request(easy, request, settings);
  set_sharing(easy, shared);
  set_cookies(easy, request.cookies);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text.data());
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

Reach Transfer::judge(std::string_view address) const {
  return check_reach(request.url, by_proxy ? std::string_view() : address, near_hosts);
}

void Transfer::take_cookies() const {
  if (request.cookies == nullptr) return;
  curl_slist* lines = nullptr;
  curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &lines);
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> owner(lines, curl_slist_free_all);
  request.cookies->clear();
  for (const curl_slist* line = lines; line != nullptr; line = line->next) request.cookies->emplace_back(line->data);
}

void Transfer::count(std::uint64_t bytes) {
  body_bytes += bytes;
  traffic.bytes += bytes;
}

void Transfer::count_rest(std::uint64_t unread) {
  curl_off_t read = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &read);
  count(std::max(static_cast<std::uint64_t>(read), body_bytes) - body_bytes + unread);
}

void Transfer::resume() {
  paused = false;
  last_progress = Clock::now();
  curl_easy_pause(easy, CURLPAUSE_CONT);  // may call on_body at once
}

std::chrono::milliseconds Transfer::patience() const {
  constexpr std::chrono::milliseconds look_again{1000};
  if (!connected || paused) return look_again;
  const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - last_progress);
  return std::min(look_again, stall_timeout - silent);
}

}  // namespace sabath
