// The library knows no command line. A remedy names a field of a request or of the settings, or a verb; the program
// defines how its user writes that. A text is worded where it is made: failures, events, records and ranks' messages
// carry finished text, and no reader has to find names in it later.
//
// A host reads names in quotes. The command line installs its options when it starts. A companion is the same program,
// and uses the wording of the library that started it. Any thread may ask. A name that is not on the lists below does
// not compile. tests/unit/cli looks up each of them among the options, tests/house among the keys of requests.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sabath {

inline constexpr std::array<std::string_view, 74> option_names{
    "all",          "alone",    "anonymous",     "as",
    "at",           "blocks",   "bypass_shared", "cap",
    "checks",       "config",   "container",     "datasets",
    "deadline",     "engine",   "env",           "expect",
    "file",         "filter",   "force",         "forget",
    "format",       "from",     "have",          "host",
    "in_place",     "input",    "keep_archives", "launcher",
    "link",         "listen",   "low",           "manifest",
    "max_size",     "metric",   "mode",          "models",
    "name",         "no_fetch", "no_verify",     "nodes",
    "now",          "offline",  "output",        "partials",
    "path",         "pattern",  "ranks",         "readers",
    "refresh",      "repair",   "result",        "roots",
    "run_dir",      "run_set",  "sample",        "select",
    "set",          "set_from", "simulate",      "site",
    "stage_record", "status",   "store",         "submit",
    "threads",      "to",       "token",         "transfer_partition",
    "trust",        "undo",     "url",           "wait",
    "want",         "within"};

inline constexpr std::array<std::string_view, 32> verb_names{
    "adopt",           "apply",  "config",       "convert", "doctor", "env list", "env pack", "export",     "fetch",
    "fetchers",        "gc",     "hdf5 inspect", "import",  "info",   "job",      "keep",     "list",       "log",
    "manifest create", "path",   "report",       "rm",      "run",    "serve",    "stage",    "supporting", "task",
    "trust add",       "unkeep", "verify",       "view",    "want"};

// A name of a list; another one is an error of the compiler.
template <const auto& list>
struct Listed {
  consteval Listed(const char* written) : name(written) {
    if (std::ranges::find(list, name) == list.end()) throw "base/wording.h does not list this name";
  }
  std::string_view name;
};
using OptionName = Listed<option_names>;
using VerbName = Listed<verb_names>;

struct Wording {
  std::string_view name;                                     // sent to a companion
  bool quotes = false;                                       // names of options, in a sentence
  std::string (*option)(std::string_view name) = nullptr;    // --max-size
  std::string (*verb)(std::string_view name) = nullptr;      // sabath stage
  std::string (*by_ranks)(std::string_view name) = nullptr;  // mpirun sabath stage
  std::string (*record)(std::string_view verb) = nullptr;    // the verb's result, as the object of a sentence
};
extern const Wording wording_of_hosts;              // until another is installed
void use_wording(const Wording& wording) noexcept;  // `wording` lives as long as the process
[[nodiscard]] const Wording& wording_in_use() noexcept;

[[nodiscard]] std::string option_text(OptionName option);  // in a sentence: --max-size, "max_size"
[[nodiscard]] std::string option_name(OptionName option);  // by itself, as where a setting is from: without quotes
[[nodiscard]] std::string verb_text(VerbName verb);        // its arguments follow
[[nodiscard]] std::string verb_by_ranks_text(VerbName verb);
[[nodiscard]] std::string record_text(VerbName verb);

// What a verb is called now that was called `former`; empty: none was.
[[nodiscard]] std::string_view renamed_verb(std::string_view former) noexcept;

}  // namespace sabath
