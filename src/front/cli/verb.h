// A verb of the command line: its name, its help, what it accepts and what it does. Each cmd_<name>.cc defines its own
// as a constant, and verbs.h lists these; what else the library has becomes a command by its description.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

#include "cli/frame/options.h"
#include "cli/frame/output.h"
#include "cli/frame/presentation.h"
#include "cli/frame/signals.h"
#include "sabath/comm.h"
#include "sabath/configuration.h"
#include "sabath/event.h"

namespace sabath {
struct LibraryVerb;
}

namespace sabath::cli {

// All that a verb may use. Lives as long as the verb runs; it belongs to the main thread.
struct Context {
  const Configuration& configuration;  // .session is what Session, Store and Catalogue are made from
  const Presentation& presentation;    // -v, -q, --json, colours, the terminal
  Output& out;                         // standard output
  const Environment& environment;
  const Signals& signals;
  Comm* ranks = nullptr;                   // of the MPI job that this process is a rank of, if the verb is for such
  std::stop_token stop = signals.token();  // requested by the first SIGINT, SIGTERM or SIGHUP

  [[nodiscard]] bool speaks() const { return ranks == nullptr || ranks->rank() == 0; }
  // Renders events on standard error as the presentation says, until it is destroyed. Of several ranks only rank 0
  // does.
  [[nodiscard]] std::unique_ptr<EventSink> make_progress() const;
  void say(std::string_view line) const;  // to people, on standard error; not with -q
  void warn(std::string_view text) const;
};

using Action = std::function<int(Context&)>;  // returns the exit code, or throws

struct Verb {
  std::string_view name;      // "list"; of a noun: "manifest create"; of a mode: "info --where"
  std::string_view summary;   // one line, no full stop
  std::string_view examples;  // lines of "command    what it does", shown first
  std::string_view details;   // paragraphs; may be empty
  bool keeps_state = false;   // the first signal is left to it; otherwise a signal ends the process at once
  Action (*declare)(OptionSet& options) = nullptr;  // the returned action owns the options' targets
  bool by_ranks = false;                            // under mpirun all ranks do it together
  bool once = false;                                // under mpirun only the first rank has to say it
  bool reloads = false;                             // SIGHUP asks it to read its files again
  const LibraryVerb* library = nullptr;             // of a verb without a file here: its tables stand for `declare`

  [[nodiscard]] Action options_into(OptionSet& options) const;  // declares them
};

[[nodiscard]] std::span<const Verb* const> verbs();

// "info --where" is a mode of `info`: with the option --where it takes other options, and gives another record.
[[nodiscard]] std::string_view command_of(const Verb& verb);  // "info"; of a verb that is no mode its name
[[nodiscard]] std::string_view mode_of(const Verb& verb);     // "--where"; empty: it is no mode
}  // namespace sabath::cli
