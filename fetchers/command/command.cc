// The fetchers that are external programs: one for each description (description.h). A program's bytes are hashed like
// any other source's before they become part of the store.
#include <fcntl.h>
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "base/reach.h"
#include "base/text.h"
#include "command/arguments.h"
#include "command/description.h"
#include "command/program.h"
#include "command/scratch.h"
#include "curl/proxy.h"
#include "sabath/path.h"
#include "set/addresses.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t piece_size = 1 << 20;
constexpr milliseconds look_again{50};

// The variables that every program gets, with those that name its proxies; more only by its description.
constexpr std::string_view passed_always[] = {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK"};

constexpr std::string_view answer_mark = "answer: ";  // of a program's line that says what it was answered

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (text = trim(text); !text.empty();) {
    const std::size_t end = text.find('\n');
    lines.push_back(trim(text.substr(0, end)));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// The line that says what a rule looks for; else the last one.
std::string telling_line(std::string_view text, const std::string& pattern) {
  std::string last;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(answer_mark)) continue;
    last = line;
    if (!pattern.empty() && RE2::PartialMatch(last, pattern)) break;
  }
  return printable(last);
}

// The last answer that it speaks of; empty: of none.
std::string answer_in(std::string_view text) {
  std::string answer;
  for (const std::string_view line : lines_of(text))
    if (line.starts_with(answer_mark)) answer = line.substr(answer_mark.size());
  return answer;
}

// One read by one program.
class Run {
 public:
  Run(const Description& description, const FetcherSettings& settings, const ReadRequest& request, Sink& sink,
      Traffic& traffic, const std::stop_token& stop)
      : description_(description),
        settings_(settings),
        request_(request),
        sink_(sink),
        traffic_(traffic),
        stop_(stop),
        what_(fmt::format("cannot read {} by {}", request.url.display(), description.program())) {}

  void run() {
    const bool part = request_.offset > 0 || request_.length;
    const bool asks_end = request_.length && *request_.length > 0;
    const bool by_range = part && description_.range && (asks_end || !description_.range_has_end);
    if (request_.offset > 0 && !by_range) {
      throw Error(FailureKind::no_ranges, what_ + ": it can only be read from its start");
    }
    const Invocation& invocation = by_range ? *description_.range : description_.read;
    const Scratch scratch(settings_.commands.scratch);
    const std::string file = invocation.to_file ? scratch.file().string() : "";
    const auto argv = expand(invocation.argv, placeholders_of(request_, settings_, file, judge()), description_.name);
    info_.ranges = description_.range.has_value() && description_.range_has_end;
    info_.final_url = request_.url.display();
    last_progress_ = Clock::now();
    Program program(argv, environment(), scratch.directory());
    accept_ = &invocation.accept;
    ++traffic_.requests;
    if (invocation.to_file) return take_file(program, scratch, !by_range);
    take_output(program);
  }

 private:
  // Before it is started: what it may be told of the host's addresses; empty: nothing.
  std::string judge() {
    const Url& url = request_.url;
    if (description_.address == AddressKind::service) admit_program(url, settings_);
    if (description_.address == AddressKind::own) admit_look_up(url, settings_, stop_);
    if (description_.address != AddressKind::given) return {};
    const auto addresses = judged_addresses(url, settings_, stop_);
    Reach farthest = addresses.empty() ? reach_of(url) : Reach::host;  // it goes to one of them
    for (const std::string& address : addresses) farthest = std::min(farthest, reach_of(address));
    info_.reach = farthest;
    traffic_.reaches |= 1U << static_cast<unsigned>(farthest);
    return resolve_entry(url, addresses);
  }

  std::vector<std::pair<std::string, std::string>> environment() const {
    std::vector<std::pair<std::string, std::string>> result{{"LC_ALL", "C.UTF-8"}};
    std::set<std::string, std::less<>> names(std::begin(passed_always), std::end(passed_always));
    names.insert(proxy_variables.begin(), proxy_variables.end());
    names.insert(description_.pass.begin(), description_.pass.end());
    for (const auto& [name, value] : description_.environment) {
      result.emplace_back(name, value);
      names.erase(name);
    }
    for (const std::string& name : names) {
      const auto value = settings_.commands.environment.find(name);
      if (value != settings_.commands.environment.end()) result.push_back(*value);
    }
    return result;
  }

  void take_output(Program& program) {
    const std::uint64_t limit = request_.length.value_or(UINT64_MAX);
    std::uint64_t taken = 0;
    while (!program.output_ended()) {
      const auto bytes = program.read(look_again);
      check_time(!bytes.empty());
      traffic_.bytes += bytes.size();
      if (bytes.empty()) continue;
      begin();  // with the first byte: a program that fails says nothing before
      const auto wanted = bytes.first(std::min<std::uint64_t>(bytes.size(), limit - taken));
      if (!wanted.empty()) sink_.write(wanted);
      taken += wanted.size();
      if (taken == limit) return;  // enough: the program is ended
    }
    wait(program);
    begin();
  }

  void take_file(Program& program, const Scratch& scratch, bool whole) {
    std::uint64_t bytes = 0;
    while (!program.try_status()) {
      const bool words = program.read(look_again).size() > 0;
      const std::uint64_t now = scratch.bytes();
      check_time(words || now != bytes);
      bytes = now;
      if (program.output_ended()) std::this_thread::sleep_for(look_again);
    }
    wait(program);
    const auto status = try_lstat(scratch.file());
    if (!status || !S_ISREG(status->st_mode)) {
      throw Error(FailureKind::unavailable, what_ + ": it ended well and left no file");
    }
    const Fd fd = open_file(scratch.file(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (whole) info_.size_bytes = static_cast<std::uint64_t>(status->st_size);
    copy(fd, scratch.file(), static_cast<std::uint64_t>(status->st_size));
  }

  void copy(const Fd& fd, const std::filesystem::path& name, std::uint64_t size) {
    traffic_.bytes += size;
    begin();
    std::vector<std::byte> piece(piece_size);
    std::uint64_t left = std::min(size, request_.length.value_or(UINT64_MAX));
    for (std::uint64_t offset = 0; left > 0;) {
      check_time(true);
      const std::size_t got =
          read_at(fd.get(), std::span(piece).first(std::min<std::uint64_t>(left, piece.size())), offset, name);
      if (got == 0) throw Error(FailureKind::changed, what_ + ": its file was cut while it was read");
      sink_.write(std::span(piece).first(got));
      offset += got;
      left -= got;
    }
  }

  void begin() {
    if (!std::exchange(begun_, true)) sink_.begin(info_);
  }

  void check_time(bool progress) {
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, what_ + ": stopped");
    const auto now = Clock::now();
    if (progress) last_progress_ = now;
    if (now - last_progress_ > milliseconds(settings_.stall_timeout_ms)) {
      throw Error(FailureKind::network,
                  fmt::format("{}: no progress for {} s", what_, settings_.stall_timeout_ms / 1000),
                  "the server or the path to it is stuck; another mirror may do better");
    }
    if (now - begin_ > std::chrono::seconds(settings_.commands.deadline_s)) {
      throw Error(FailureKind::network, fmt::format("{}: not done after {} s", what_, settings_.commands.deadline_s),
                  "`command_deadline_s` of the configuration gives it more time");
    }
  }

  // Its own end; throws unless that was success.
  void wait(Program& program) {
    while (!program.try_status()) {
      check_time(false);
      static_cast<void>(program.read(look_again));
      if (program.output_ended()) std::this_thread::sleep_for(milliseconds(2));
    }
    if (*program.try_status() != 0) refuse(program);
    check_answer(program);
  }

  // Programs end well with the body of a redirect, too, and of an answer that only says "later".
  void check_answer(const Program& program) const {
    const std::string answer = answer_in(program.complaints());
    const auto is_this = [&](const std::string& each) { return to_lower(each) == to_lower(answer); };
    if (accept_->empty() || std::ranges::any_of(*accept_, is_this)) return;
    throw Error(
        FailureKind::content,
        fmt::format("{}: {}", what_,
                    answer.empty() ? "it does not say what it was answered"
                                   : fmt::format("the answer was {}, whose body is not the file", printable(answer))),
        "a redirect, or an answer without the content: name the place that has the file itself");
  }

  [[noreturn]] void refuse(Program& program) const {
    const int status = *program.try_status();
    const std::string& said = program.complaints();
    for (const FailureRule& rule : description_.failures) {
      const bool status_fits =
          rule.statuses.empty() || std::find(rule.statuses.begin(), rule.statuses.end(), status) != rule.statuses.end();
      if (!status_fits || (!rule.pattern.empty() && !RE2::PartialMatch(said, rule.pattern))) continue;
      throw Error(rule.kind, message(status, telling_line(said, rule.pattern)), rule.hint);
    }
    throw Error(FailureKind::network, message(status, telling_line(said, "")));
  }

  [[nodiscard]] std::string message(int status, const std::string& words) const {
    return fmt::format("{}: exit {}{}{}", what_, status, words.empty() ? "" : ": ", words);
  }

  const Description& description_;
  const FetcherSettings& settings_;
  const ReadRequest& request_;
  Sink& sink_;
  Traffic& traffic_;
  const std::stop_token& stop_;
  const std::string what_;
  const std::vector<std::string>* accept_ = nullptr;  // of the invocation
  ContentInfo info_;
  bool begun_ = false;
  Clock::time_point begin_ = Clock::now(), last_progress_{};
};

class CommandFetcher : public Fetcher {
 public:
  CommandFetcher(Description description, const FetcherSettings& settings)
      : description_(std::move(description)), settings_(settings) {
    settings_.more.clear();  // they may own us
  }

  std::vector<Scheme> schemes() const override {
    std::vector<Scheme> all;
    for (const std::string& name : description_.schemes) {
      all.push_back({.name = name,
                     .built = true,
                     .ranges = description_.range && description_.range_has_end,
                     .command = true,
                     .by = description_.name});
    }
    return all;
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    Run(description_, settings_, request, sink, traffic, stop).run();
  }

 private:
  Description description_;
  FetcherSettings settings_;
};

}  // namespace

// One for each description in the settings' directories, in their order; each serves the schemes that it names.
void add_command(KnownFetchers& set, const FetcherParts& parts) {
  for (Description& one : load_descriptions(parts.settings.commands.directories, parts.settings.commands.program))
    set.add(std::make_unique<CommandFetcher>(std::move(one), parts.settings));
}

}  // namespace sabath
