#include "curl/authorization.h"

#include <fmt/format.h>

#include <stop_token>

#include "base/file.h"
#include "base/hmac.h"
#include "base/process.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::chrono::seconds command_deadline{60};  // a keyring may ask its user

Secret token_of(const TokenPlace& place) {
  if (!place.token.empty()) return checked_token(place.token.reveal(), "the token for " + place.origin);
  if (!place.file.empty()) return read_token_file(place.file);
  const CommandResult result =
      run_command({.argv = place.command, .environment = {}, .directory = {}, .deadline = command_deadline}, {});
  if (result.status != 0) {
    throw Error(FailureKind::access,
                fmt::format("`{}` gave no token for {}: exit {}", place.command.front(), place.origin, result.status),
                "unlock the keyring, or store the token there");
  }
  return checked_token(result.out, "what `" + place.command.front() + "` prints");
}

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  std::string_view next() {
    const std::size_t begin = text_.find_first_not_of(" \t\r\n");
    if (begin == text_.npos) return {};
    text_.remove_prefix(begin);
    const std::string_view word = text_.substr(0, text_.find_first_of(" \t\r\n"));
    text_.remove_prefix(word.size());
    return word;
  }
  void skip_macro() {  // to the empty line that ends it
    const std::size_t end = text_.find("\n\n");
    text_ = end == text_.npos ? std::string_view() : text_.substr(end);
  }

 private:
  std::string_view text_;
};

}  // namespace

std::optional<Login> try_find_login(std::string_view netrc, std::string_view host) {
  Words words(netrc);
  std::optional<Login> login;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "machine" || word == "default") {
      if (login) return login;
      if (word == "machine" && to_lower(words.next()) == host) login.emplace();
    } else if (word == "macdef") {
      words.skip_macro();
    } else if (word == "login" || word == "password" || word == "account") {
      const std::string_view value = words.next();
      if (!login || word == "account") continue;
      if (word == "login")
        login->name = value;
      else
        login->password = Secret(std::string(value));
    }
  }
  return login;
}

Secret Authorizations::make_header(const Url& url) const {
  const std::string origin = url.origin();
  for (const TokenPlace& place : settings_.tokens) {
    if (place.origin == origin) return Secret(fmt::format("Authorization: Bearer {}", token_of(place).reveal()));
  }
  const bool tls = url.scheme() == "https" || url.scheme() == "sabath+tls";
  if (!tls || settings_.netrc.empty() || !try_stat(settings_.netrc)) return Secret();
  const auto login = try_find_login(read_secret_file(settings_.netrc).reveal(), url.host());
  if (!login) return Secret();
  return Secret("Authorization: Basic " + to_base64(fmt::format("{}:{}", login->name, login->password.reveal())));
}

std::optional<Secret> Authorizations::header_for(const Url& url) {
  if (settings_.tokens.empty() && settings_.netrc.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  auto found = headers_.find(url.origin());
  if (found == headers_.end()) found = headers_.emplace(url.origin(), make_header(url)).first;
  return found->second.empty() ? std::nullopt : std::optional(found->second);
}

}  // namespace sabath
