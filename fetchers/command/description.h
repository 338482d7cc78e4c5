// An external program that moves bytes, described by data: *.json, docs/commands.md. Parsing is pure; any thread.
// Throws Error{invalid} as "file:line: what is wrong".
//
// A description cannot say anything to a shell, for there is none. Text from a URL becomes (part of) one element of
// argv. Where it stands at the front of an element, where a '-' would make it an option, the description must have put
// "--" before it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"

namespace sabath {

// One element of argv, or a group of elements that is left out when one of its placeholders has no value.
struct ArgumentGroup {
  std::vector<std::string> elements;
  bool optional = false;
};

struct Invocation {
  std::vector<ArgumentGroup> argv;
  bool to_file = false;  // it writes {file}; else its standard output is the content
  // What it must have been answered, "HTTP 200", for an end with exit status 0 to be a success. It says so in a line
  // "answer: HTTP 200" on standard error. Empty: it is believed without.
  std::vector<std::string> accept{};
};

// How an end that was no success is understood: the first rule that fits.
struct FailureRule {
  std::vector<int> statuses;  // none: any but 0
  std::string pattern;        // RE2, searched in what it wrote to standard error; empty: anything
  FailureKind kind = FailureKind::network;
  std::string hint;
};

// Who finds the host's address, and how the request is judged (base/reach.h).
enum class AddressKind {
  given,    // SABATH: the program is told the judged one, {resolve}
  own,      // the program: it is not started for a host that others name
  service,  // the same; the URL's host is a bucket or a collection, which is had from the program's own service
};

struct Description {
  std::string name, origin;  // its file
  std::vector<std::string> schemes;
  AddressKind address = AddressKind::own;
  Invocation read;                                               // the whole
  std::optional<Invocation> range;                               // from {offset} on
  bool range_has_end = false;                                    // ... to {last}; else it is ended when there is enough
  std::vector<std::pair<std::string, std::string>> environment;  // set
  std::vector<std::string> pass;                                 // taken from the user's
  std::vector<FailureRule> failures;
  std::string tried;  // with what, when; empty: never
  [[nodiscard]] const std::string& program() const { return read.argv.front().elements.front(); }
};

[[nodiscard]] Description parse_description(std::string_view text, const std::string& origin);
// All *.json of the directories, by name; of two with one name the first. A file that is wrong or that others may write
// is an Error: what a site says must not be passed over in silence. `program`: as why_not_own() has it.
[[nodiscard]] std::vector<Description> load_descriptions(const std::vector<std::filesystem::path>& directories,
                                                         const std::filesystem::path& program = {});

}  // namespace sabath
