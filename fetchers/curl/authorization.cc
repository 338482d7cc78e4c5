#include "curl/authorization.h"

#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <utility>

#include "base/file.h"
#include "base/hmac.h"
#include "base/process.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

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

// A netrc file in words, as curl reads it: blanks and line ends part them, '#' at the start of one begins a comment,
// "..." may hold blanks and \" \\ \n \r \t.
class Words {
 public:
  Words(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // nullopt: there are no more.
  std::optional<std::string> next() {
    for (;;) {
      const std::size_t begin = text_.find_first_not_of(" \t\r\n");
      if (begin == text_.npos) return std::nullopt;
      text_.remove_prefix(begin);
      if (text_.front() != '#') break;
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
    }
    if (text_.front() == '"') return quoted();
    const std::string word(text_.substr(0, text_.find_first_of(" \t\r\n")));
    text_.remove_prefix(word.size());
    return word;
  }

  void skip_macro() {  // to the empty line that ends it
    do {
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      if (!text_.empty()) text_.remove_prefix(1);
    } while (!text_.empty() && text_.front() != '\n' && !text_.starts_with("\r\n"));
  }

 private:
  std::string quoted() {
    std::string word;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      char c = text_[i];
      if (c == '"') {
        text_.remove_prefix(i + 1);
        return word;
      }
      if (c == '\\' && ++i < text_.size()) c = unescaped(text_[i]);
      word += c;
    }
    throw Error(FailureKind::usage, fmt::format("cannot read {}: a text in quotes has no end", printable(file_)),
                "close it with \", or write \\\" for one that belongs to it");
  }

  static char unescaped(char c) {
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      default:
        return c;
    }
  }

  std::string_view text_;
  const std::string& file_;  // its name, for messages
};

}  // namespace

std::optional<Login> try_find_login(std::string_view netrc, std::string_view host, const std::string& file) {
  const auto complete = [](const std::optional<Login>& login) {
    return login && !login->name.empty() && !login->password.empty();
  };
  Words words(netrc, file);
  std::optional<Login> login, half;  // of the entry that is read; of one that lacks name or password
  for (auto word = words.next(); word; word = words.next()) {
    const std::string key = to_lower(*word);
    if (key == "machine" || key == "default") {
      if (complete(login)) return login;
      if (!half) half = std::move(login);
      login.reset();
      if (key == "machine" && to_lower(words.next().value_or("")) == host) login.emplace();
    } else if (key == "macdef") {
      words.skip_macro();
    } else if (key == "login" || key == "password" || key == "account") {
      std::string value = words.next().value_or("");
      if (!login || key == "account") continue;
      if (key == "login") {
        login->name = std::move(value);
      } else {
        login->password = Secret(std::move(value));
      }
    }
  }
  return complete(login) || !half ? login : half;
}

Secret Authorizations::make_header(const Url& url) const {
  const std::string origin = url.origin();
  for (const TokenPlace& place : settings_.tokens) {
    if (place.origin == origin) return Secret(fmt::format("Authorization: Bearer {}", token_of(place).reveal()));
  }
  const bool tls = url.scheme() == "https" || url.scheme() == "sabath+tls";
  if (!tls || settings_.netrc.empty() || !try_stat(settings_.netrc)) return Secret();
  const auto login = try_find_login(read_secret_file(settings_.netrc).reveal(), url.host(), settings_.netrc.string());
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
