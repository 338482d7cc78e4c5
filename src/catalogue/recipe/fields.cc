#include "recipe/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/named_checksum.h"
#include "base/text.h"
#include "recipe/checks.h"
#include "recipe/command_template.h"
#include "sabath/error.h"

namespace sabath {
namespace {

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_variable_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '_'; });
}

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// A branch, tag or commit reaches git's command line: it must not look like an option or a path out of refs/.
bool is_git_name(std::string_view text) {
  return text.size() <= 255 && is_alphanumeric(text[0]) && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_alphanumeric(c) || std::string_view("._+-/").find(c) != std::string_view::npos;
         });
}

void refuse_line_breaks(std::string_view text, std::string_view origin, std::size_t line, std::string_view key) {
  if (text.find_first_of("\t\n") != std::string_view::npos) {
    throw_at(origin, line, fmt::format("\"{}\" must be one line, without tabs", key));
  }
}

std::string take_checksum(JsonObject& checksums, const ChecksumAlgorithm& algorithm) {
  std::string hex = to_lower(checksums.try_text(algorithm.name).value_or(""));
  if (!hex.empty() && !algorithm.spells(hex))
    checksums.fail(algorithm.name, fmt::format("must have {} hexadecimal digits", algorithm.digits));
  return hex;
}

std::vector<std::string> take_packages(JsonObject& requirements, std::string_view key) {
  std::vector<std::string> packages = take_lines(requirements, key);
  for (const std::string& package : packages) {
    if (package[0] == '-')
      requirements.fail(key, fmt::format("holds an option, \"{}\", where a package is wanted", printable(package)));
  }
  return packages;
}

// "NAME" or "NAME@sha256:HEX".
std::string take_environment(JsonObject& requirements) {
  std::string text = take_line(requirements, "environment");
  const std::size_t at = std::min(text.find('@'), text.size());
  constexpr std::string_view mark = "@sha256:";
  const std::string_view rest = std::string_view(text).substr(at);
  const bool has_root = rest.size() == mark.size() + 64 && rest.starts_with(mark) &&
                        rest.find_first_not_of("0123456789abcdef", mark.size()) == std::string_view::npos;
  const std::string name = text.substr(0, at);
  const bool may_be_file = name.ends_with(".json");  // of the caller's directory
  if (text.empty() || (is_name(name) && !may_be_file && (rest.empty() || has_root))) return text;
  requirements.fail("environment", fmt::format("\"{}\" names no environment", printable(text, 300)),
                    "write NAME, or NAME@sha256: and the 64 hexadecimal digits of its root");
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && is_alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '+' || c == '-'; });
}

std::string take_name(JsonObject& object, std::string_view key) {
  std::string name = object.text(key);
  if (!is_name(name)) {
    object.fail(key, fmt::format("\"{}\" is no name", printable(name)),
                "names begin with a letter or digit, go on with these and . _ + -, and have at most 128 characters");
  }
  return name;
}

std::string take_line(JsonObject& object, std::string_view key) {
  std::string line = object.try_text(key).value_or("");
  refuse_line_breaks(line, object.origin(), object.line_of(key), key);
  return line;
}

std::vector<std::string> take_lines(JsonObject& object, std::string_view key) {
  std::vector<std::string> lines = object.texts(key);
  for (const std::string& line : lines) refuse_line_breaks(line, object.origin(), object.line_of(key), key);
  return lines;
}

Url parse_url_at(const JsonValue& value, std::string_view origin) {
  const std::string& text = checked_text(value, origin, "a URL");
  try {
    return Url::parse(text);
  } catch (const Error& error) {
    throw_at(origin, value.line, error.failure().message, error.failure().hint);
  }
}

Checksums take_checksums(JsonObject& object) {
  Checksums checksums;
  if (auto inner = object.try_object("checksum", "\"checksum\"")) {
    for (const auto& algorithm : checksum_algorithms) checksums.*algorithm.value = take_checksum(*inner, algorithm);
    inner->finish();
  }
  return checksums;
}

Requirements take_requirements(JsonObject& object, bool with_conda) {
  Requirements requirements;
  if (auto inner = object.try_object("requirements", "\"requirements\"")) {
    requirements.python = take_line(*inner, "python");
    requirements.pip = take_packages(*inner, "pip");
    if (with_conda) requirements.conda = take_packages(*inner, "conda");
    requirements.system_modules = take_packages(*inner, "system_modules");
    if (with_conda) requirements.environment = take_environment(*inner);
    if (with_conda) requirements.checks = take_checks(*inner);
    inner->finish();
  }
  return requirements;
}

std::map<std::string, std::string> take_env_vars(JsonObject& object) {
  std::map<std::string, std::string> variables;
  if (auto inner = object.try_object("env_vars", "\"env_vars\"")) {
    for (const JsonMember& member : inner->members()) {
      if (!is_variable_name(member.key)) {
        throw_at(object.origin(), member.line,
                 fmt::format("\"{}\" is no name of an environment variable", printable(member.key)));
      }
      variables[member.key] = checked_text(member.value, object.origin(), "an environment variable");
    }
  }
  return variables;
}

FragmentType take_fragment_type(JsonObject& object) {
  const std::string type = object.text("type");
  if (type == "file") return FragmentType::file;
  if (type == "archive") return FragmentType::archive;
  if (type == "file_list") return FragmentType::file_list;
  object.fail("type", fmt::format("is \"{}\", but must be \"file\", \"archive\" or \"file_list\"", printable(type)));
}

std::string parse_git_origin(const JsonValue& value, std::string_view origin) {
  const std::string& text = checked_text(value, origin, "a git origin");
  std::string without_user = text;
  if (constexpr std::string_view ssh = "ssh://"; text.starts_with(ssh)) {
    const std::size_t at = text.find_first_of("@/:", ssh.size());
    if (at != std::string::npos && text[at] == '@' && is_name(text.substr(ssh.size(), at - ssh.size()))) {
      without_user.erase(ssh.size(), at + 1 - ssh.size());
    }
  }
  const std::optional<Url> url = Url::try_parse(without_user);
  constexpr std::string_view schemes[] = {"https", "http", "ssh", "git", "file"};
  if (!url || std::find(std::begin(schemes), std::end(schemes), url->scheme()) == std::end(schemes)) {
    const std::size_t at = text.rfind('@');  // the text before it may be a password
    const std::string shown = at == std::string::npos ? text : "..." + text.substr(at);
    throw_at(origin, value.line, fmt::format("\"{}\" is no git origin", printable(shown.substr(0, shown.find('?')))),
             "write an https, http, ssh, git or file URL without a password, such as ssh://git@host/path");
  }
  return text;
}

GitSource read_git(JsonObject& git) {
  GitSource source;
  source.origin = parse_git_origin(git.require("origin"), git.origin());
  source.branch = take_line(git, "branch");
  source.tag = take_line(git, "tag");
  source.commit = take_line(git, "commit");
  if (!source.branch.empty() + !source.tag.empty() + !source.commit.empty() > 1) {
    git.fail("origin", "appears with more than one of \"branch\", \"tag\" and \"commit\"");
  }
  if (!source.branch.empty() && !is_git_name(source.branch)) git.fail("branch", "is no name of a branch");
  if (!source.tag.empty() && !is_git_name(source.tag)) git.fail("tag", "is no name of a tag");
  if (!source.commit.empty() &&
      (source.commit.size() < 7 || source.commit.size() > 64 || !is_hexadecimal(source.commit))) {
    git.fail("commit", "must have 7 to 64 hexadecimal digits");
  }
  source.commit = to_lower(source.commit);
  return source;
}

void check_template(const JsonValue& value, std::string_view origin) {
  const std::string& text = checked_text(value, origin, "a command");
  try {
    (void)parse_template(text);
  } catch (const Error& error) {
    throw_at(origin, value.line, error.failure().message, error.failure().hint);
  }
}

std::optional<RelativePath> default_file_path(const Fragment& fragment) {
  const std::string name = fragment.urls.front().file_name();
  if (name.find('/') != std::string::npos) return std::nullopt;  // was %2F
  return RelativePath::try_parse(name);
}

namespace {

void check_places(const std::vector<Fragment>& fragments, const std::vector<std::size_t>& lines,
                  std::string_view origin) {
  std::unordered_map<std::string_view, std::size_t> ids, paths;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    const Fragment& fragment = fragments[i];
    const auto [id, new_id] = ids.emplace(fragment.id, i);
    if (!new_id)
      throw_at(origin, lines[i],
               fmt::format("fragment \"{}\" appears twice, first in line {}", fragment.id, lines[id->second]));
    if (!fragment.path) continue;
    const auto [path, new_path] = paths.emplace(fragment.path->text(), i);
    if (!new_path) {
      throw_at(origin, lines[i],
               fmt::format("fragments \"{}\" and \"{}\" have the same path \"{}\"", fragments[path->second].id,
                           fragment.id, fragment.path->text()),
               "give one of them a \"path\" of its own");
    }
  }
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (!fragments[i].path) continue;
    std::string_view above = fragments[i].path->parent();
    for (; !above.empty(); above = above.substr(0, above.find('/') == std::string_view::npos ? 0 : above.rfind('/'))) {
      const auto found = paths.find(above);
      if (found == paths.end() || fragments[found->second].type != FragmentType::file) continue;
      throw_at(origin, lines[i],
               fmt::format("fragment \"{}\" would be below the file of \"{}\", \"{}\"", fragments[i].id,
                           fragments[found->second].id, above));
    }
  }
}

void add_named_checksums(std::vector<Fragment>& fragments, const std::vector<std::size_t>& lines,
                         std::string_view origin) {
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (fragments[i].type == FragmentType::file_list) continue;  // its checksum is of the list
    try {
      add_named_checksums(fragments[i].urls, fragments[i].checksum);
    } catch (const Error& error) {
      throw_at(origin, lines[i], fmt::format("fragment \"{}\": {}", fragments[i].id, error.failure().message),
               error.failure().hint);
    }
  }
}

}  // namespace

void settle_fragments(std::vector<Fragment>& fragments, const std::vector<std::size_t>& lines,
                      std::string_view origin) {
  check_places(fragments, lines, origin);
  add_named_checksums(fragments, lines, origin);
}

}  // namespace sabath
