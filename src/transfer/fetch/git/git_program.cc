#include "fetch/git/git_program.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/reach.h"
#include "base/text.h"
#include "base/wording.h"
#include "fetch/git/submodule.h"
#include "fetch/hosts/ledger.h"
#include "sabath/error.h"
#include "store/named_file.h"

namespace sabath {
namespace {

bool says_no_space(const std::string& text) {
  return text.find("no space left") != std::string::npos || text.find("disk quota exceeded") != std::string::npos;
}

// Failures of a network, in the words of git, libcurl and ssh: the same command may succeed later.
constexpr const char* network_words[] = {"could not resolve",
                                         "couldn't resolve",
                                         "name resolution",
                                         "failed to connect",
                                         "couldn't connect",
                                         "unable to connect",
                                         "connection refused",
                                         "connection reset",
                                         "connection timed out",
                                         "connection closed",
                                         "connection to ",
                                         "timed out",
                                         "operation too slow",
                                         "too slow",
                                         "network is unreachable",
                                         "no route to host",
                                         "early eof",
                                         "hung up",
                                         "rpc failed",
                                         "unexpected disconnect",
                                         "broken pipe",
                                         "kex_exchange_identification",
                                         "requested url returned error: 5",
                                         "requested url returned error: 429",
                                         "transfer closed",
                                         "empty reply",
                                         "recv failure",
                                         "send failure",
                                         "ssl_error_syscall",
                                         "bytes remaining to read"};

Failure classify(const GitSource& git, const std::string& err) {
  const std::string text = to_lower(err);
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  const std::string message =
      fmt::format("git could not read {}: {}", printable(git.origin), printable(std::string(trim(err)), 400));
  if (has("authentication failed") || has("could not read username") || has("permission denied") ||
      has("host key verification failed") || has("requested url returned error: 403") ||
      has("requested url returned error: 401")) {
    return {FailureKind::access, message,
            "the repository wants a login: clone it by hand and give the clone with " + option_text("path"),
            std::nullopt};
  }
  if (has("not found") || has("does not exist") || has("not appear to be a git repository") ||
      has("couldn't find remote ref") || has("not our ref") || has("unadvertised object")) {
    return {FailureKind::unavailable, message, "check origin, branch, tag or commit in the recipe", std::nullopt};
  }
  if (has("fsck error") || has("invalid index-pack output") || has("bad object") || has("inflate")) {
    return {
        FailureKind::invalid, message,
        "git's own check refuses the repository: its owner must mend it, or take a commit or an archive without that",
        std::nullopt};
  }
  if (has("failed to connect")) {
    return {FailureKind::network, message,
            "the same command tries again; if http_proxy, https_proxy or all_proxy names that host, the proxy takes no "
            "connection: correct or unset the variable",
            std::nullopt};
  }
  if (has("could not resolve host") || has("unable to look up")) {
    return {FailureKind::network, message, "check the host name and this machine's name service", std::nullopt};
  }
  if (std::ranges::any_of(network_words, has))
    return {FailureKind::network, message, "the same command tries again", std::nullopt};
  if (has("certificate")) {
    return {FailureKind::unavailable, message,
            "git does not trust the server: name a PEM file that has its authority, or the intermediate certificate "
            "that it leaves out, by GIT_SSL_CAINFO",
            std::nullopt};
  }
  return {FailureKind::command, message, "see what git says; `git ls-remote` of this origin tells more", std::nullopt};
}

// Before git asks a host: it is told where that is, by an address that was judged. By ssh and its own protocol it
// cannot be told. It follows no redirect.
void judge_origin(FetchContext& context, const GitSource& git, Command& command) {
  if (const auto place = local_path(git.origin); !place.empty())
    return check_named_file(git.namer, place, printable(git.origin));
  const auto url = url_of(git);
  if (!url) return;
  if (url->scheme() != "https" && url->scheme() != "http") return context.fetchers.admit_program(*url);
  const std::string resolve = context.fetchers.addresses_of(*url, context.stop);
  if (!resolve.empty()) command.argv.insert(command.argv.begin() + 1, {"-c", "http.curloptResolve=" + resolve});
  auto& reaches = context.ledger.line(git.origin).traffic.reaches;
  if (resolve.empty()) reaches |= 1U << static_cast<unsigned>(reach_of(*url));
  std::string_view rest = resolve;
  rest.remove_prefix(rest.rfind(':', rest.find('[')) + 1);
  for (; !rest.empty(); rest.remove_prefix(std::min(rest.find(','), rest.size() - 1) + 1))
    reaches |= 1U << static_cast<unsigned>(reach_of(rest.substr(0, rest.find(','))));
}

}  // namespace

Command git_command(std::vector<std::string> arguments) {
  Command command;
  command.argv = {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "core.symlinks=true",
                  "-c", "fetch.unpackLimit=1", "-c", "transfer.fsckObjects=true", "-c", "advice.detachedHead=false",
                  "-c", "core.attributesFile=/dev/null", "-c", "core.fsmonitor=false",
                  // No user is there to answer a question; a connection that is silent for a minute is dead.
                  "-c", "core.sshCommand=ssh -oBatchMode=yes -oServerAliveInterval=20", "-c", "http.lowSpeedLimit=1",
                  "-c", "http.lowSpeedTime=60", "-c", "http.followRedirects=false"};
  // Flaws that old tools wrote: git takes them, and they harm nothing. They are in words, or in the spelling of a mode.
  for (const char* harmless :
       {"zeroPaddedFilemode", "badFilemode", "missingSpaceBeforeDate", "missingSpaceBeforeEmail",
        "missingNameBeforeEmail", "missingEmail", "badEmail", "badName", "badDate", "badDateOverflow", "zeroPaddedDate",
        "badTimezone", "multipleAuthors", "missingTaggerEntry", "badTagName", "nulInCommit"}) {
    command.argv.insert(command.argv.end(), {"-c", fmt::format("fetch.fsck.{}=ignore", harmless)});
  }
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = {{"GIT_TERMINAL_PROMPT", "0"},
                         {"GIT_CONFIG_NOSYSTEM", "1"},
                         {"GIT_CONFIG_GLOBAL", "/dev/null"},
                         {"GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file"},
                         {"GIT_ASKPASS", "true"},
                         {"GIT_DIR", ""},
                         {"GIT_WORK_TREE", ""},
                         {"GIT_INDEX_FILE", ""},
                         {"LC_ALL", "C"}};
  return command;
}

std::optional<Url> url_of(const GitSource& git) {
  std::string text = git.origin;
  constexpr std::string_view ssh = "ssh://";
  if (const std::size_t at = text.find('@'); text.starts_with(ssh) && at < text.find('/', ssh.size()))
    text.erase(ssh.size(), at + 1 - ssh.size());
  const auto url = Url::try_parse(text);
  return url ? std::optional(url->named_by(git.namer)) : std::nullopt;
}

std::string run_git(FetchContext& context, const GitSource& git, Command command, bool network) {
  SourceLine& line = context.ledger.line(git.origin);
  if (network) {
    judge_origin(context, git, command);
    ++line.traffic.requests;
  }
  const CommandResult result = run_command(command, context.stop);
  if (result.status == 0) return result.out;
  Failure failure = classify(git, result.err);
  if (says_no_space(to_lower(result.err))) {
    failure = {FailureKind::space,
               failure.message,
               fmt::format("free some space, or choose another place with {} DIR", option_text("store")),
               {}};
  } else if (!network) {
    failure = {FailureKind::command, failure.message, "", {}};
  }
  if (network) line.failed(failure, false);
  throw Error(failure);
}

}  // namespace sabath
