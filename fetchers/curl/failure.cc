#include "curl/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

struct Meaning {
  FailureKind kind;
  const char* hint;
};

constexpr const char* tls_hint =
    "check the URL's host name and this machine's clock; if a site's own authority signed the certificate, name its "
    "PEM file by `ca_file` of the configuration";

// OpenSSL's words for a chain that ends before an authority that this machine knows. Which of the two it is, only the
// server's answer shows.
constexpr const char* chain_hint =
    "the server left out an intermediate certificate, or a site's own authority signed it: get the missing certificate "
    "(`openssl s_client -showcerts -connect HOST:443` shows what is sent), and name its PEM file by `ca_file` of the "
    "configuration; the server's administrator mends it for all by sending the whole chain";

constexpr const char* users_hint = "allow it fewer connections in the recipe's limits, or try again later";

// A TLS handshake that the network cut short is worth a retry, one that the peers could not agree on is not.
bool handshake_was_cut(CURL* easy, std::string_view detail) {
  long os_error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
  return os_error != 0 || detail.find("SSL_ERROR_SYSCALL") != detail.npos ||
         detail.find("unexpected eof") != detail.npos;
}

Meaning after_bad_certificate(std::string_view detail) {
  const bool cut = detail.find("unable to get local issuer") != detail.npos ||
                   detail.find("unable to verify the first certificate") != detail.npos;
  return {FailureKind::unavailable, cut ? chain_hint : tls_hint};
}

// As libcurl names it: without the brackets of an IPv6 address and the dot of the root.
std::string plain_host(std::string_view host) {
  if (host.starts_with('[')) host = host.substr(1, host.find(']') - 1);
  if (host.ends_with('.')) host.remove_suffix(1);
  return to_lower(host);
}

// The proxy that libcurl tried to reach instead of the URL's host, as "HOST port N"; empty: none. libcurl 7.88 names
// what it connected to in its words alone. FTP opens other ports of the same host.
std::string_view silent_proxy(CURLcode code, std::string_view detail, const Url& url) {
  constexpr std::string_view before = "connect to ", middle = " port ";
  const std::size_t begin = detail.find(before), port = detail.find(middle);
  if (code != CURLE_COULDNT_CONNECT || begin == detail.npos || port == detail.npos || port < begin) return {};
  const std::size_t host = begin + before.size(), number = port + middle.size();
  const std::size_t end = std::min(detail.size(), detail.find_first_not_of("0123456789", number));
  const unsigned usual = url.scheme() == "https" ? 443 : 80;
  const bool same_port = url.scheme().starts_with("ftp") ||
                         detail.substr(number, end - number) == fmt::to_string(url.port().value_or(usual));
  const std::string_view named = detail.substr(host, port - host);
  return plain_host(named) == plain_host(url.host()) && same_port ? std::string_view()
                                                                  : detail.substr(host, end - host);
}

Failure failure_of_proxy(std::string_view proxy, std::string_view detail, const Url& url) {
  return {FailureKind::network,
          fmt::format("cannot read {}: the proxy {} takes no connection ({})", url.display(), printable(proxy),
                      printable(detail)),
          fmt::format("{}_proxy or all_proxy names it: correct or unset that variable, or name {} in no_proxy if this "
                      "machine reaches it without a proxy",
                      url.scheme(), url.host()),
          std::nullopt};
}

// A proxy's answer to CONNECT is not the source's, and libcurl tells it only as a failed receive.
Meaning after_receive_error(CURL* easy) {
  long connect_status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_status);
  if (connect_status == 407) return {FailureKind::access, "the proxy wants a login: see https_proxy and http_proxy"};
  if (connect_status >= 400) return {FailureKind::network, "the proxy refused the connection: see https_proxy"};
  return {FailureKind::network, ""};
}

// FTP's 421 (RFC 959 section 4.2.2), which libcurl takes for a timeout.
bool takes_no_more_users(CURL* easy, const Url& url) {
  long reply = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply);
  return url.scheme().starts_with("ftp") && reply == 421;
}

// A server that speaks TLS from the first byte can say so only in clear.
bool greets_in_clear(CURLcode code, std::string_view detail, const Url& url) {
  return url.scheme() == "ftps" && code == CURLE_SSL_CONNECT_ERROR &&
         detail.find("wrong version number") != detail.npos;
}

// FTP: 5xx is for good (RFC 959 section 4.2.1), 4xx may be otherwise in a minute.
Meaning after_refused_login(CURL* easy) {
  long reply = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply);
  if (reply >= 400 && reply < 500) return {FailureKind::network, "the server takes no more users now"};
  if (reply == 550) return {FailureKind::unavailable, "check the path, or use another mirror"};  // no such directory
  return {FailureKind::access, "the server wants a login that SABATH does not have for it"};
}

// A host that refuses is there; one that is silent, or that no way leads to, may be behind a proxy.
Meaning after_no_connection(CURL* easy) {
  long error = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
  if (error != ECONNREFUSED) return {FailureKind::network, "if this machine needs a proxy, set https_proxy"};
  return {FailureKind::network, "no server listens there: check host and port, and that the server runs"};
}

Meaning meaning_of(CURLcode code, CURL* easy, std::string_view detail) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {FailureKind::unavailable, "check the host name and this machine's name service"};
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return {FailureKind::unavailable, "check http_proxy, https_proxy and no_proxy"};
    case CURLE_COULDNT_CONNECT:
      return after_no_connection(easy);
    case CURLE_OPERATION_TIMEDOUT:
      return {FailureKind::network,
              "the host, or the proxy that https_proxy names, did not answer; if this machine needs a proxy, set it"};
    case CURLE_SSL_CONNECT_ERROR:
      if (handshake_was_cut(easy, detail)) return {FailureKind::network, ""};
      return {FailureKind::unavailable, tls_hint};
    case CURLE_PEER_FAILED_VERIFICATION:
      return after_bad_certificate(detail);
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return {FailureKind::unavailable, tls_hint};
    case CURLE_USE_SSL_FAILED:
      return {FailureKind::unavailable, "the server would send the data in clear; use another mirror"};
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
      return {FailureKind::unavailable, "the CA file cannot be read as PEM: check `ca_file` of the configuration"};
    case CURLE_RECV_ERROR:
      return after_receive_error(easy);
    case CURLE_LOGIN_DENIED:
    case CURLE_REMOTE_ACCESS_DENIED:
      return after_refused_login(easy);
    case CURLE_REMOTE_FILE_NOT_FOUND:
    case CURLE_FTP_COULDNT_RETR_FILE:
      return {FailureKind::unavailable, "check the path, or use another mirror"};
    case CURLE_FTP_COULDNT_USE_REST:
      return {FailureKind::no_ranges, ""};
    case CURLE_BAD_DOWNLOAD_RESUME:
      return {FailureKind::unavailable, "the source is shorter than the offset that was asked for"};
    case CURLE_BAD_CONTENT_ENCODING:
      return {FailureKind::content, "its bytes are not packed as its Content-Encoding says; use another mirror"};
    case CURLE_URL_MALFORMAT:
    case CURLE_HTTP_RETURNED_ERROR:
      return {FailureKind::unavailable, ""};
    // libcurl's word for a line that is longer than it keeps; when memory is short, something else of ours fails first.
    case CURLE_OUT_OF_MEMORY:
      return {FailureKind::unavailable, "the server sent a line without an end, or memory is short"};
    case CURLE_FAILED_INIT:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_UNKNOWN_OPTION:
      return {FailureKind::internal, ""};
    // Resets, short bodies, half-spoken protocols: another try may find a better moment. Words that are not HTTP's are
    // among them: they may be what a server sent too much of before, and a new connection is rid of that.
    default:
      return {FailureKind::network, ""};
  }
}

}  // namespace

Failure failure_of(CURLcode code, CURL* easy, std::string_view detail, const Url& url) {
  if (const auto proxy = silent_proxy(code, detail, url); !proxy.empty()) return failure_of_proxy(proxy, detail, url);
  std::string what = printable(detail.empty() ? std::string_view(curl_easy_strerror(code)) : detail);
  Meaning meaning = meaning_of(code, easy, detail);
  std::optional<std::chrono::milliseconds> retry_after;
  const bool in_clear = greets_in_clear(code, detail, url);
  if (in_clear || takes_no_more_users(easy, url)) {
    what = in_clear ? fmt::format("it takes no more users now, or speaks no TLS ({})", what)
                    : "it takes no more users now";
    meaning = {FailureKind::network, users_hint};
    retry_after = std::chrono::milliseconds(0);  // it does not say how long
  }
  const char* cut = code == CURLE_PARTIAL_FILE ? "truncated: " : "";
  return {meaning.kind, fmt::format("cannot read {}: {}{}", url.display(), cut, what), meaning.hint, retry_after};
}

}  // namespace sabath
