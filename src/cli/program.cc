#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/help.h"
#include "cli/parser.h"
#include "cli/render.h"
#include "cli/verb.h"
#include "cli/version.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Before the line is parsed nobody knows what was meant; a script that asked for a record still gets one.
bool asks_for_json(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

Failure unexpected(const std::string& what) {
  return {FailureKind::internal, fmt::format("internal error: {}", what),
          "this is a defect of sabath: please report it with the command and `sabath doctor --json`", std::nullopt};
}

class Program {
 public:
  Program(const std::vector<std::string>& arguments, const Environment& environment, Signals& signals)
      : arguments_(arguments), environment_(environment), signals_(signals) {
    GlobalOptions nothing_yet;
    nothing_yet.json = asks_for_json(arguments);
    presentation_ = choose(nothing_yet);
  }

  int run() {
    const int code = guarded([this] { return act(); });
    return guarded([this, code] {
      out_.flush();
      return code;
    });
  }

 private:
  Presentation choose(const GlobalOptions& globals) const {
    return choose_presentation(globals, environment_, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1);
  }

  int act() {
    const ParsedLine line = parse_line(arguments_, verbs());
    presentation_ = choose(line.globals);
    if (line.help) return help(line);
    if (line.globals.version) return version();
    if (line.verb == nullptr) {
      say(line.group.empty() ? help_of_program(verbs()) : help_of_group(line.group, verbs()));
      return exit_code(FailureKind::usage);
    }
    const Configuration configuration = load_configuration(line.globals, environment_);
    if (line.verb->keeps_state) signals_.let_finish();
    Context context{configuration, presentation_, out_, environment_, signals_};
    return signals_.code_after(line.action(context));
  }

  int help(const ParsedLine& line) {
    out_.print(line.verb != nullptr ? help_of_verb(*line.verb)
               : line.group.empty() ? help_of_program(verbs())
                                    : help_of_group(line.group, verbs()));
    return 0;
  }

  int version() {
    out_.print(fmt::format("sabath {}\n", SABATH_VERSION));
    for (const auto& [name, text] : library_versions()) out_.print(fmt::format("  {:<10} {}\n", name, text));
    return 0;
  }

  template <typename Function>
  int guarded(Function function) {
    try {
      return function();
    } catch (const Error& error) {
      return fail(error.failure());
    } catch (const std::bad_alloc&) {
      return fail({FailureKind::internal, "cannot go on: out of memory",
                   "use fewer lanes, or a machine with more memory", std::nullopt});
    } catch (const std::exception& error) {
      return fail(unexpected(error.what()));
    }
  }

  int fail(const Failure& failure) {
    const int code = signals_.code_after(exit_code(failure.kind));
    if (!out_.reader_gone()) say(render_failure(failure, presentation_.verbose, presentation_.color));
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
  Presentation presentation_;
  Output out_{STDOUT_FILENO};
};

}  // namespace

int run_program(const std::vector<std::string>& arguments, const Environment& environment, Signals& signals) {
  return Program(arguments, environment, signals).run();
}

}  // namespace sabath::cli
