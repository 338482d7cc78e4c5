#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/hash.h"
#include "base/threads.h"
#include "cli/frame/variables.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/ranks.h"
#include "cli/show/render.h"
#include "cli/verb.h"
#include "comm/agree.h"
#include "sabath/error.h"
#include "verbs/version.h"

namespace sabath::cli {
namespace {

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Reads the raw words: a script that asked for a record gets one even if the line cannot be parsed.
bool asks_for_json(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

Failure unexpected(const std::string& what) {
  return {FailureKind::internal, fmt::format("internal error: {}", what),
          "this is a defect of sabath: please report it with the command and `sabath doctor --json`", std::nullopt};
}

// The system refused a thread that the program needs.
bool is_few_threads(const std::exception& error) {
  const auto* refused = dynamic_cast<const std::system_error*>(&error);
  return refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again;
}

class Program {
 public:
  Program(const std::vector<std::string>& arguments, const Environment& environment, Signals& signals, Comm* ranks)
      : arguments_(arguments), environment_(environment), signals_(signals), ranks_(ranks) {
    GlobalOptions nothing_yet;
    nothing_yet.json = asks_for_json(arguments);
    presentation_ = choose(nothing_yet);
  }

  int run() {
    int code = guarded([this] { return act(); });
    code = guarded([this, code] {
      out_.flush();
      return code;
    });
    if (ranks_ == nullptr) return code;
    return guarded([this, code] {
      const int agreed = agreed_code(*ranks_, code, signals_);
      signals_.ignore();  // a launcher may end the other ranks as soon as one has ended with a failure
      ranks_->barrier();
      return agreed;
    });
  }

 private:
  Presentation choose(const GlobalOptions& globals) const {
    return choose_presentation(globals, environment_, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1);
  }

  int act() {
    ParsedLine line;
    Configuration configuration;
    together([&] {
      line = parse_line(arguments_, verbs());
      presentation_ = choose(line.globals);
      if (line.verb != nullptr && !line.help && !line.globals.version) {
        configuration = load_configuration(line.globals, environment_);
        if (configuration.session.program.empty()) configuration.session.program = environment_.executable;
        force_hash_kernel(configuration.session.hash_kernel);
      }
    });
    if (line.help) return help(line);
    if (line.globals.version) return version();
    if (line.verb == nullptr) {
      say(help_of(line));
      return exit_code(FailureKind::usage);
    }
    if (line.verb->once && is_later_rank(environment_)) return 0;
    if (line.verb->keeps_state) signals_.let_finish();
    if (line.verb->reloads) signals_.let_reload();
    Context context{configuration, presentation_, out_, environment_, signals_, line.verb->by_ranks ? ranks_ : nullptr};
    for (const std::string& doubt : configuration.doubts) context.warn(doubt);
    if (const std::string doubt = doubt_about_variables(environment_); !doubt.empty() && ::isatty(STDERR_FILENO) == 1)
      context.warn(doubt);  // in scripts others may have variables of such names
    return signals_.code_after(line.action(context));
  }

  // If one rank cannot do it, no rank does.
  void together(const std::function<void()>& phase) const {
    if (ranks_ == nullptr) return phase();
    run_agreed(*ranks_, phase);
  }

  [[nodiscard]] std::string help_of(const ParsedLine& line) const {
    const std::size_t width = help_width(environment_);
    if (line.verb != nullptr) return help_of_verb(*line.verb, width);
    return line.group.empty() ? help_of_program(verbs(), width) : help_of_noun(line.group, verbs(), width);
  }

  int help(const ParsedLine& line) {
    out_.print(help_of(line));
    return 0;
  }

  int version() {
    out_.print(fmt::format("sabath {}\n  {:<10} {}\n", SABATH_VERSION, "MPI", mpi_version(environment_)));
    std::optional<Failure> missing;
    for (const Library& library : libraries()) {
      out_.print(fmt::format("  {:<10} {}\n", library.name, library.missing ? "missing" : library.version));
      if (!missing) missing = library.missing;
    }
    if (missing) throw Error(*missing);
    return 0;
  }

  template <typename Function>
  int guarded(Function function) {
    try {
      return function();
    } catch (const Error& error) {
      if (ranks_ != nullptr && error.failure().kind == FailureKind::nodes) end_all_ranks(error.failure());
      return fail(error.failure());
    } catch (const std::bad_alloc&) {
      const Failure failure{FailureKind::internal, "cannot go on: out of memory",
                            "use fewer lanes, more address space (`ulimit -v`), or a machine with more memory",
                            std::nullopt};
      if (ranks_ != nullptr) end_all_ranks(failure);
      return fail(failure);
    } catch (const std::exception& error) {
      const Failure failure = is_few_threads(error) ? few_threads() : unexpected(error.what());
      if (ranks_ != nullptr) end_all_ranks(failure);
      return fail(failure);
    }
  }

  // The ranks no longer know of each other: nothing can be agreed on.
  void end_all_ranks(const Failure& failure) {
    say(render_failure(failure, presentation_.verbose, presentation_.color));
    ranks_->abort(signals_.code_after(exit_code(failure.kind)));
  }

  [[nodiscard]] bool speaks() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  int fail(const Failure& failure) {
    const int code = signals_.code_after(exit_code(failure.kind));
    if (speaks() && !out_.reader_gone()) say(render_failure(failure, presentation_.verbose, presentation_.color));
    if (presentation_.json && !out_.has_record()) {
      try {
        out_.record(failure_record(failure, code));
      } catch (
          const Error&) {  // standard output is the one thing that does not work: it was said above or at the flush
      }
    }
    return code;
  }

  const std::vector<std::string>& arguments_;
  const Environment& environment_;
  Signals& signals_;
  Comm* const ranks_;
  Presentation presentation_;
  Output out_{speaks() ? STDOUT_FILENO : -1};
};

}  // namespace

int run_program(const std::vector<std::string>& arguments, const Environment& environment, Signals& signals) {
  std::unique_ptr<MpiSession> session;
  try {
    session = start_ranks(arguments, environment);
  } catch (const Error& error) {
    say(render_failure(error.failure(), false, false));
    return exit_code(error.failure().kind);
  }
  return Program(arguments, environment, signals, session ? &session->comm() : nullptr).run();
}

}  // namespace sabath::cli
