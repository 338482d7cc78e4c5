#include "support/fault_connection.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr std::size_t head_size_max = 64 * 1024;

std::uint64_t number_of(std::string_view text, std::uint64_t absent) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? value : absent;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 2, byte, 16).ec == std::errc()) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

void parse_target(FaultRequest& request, std::string_view target) {
  if (target.starts_with("http://"))
    target.remove_prefix(std::min(target.find('/', 7), target.size()));  // as to a proxy
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark == target.npos) return;
  for (std::string_view rest = target.substr(mark + 1); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query[decoded(pair.substr(0, equals))] = equals < pair.size() ? decoded(pair.substr(equals + 1)) : "";
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
}

void parse_range(FaultRequest& request) {
  std::string lower = request.head;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view name = "\r\nrange: bytes=";
  const std::size_t at = lower.find(name);
  if (at == lower.npos) return;
  const std::string_view text = std::string_view(lower).substr(at + name.size());
  const std::size_t dash = text.find('-');
  request.range = {number_of(text, 0), number_of(text.substr(dash + 1), UINT64_MAX)};
}

}  // namespace

std::uint64_t FaultRequest::value(const std::string& key, std::uint64_t absent) const {
  const auto found = query.find(key);
  return found == query.end() ? absent : number_of(found->second, absent);
}

std::string FaultRequest::text(const std::string& key, const std::string& absent) const {
  const auto found = query.find(key);
  return found == query.end() ? absent : found->second;
}

FaultConnection::FaultConnection(int fd, std::function<void(const std::string&, std::uint64_t)> on_body)
    : fd_(fd), on_body_(std::move(on_body)) {}

std::optional<FaultRequest> FaultConnection::read_request() {
  std::size_t end = 0;
  while ((end = unread_.find("\r\n\r\n")) == unread_.npos) {
    char buffer[4096];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0 || unread_.size() > head_size_max) return std::nullopt;
    unread_.append(buffer, static_cast<std::size_t>(got));
  }
  FaultRequest request;
  request.head = unread_.substr(0, end + 4);
  unread_.erase(0, end + 4);
  const std::size_t space = request.head.find(' ');
  const std::size_t second = request.head.find(' ', space + 1);
  if (second == request.head.npos) return std::nullopt;
  parse_target(request, std::string_view(request.head).substr(space + 1, second - space - 1));
  parse_range(request);
  path_ = request.path;
  return request;
}

void FaultConnection::send_head(std::string_view status, std::string_view fields) {
  std::string head = "HTTP/1.1 ";
  head.append(status).append("\r\n").append(fields).append("\r\n");
  send_text(head, false);
}

void FaultConnection::send_text(std::string_view text, bool counted) {
  while (open_ && !text.empty()) {
    const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return close();
    if (counted) on_body_(path_, static_cast<std::uint64_t>(sent));
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void FaultConnection::send_body(const FaultRequest& request, std::uint64_t first, std::uint64_t end) {
  std::vector<char> piece(64 * 1024);
  while (open_ && first < end) {
    const std::span<char> part(piece.data(), std::min<std::uint64_t>(piece.size(), end - first));
    fill_seeded(request.value("seed", 1), first, part);
    if (const std::uint64_t every = request.value("every", 0); every > 0) {  // the last of each `every` bytes is wrong
      for (std::uint64_t bad = first / every * every + every - 1; bad < first + part.size(); bad += every)
        part[bad - first] ^= 1;
    }
    send_text({part.data(), part.size()}, true);
    first += part.size();
  }
}

void FaultConnection::pause(std::uint64_t milliseconds) {
  pollfd client{fd_, POLLRDHUP, 0};
  if (poll(&client, 1, static_cast<int>(milliseconds)) != 0) close();  // ends early when the client leaves
}

void FaultConnection::wait_until_arrived() {
  for (int left = 1; open_ && ioctl(fd_, SIOCOUTQ, &left) == 0 && left > 0;) pause(1);
}

void FaultConnection::reset() noexcept {
  const linger now{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);  // takes effect when the owner closes the descriptor
  close();
}

void FaultConnection::wait_for_client_to_leave() {
  char byte;
  while (open_ && recv(fd_, &byte, 1, 0) > 0) continue;
  close();
}

}  // namespace sabath::test
