#include "command/description.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/ownership.h"
#include "command/arguments.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t file_size_max = 256 * 1024;
constexpr std::size_t descriptions_max = 1000;
constexpr int pattern_memory_max = 1 << 20;

const std::map<std::string, FailureKind, std::less<>> kinds = {{"network", FailureKind::network},
                                                               {"unavailable", FailureKind::unavailable},
                                                               {"access", FailureKind::access},
                                                               {"no_ranges", FailureKind::no_ranges},
                                                               {"space", FailureKind::space}};

const std::map<std::string, AddressKind, std::less<>> addresses = {
    {"given", AddressKind::given}, {"own", AddressKind::own}, {"service", AddressKind::service}};

class Parser {
 public:
  Parser(const JsonValue& document, const std::string& origin) : object_(document, origin, "a description") {
    result_.origin = origin;
  }

  Description parse() {
    if (object_.try_uint("schema") != 1) object_.fail("schema", "is not 1");
    result_.name = object_.text("name");
    result_.schemes = object_.texts("schemes");
    if (result_.schemes.empty()) object_.fail("schemes", "names none");
    for (const std::string& scheme : result_.schemes) check_word(scheme);
    check_word(result_.name);
    auto read = object_.try_object("read", "how it reads");
    if (!read) object_.fail("read", "is missing");
    result_.read = invocation(*read);
    if (auto range = object_.try_object("range", "how it reads a range")) {
      result_.range = invocation(*range);
      result_.range_has_end = uses(*result_.range, "{last}") || uses(*result_.range, "{length}");
      if (!uses(*result_.range, "{offset}")) object_.fail("range", "does not use {offset}");
    }
    address();
    environment();
    failures();
    result_.tried = object_.try_text("tried").value_or("");
    static_cast<void>(object_.try_text("note"));
    object_.finish();
    return std::move(result_);
  }

 private:
  void check_word(const std::string& word) const {
    const bool good = std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
    });
    if (!good || word.size() > 32) object_.fail("name", "and schemes are short words of a-z, 0-9, '-', '+' and '.'");
  }

  static bool uses(const Invocation& invocation, std::string_view placeholder) {
    for (const ArgumentGroup& group : invocation.argv) {
      for (const std::string& element : group.elements) {
        if (element.find(placeholder) != element.npos) return true;
      }
    }
    return false;
  }

  Invocation invocation(JsonObject& object) {
    Invocation result;
    const JsonValue::Array* argv = object.try_array("argv");
    if (argv == nullptr || argv->empty()) object.fail("argv", "names no program");
    for (const JsonValue& value : *argv) {
      ArgumentGroup group;
      if (const auto* several = value.get<JsonValue::Array>()) {
        group.optional = true;
        for (const JsonValue& each : *several) group.elements.push_back(checked_text(each, object.origin(), "argv"));
      } else {
        group.elements.push_back(checked_text(value, object.origin(), "argv"));
      }
      result.argv.push_back(std::move(group));
    }
    const std::string output = object.text("output");
    if (output != "stdout" && output != "file") object.fail("output", "is neither \"stdout\" nor \"file\"");
    result.to_file = output == "file";
    if (result.to_file != uses(result, "{file}")) object.fail("argv", "and output do not agree about {file}");
    result.accept = object.texts("accept");
    if (const std::string why = fault_of(result.argv); !why.empty()) object.fail("argv", why);
    object.finish();
    return result;
  }

  void address() {
    const std::string kind = object_.try_text("address").value_or("own");
    const auto known = addresses.find(kind);
    if (known == addresses.end()) object_.fail("address", "is none of given, own, service");
    result_.address = known->second;
    const bool told = uses(result_.read, "{resolve}") && (!result_.range || uses(*result_.range, "{resolve}"));
    const bool some = uses(result_.read, "{resolve}") || (result_.range && uses(*result_.range, "{resolve}"));
    if (result_.address == AddressKind::given ? !told : some) object_.fail("address", "and {resolve} do not agree");
  }

  void environment() {
    if (auto set = object_.try_object("environment", "the environment")) {
      for (const JsonMember& member : set->members()) {
        result_.environment.emplace_back(member.key, checked_text(member.value, object_.origin(), member.key));
        static_cast<void>(set->find(member.key));
      }
    }
    result_.pass = object_.texts("pass");
  }

  void failures() {
    const JsonValue::Array* rules = object_.try_array("failures");
    if (rules == nullptr) return;
    for (const JsonValue& value : *rules) {
      JsonObject rule(value, object_.origin(), "a failure");
      FailureRule result;
      if (const auto* statuses = rule.try_array("exit")) {
        for (const JsonValue& status : *statuses) {
          const auto* number = status.get<std::uint64_t>();
          if (number == nullptr || *number == 0 || *number > 255) rule.fail("exit", "holds no exit status");
          result.statuses.push_back(static_cast<int>(*number));
        }
      }
      result.pattern = rule.try_text("stderr").value_or("");
      check_pattern(rule, result.pattern);
      const auto kind = kinds.find(rule.text("kind"));
      if (kind == kinds.end()) rule.fail("kind", "is none of network, unavailable, access, no_ranges, space");
      result.kind = kind->second;
      result.hint = rule.try_text("hint").value_or("");
      rule.finish();
      result_.failures.push_back(std::move(result));
    }
  }

  static void check_pattern(const JsonObject& rule, const std::string& pattern) {
    RE2::Options options;
    options.set_max_mem(pattern_memory_max);
    options.set_log_errors(false);
    if (const RE2 compiled(pattern, options); !compiled.ok()) rule.fail("stderr", "is no pattern: " + compiled.error());
  }

  JsonObject object_;
  Description result_;
};

// What is judged is what is read: no symlink is left in the name.
std::string read_trusted(const std::filesystem::path& named, const std::filesystem::path& program) {
  std::error_code absent;
  const std::filesystem::path file = std::filesystem::canonical(named, absent);
  if (absent) return "";
  const auto why = why_not_own(file, program);
  if (why || !std::filesystem::is_regular_file(file, absent)) {
    throw Error(FailureKind::access,
                fmt::format("{} says what to run, and is not believed: {}", printable(file.string()),
                            why.value_or("it is no regular file")),
                "make it, and its directories, yours alone, or take it away");
  }
  return try_read_text(file, file_size_max).value_or("");
}

}  // namespace

Description parse_description(std::string_view text, const std::string& origin) {
  return Parser(parse_json(text, origin), origin).parse();
}

std::vector<Description> load_descriptions(const std::vector<std::filesystem::path>& directories,
                                           const std::filesystem::path& program) {
  std::vector<Description> all;
  for (const auto& directory : directories) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      if (entry.path().extension() == ".json" && files.size() < descriptions_max) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      Description one = parse_description(read_trusted(file, program), file.string());
      const auto same = [&](const Description& other) { return other.name == one.name; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace sabath
