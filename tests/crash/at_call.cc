// Does something to a program at one of the system calls that it makes on the files of one directory tree:
//   sabath-at-call --below DIR [--ops KIND,...] [--report FILE] [WHAT] -- COMMAND...
//     WHAT   --kill-at N             SIGKILL before the Nth such call
//            --half-of N             half of the Nth write of several bytes is done, then SIGKILL
//            --fail-at N --errno E [--times M]   the Nth and the M - 1 after it fail (0: all that follow)
//            --record FILE           what was changed and what was synced, as tests/crash/disk_model.py reads it
// Without WHAT it counts. FILE of --report gets a line: how many calls there were, whether the Nth was reached, and
// which that was; then the names of all calls, with the bytes that each write has. The command's exit code is ours; 128
// + the signal if one ended it. 77: this machine does not let us.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "recorder.h"
#include "tracer.h"

namespace sabath::crash {
namespace {

struct Options {
  std::filesystem::path below, report, record;
  std::set<Kind> kinds{Kind::make,   Kind::write,  Kind::size, Kind::mode, Kind::mkdir,
                       Kind::remove, Kind::rename, Kind::link, Kind::clone};
  std::uint64_t kill_at = 0, half_of = 0, fail_at = 0, times = 1;
  int error = 0;
  std::vector<std::string> command;
};

[[noreturn]] void usage(const std::string& why) {
  std::fprintf(stderr, "sabath-at-call: %s\n", why.c_str());
  std::exit(2);
}

std::set<Kind> parse_kinds(const std::string& list) {
  std::set<Kind> kinds;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const auto kind = try_parse_kind(word);
    if (!kind) usage("no such kind: " + word);
    kinds.insert(*kind);
  }
  return kinds;
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  std::size_t i = 0;
  for (; i + 1 < words.size() && words[i] != "--"; i += 2) {
    const std::string& name = words[i];
    const std::string& value = words[i + 1];
    if (name == "--below")
      options.below = std::filesystem::weakly_canonical(value);
    else if (name == "--report")
      options.report = value;
    else if (name == "--record")
      options.record = value;
    else if (name == "--ops")
      options.kinds = parse_kinds(value);
    else if (name == "--kill-at")
      options.kill_at = std::stoull(value);
    else if (name == "--half-of")
      options.half_of = std::stoull(value);
    else if (name == "--fail-at")
      options.fail_at = std::stoull(value);
    else if (name == "--times")
      options.times = std::stoull(value);
    else if (name == "--errno")
      options.error = std::stoi(value);
    else
      usage("no such option: " + name);
  }
  if (i >= words.size() || words[i] != "--") usage("there is no -- before the command");
  options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
  if (options.below.empty() || options.command.empty()) usage("--below DIR and a command are needed");
  return options;
}

class Watch {
 public:
  explicit Watch(const Options& options) : options_(options) {
    if (!options.record.empty()) recorder_.emplace(options.below, options.record);
  }

  Then before(const Stopped& stopped) {
    const Kind kind = kind_of(stopped);
    if (!options_.kinds.contains(kind) || !is_below(stopped)) return Then::go_on;
    ++count_;
    const std::uint64_t bytes = stopped.call().length < 0 ? 0 : stopped.argument(stopped.call().length);
    calls_ += std::string(stopped.call().name) + " " + std::to_string(bytes) + "\n";
    if (recorder_) {
      recorder_->before(stopped);
      return Then::look_again;
    }
    if (count_ == options_.kill_at) return hit(stopped, Then::kill);
    if (bytes > 1 && ++writes_ == options_.half_of) {
      stopped.shorten(bytes / 2);
      return hit(stopped, Then::look_again);
    }
    const bool fails = options_.fail_at > 0 && count_ >= options_.fail_at &&
                       (options_.times == 0 || count_ < options_.fail_at + options_.times);
    if (fails) {
      stopped.fail(options_.error);
      return hit(stopped, Then::go_on);
    }
    return Then::go_on;
  }

  Then after(const Stopped& stopped, std::int64_t result) {
    if (!recorder_) return Then::kill;  // half of it is done
    recorder_->after(stopped, result);
    return Then::go_on;
  }

  void report() const {
    if (options_.report.empty()) return;
    std::ofstream out(options_.report);
    out << count_ << (what_.empty() ? " -" : " " + what_) << "\n" << calls_;
  }

 private:
  // Of open(2), whether it changes anything shows in its flags only.
  static Kind kind_of(const Stopped& stopped) {
    const Call& call = stopped.call();
    if (call.kind != Kind::make || call.flags < 0) return call.kind;
    const auto flags = static_cast<int>(stopped.argument(call.flags));
    return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? Kind::make : Kind::open;
  }

  [[nodiscard]] bool is_below(const Stopped& stopped) const {
    return contains(stopped.path(stopped.call().first)) ||
           (stopped.call().second.path >= 0 && contains(stopped.path(stopped.call().second)));
  }
  [[nodiscard]] bool contains(const std::filesystem::path& path) const {
    const std::string& root = options_.below.native();
    return path.native().starts_with(root) &&
           (path.native().size() == root.size() || path.native()[root.size()] == '/');
  }

  Then hit(const Stopped& stopped, Then then) {
    what_ = std::string(stopped.call().name) + " " + stopped.path(stopped.call().first).native();
    return then;
  }

  const Options& options_;
  std::optional<Recorder> recorder_;
  std::uint64_t count_ = 0, writes_ = 0;
  std::string what_, calls_;
};

std::vector<long> numbers_of(const std::set<Kind>& kinds) {
  std::vector<long> numbers;
  for (const Call& call : calls()) {
    const bool opens = call.kind == Kind::make && (kinds.contains(Kind::make) || kinds.contains(Kind::open));
    if (opens || kinds.contains(call.kind)) numbers.push_back(call.number);
  }
  return numbers;
}

int run(const Options& options) {
  Watch watch(options);
  const Hooks hooks{[&](const Stopped& stopped) { return watch.before(stopped); },
                    [&](const Stopped& stopped, std::int64_t result) { return watch.after(stopped, result); }};
  const int status = run_traced(options.command, numbers_of(options.kinds), hooks);
  watch.report();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace
}  // namespace sabath::crash

int main(int argc, char** argv) {
  try {
    return sabath::crash::run(sabath::crash::parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sabath-at-call: %s\n", error.what());
    return 2;
  }
}
