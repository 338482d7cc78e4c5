#include "command/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Those that come from a URL: a path may begin with anything. `url`, `host`, `authority` and `file` cannot begin with
// '-', numbers neither, and what the settings say is its user's own.
constexpr std::array<std::string_view, 3> hostile{"path", "name", "literal_path"};
constexpr std::array<std::string_view, 13> harmless{"url",         "origin",  "host",   "port", "authority",
                                                    "offset",      "length",  "last",   "file", "ssh_config",
                                                    "s3_endpoint", "ca_file", "resolve"};

bool is_hostile(std::string_view name) { return std::find(hostile.begin(), hostile.end(), name) != hostile.end(); }
bool is_known(std::string_view name) {
  return is_hostile(name) || std::find(harmless.begin(), harmless.end(), name) != harmless.end();
}

// Calls `literal` and `placeholder` for the parts of an element in order.
void walk(std::string_view element, const std::function<void(std::string_view)>& literal,
          const std::function<void(std::string_view)>& placeholder) {
  while (!element.empty()) {
    const std::size_t open = element.find('{');
    const std::size_t close = open == element.npos ? open : element.find('}', open);
    if (close == element.npos) return literal(element);
    const bool own = open > 0 && element[open - 1] == '%';  // %{...}: a word of the program, curl's for one
    if (open > 0) literal(element.substr(0, own ? close + 1 : open));
    if (!own) placeholder(element.substr(open + 1, close - open - 1));
    element.remove_prefix(close + 1);
  }
}

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_with_control(text.substr(i))) return true;
  }
  return false;
}

// For programs that take a path for a pattern.
std::string escape_pattern(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

[[noreturn]] void refuse(const Url& url, std::string_view why) {
  throw Error(FailureKind::invalid, fmt::format("cannot read {} by a program: {}", url.display(), why),
              "no such name is handed to a program");
}

}  // namespace

Placeholders placeholders_of(const ReadRequest& request, const FetcherSettings& settings, const std::string& file,
                             const std::string& resolve) {
  const Url& url = request.url;
  const std::string path = percent_decode(url.path());
  if (has_control(path)) refuse(url, "its path holds control characters");
  if (!url.query().empty()) {
    throw Error(FailureKind::unavailable,
                fmt::format("cannot read {} by a program: its URL has a query", url.display()),
                "a query may be a signature, and all users see a program's arguments");
  }
  if (url.host().starts_with('-')) refuse(url, "its host begins with '-'");
  Placeholders values{{"url", url.text()},
                      {"origin", url.origin()},
                      {"host", url.host()},
                      {"path", path},
                      {"literal_path", escape_pattern(path)},
                      {"name", path.starts_with('/') ? path.substr(1) : path},
                      {"offset", std::to_string(request.offset)},
                      {"authority", url.host()}};
  if (url.port()) {
    values["port"] = std::to_string(*url.port());
    values["authority"] += ":" + values["port"];
  }
  if (request.length && *request.length > 0) {
    values["length"] = std::to_string(*request.length);
    const std::uint64_t last = request.offset + std::min(*request.length, UINT64_MAX - request.offset) - 1;
    values["last"] = std::to_string(last);
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) values[name] = value;
  };
  add("file", file);
  add("resolve", resolve);
  add("ssh_config", settings.ssh.config.string());
  add("s3_endpoint", settings.s3.endpoint_url);
  add("ca_file", settings.ca_file);
  return values;
}

std::vector<std::string> expand(const std::vector<ArgumentGroup>& argv, const Placeholders& values,
                                const std::string& name) {
  std::vector<std::string> result;
  bool after_dashes = false;
  for (const ArgumentGroup& group : argv) {
    std::vector<std::string> elements;
    bool complete = true;
    for (const std::string& element : group.elements) {
      std::string text;
      walk(
          element, [&](std::string_view literal) { text += literal; },
          [&](std::string_view placeholder) {
            const auto value = values.find(placeholder);
            complete = complete && value != values.end();
            if (value != values.end()) text += value->second;
          });
      after_dashes = after_dashes || element == "--";
      if (!after_dashes && element.starts_with('{') && text.starts_with('-')) {
        throw Error(FailureKind::invalid, fmt::format("{} would take '{}' for an option", name, printable(text)));
      }
      elements.push_back(std::move(text));
    }
    if (!complete && !group.optional) {
      throw Error(FailureKind::unavailable, fmt::format("{} needs more than this URL says", name),
                  "its description puts what may be absent into a group of its own: [\"-P\", \"{port}\"]");
    }
    if (complete) result.insert(result.end(), elements.begin(), elements.end());
  }
  return result;
}

std::string fault_of(const std::vector<ArgumentGroup>& argv) {
  std::string fault;
  bool after_dashes = false;
  if (argv.front().optional || argv.front().elements.front().find('{') != std::string::npos) {
    return "does not begin with the name of a program";
  }
  for (const ArgumentGroup& group : argv) {
    if (group.elements.empty()) return "has an empty group";
    for (const std::string& element : group.elements) {
      after_dashes = after_dashes || element == "--";
      bool first = true;
      walk(
          element, [&](std::string_view) { first = false; },
          [&](std::string_view name) {
            if (!is_known(name)) fault = fmt::format("uses {{{}}}, which means nothing", printable(name));
            if (first && is_hostile(name) && !after_dashes) {
              fault =
                  fmt::format("lets {{{}}} begin an argument: it may begin with '-', so put \"--\" before it", name);
            }
            first = false;
          });
    }
  }
  return fault;
}

}  // namespace sabath
