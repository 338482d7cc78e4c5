// https://pip.pypa.io/en/stable/reference/requirements-file-format/.
#include "environments/requirements_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "environments/lock.h"
#include "environments/lock_entries.h"
#include "environments/wheel_name.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::size_t nested_max = 8, files_of_requirements_max = 100, refused_shown_max = 20, hashes_max = 10'000;
constexpr std::size_t logical_line_max = 4 << 20;

// Options that ask for what is done in any case.
constexpr std::array<std::string_view, 3> harmless{"--require-hashes", "--prefer-binary", "--only-binary=:all:"};

struct OptionReason {
  std::string_view option, why;
};
constexpr OptionReason reasons[] = {{"-e", "a local project, whose code would run"},
                                    {"--editable", "a local project, whose code would run"},
                                    {"-f", "a place for packages that no index has"},
                                    {"--find-links", "a place for packages that no index has"},
                                    {"--trusted-host", "a host whose certificate would not be checked"},
                                    {"--no-binary", "sdists, whose build would run code"},
                                    {"--pre", "pre-releases of every package: name them as x>=1.0rc1"},
                                    {"--no-index", "no index"},
                                    {"--config-settings", "an option of a build"},
                                    {"--global-option", "an option of a build"},
                                    {"--use-feature", "an option of pip"}};

struct PipLine {
  std::string text;
  std::size_t number = 0;
};

// Lines joined at backslashes, without comments.
std::vector<PipLine> lines_of(std::string_view text, const std::string& origin) {
  std::vector<PipLine> lines;
  PipLine open;
  std::size_t number = 0;
  const auto close = [&] {
    std::size_t comment = open.text.starts_with('#') ? 0 : open.text.find(" #");
    comment = std::min(comment, open.text.find("\t#"));
    if (const std::string_view kept = trim(std::string_view(open.text).substr(0, comment)); !kept.empty())
      lines.push_back({std::string(kept), open.number});
    open = {};
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (open.number == 0) open.number = number;
    const bool is_comment = trim(line).starts_with('#');
    const bool goes_on = line.ends_with('\\') && !is_comment;
    if (goes_on) line.remove_suffix(1);
    open.text += open.text.empty() ? trim(line) : line;
    if (open.text.size() > logical_line_max) throw_at(origin, number, "a line is too long");
    if (!goes_on) close();
  }
  close();
  return lines;
}

// "--hash=sha256:..." and "--hash sha256:..." from the end of a line; what is left is the requirement.
std::string take_hashes(std::string_view line, std::vector<std::string>& hashes) {
  const std::size_t first = std::min(line.find(" --"), line.find("\t--"));
  std::string_view rest = first == std::string_view::npos ? std::string_view() : trim(line.substr(first));
  while (!rest.empty()) {
    if (!rest.starts_with("--hash") || rest.size() < 8 || (rest[6] != '=' && rest[6] != ' '))
      return std::string(rest.substr(0, rest.find_first_of(" =")));
    rest = trim(rest.substr(7));
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    hashes.emplace_back(rest.substr(0, end));
    rest = trim(rest.substr(end));
  }
  return {};
}

// The URL in it without its password and query.
std::string shown_line(std::string_view line) {
  line = line.substr(0, 300);
  const std::size_t scheme = line.find("://");
  if (scheme == std::string_view::npos) return printable(line);
  const std::size_t begin = line.substr(0, scheme).find_last_of(" \t=") + 1;  // npos + 1: the front
  const std::string_view url = line.substr(begin, line.find_first_of(" \t", scheme) - begin);
  return printable(line.substr(0, begin)) + printable_url(url);
}

class RequirementsReader {
 public:
  RequirementsReader(const RequirementFiles& files, RequirementsFile& into) : files_(files), into_(into) {}

  void read(std::string_view text, const std::string& origin, bool is_constraint, std::size_t depth) {
    if (text.size() > lock_text_max) throw_at(origin, 1, fmt::format("longer than {}", format_bytes(lock_text_max)));
    for (const PipLine& line : lines_of(text, origin)) {
      const std::string place = place_of(origin, line.number);
      if (line.text.find("${") != std::string::npos) {
        refuse(place, line.text, "a variable of the environment: write the value itself");
      } else if (line.text.starts_with('-')) {
        read_option(line.text, place, origin, line.number, is_constraint, depth);
      } else {
        add(line.text, place, is_constraint);
      }
    }
  }

 private:
  void refuse(const std::string& place, std::string_view what, std::string_view why) {
    if (into_.refused.size() < refused_shown_max)
      into_.refused.push_back(fmt::format("{}: {} ({})", place, shown_line(what), why));
  }

  void read_option(std::string_view line, const std::string& place, const std::string& origin, std::size_t number,
                   bool is_constraint, std::size_t depth) {
    const std::size_t end = std::min(line.find_first_of(" \t="), line.size());
    std::string_view name = line.substr(0, end);
    std::string_view value = trim(line.substr(std::min(end + 1, line.size())));
    if (!name.starts_with("--") && name.size() > 2) {  // -rother.txt
      value = trim(line.substr(2));
      name = name.substr(0, 2);
    }
    if (is_among(line, harmless) || (name == "--only-binary" && value == ":all:")) return;
    if (name == "-r" || name == "--requirement" || name == "-c" || name == "--constraint") {
      read_other(std::string(value), place, origin, number, is_constraint || name == "-c" || name == "--constraint",
                 depth);
    } else if (name == "-i" || name == "--index-url" || name == "--pypi-url" || name == "--extra-index-url") {
      into_.indexes.push_back({std::string(value), place, name == "--extra-index-url"});
      if (into_.indexes.size() > files_of_requirements_max) throw_at(origin, number, "too many indexes");
    } else {
      const auto* const known = std::ranges::find(reasons, name, &OptionReason::option);
      refuse(place, line, known == std::end(reasons) ? "an option that is not known here" : known->why);
    }
  }

  void read_other(const std::string& name, const std::string& place, const std::string& origin, std::size_t number,
                  bool is_constraint, std::size_t depth) {
    if (!RelativePath::try_parse(name)) {
      refuse(place, name, "a file outside of the directory of the first one");
      return;
    }
    if (depth == nested_max) throw_at(origin, number, fmt::format("more than {} files deep", nested_max));
    if (!seen_.emplace(name, is_constraint).second) return;
    if (seen_.size() > files_of_requirements_max) throw_at(origin, number, "too many files");
    read(files_(name), name, is_constraint, depth + 1);
  }

  void add(std::string_view text, const std::string& place, bool is_constraint) {
    RequirementLine line;
    line.place = place;
    line.is_constraint = is_constraint;
    std::vector<std::string> hashes;
    if (const std::string option = take_hashes(text, hashes); !option.empty()) {
      refuse(place, option, "an option of a build, or one that is not known here");
      return;
    }
    text = trim(text.substr(0, std::min(text.find(" --"), text.find("\t--"))));
    const bool is_path =
        text.starts_with('.') || text.starts_with('/') || text.starts_with('~') || text.starts_with("file:");
    if (is_path) {
      refuse(place, text, "a local path");
      return;
    }
    RequirementReading reading = is_bare_url(text) ? of_url(text) : read_requirement(text);
    if (reading.requirement && !reading.requirement->url.empty())
      reading.why_not = why_no_wheel(reading.requirement->url, reading.requirement->name);
    if (!reading.why_not.empty()) {
      refuse(place, text, reading.why_not);
      return;
    }
    line.requirement = std::move(*reading.requirement);
    take_url_hash(line);
    add_hashes(hashes, line);
    if (into_.lines.size() == locked_packages_max)
      throw Error(FailureKind::invalid, fmt::format("{}: more than {} requirements", place, locked_packages_max));
    into_.lines.push_back(std::move(line));
  }

  static bool is_bare_url(std::string_view text) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t;@["));
    return word.find("://") != std::string_view::npos || word.starts_with("git+");
  }

  static RequirementReading of_url(std::string_view text) {
    const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
    const std::string url(text.substr(0, blank));
    if (std::string why = why_no_wheel(url, ""); !why.empty()) return {std::nullopt, std::move(why)};
    const auto wheel = try_wheel_name(Url::parse(url).file_name());
    return read_requirement(fmt::format("{} @ {}{}", wheel->name, url, text.substr(blank)));
  }

  static void take_url_hash(RequirementLine& line) {
    const std::size_t mark = line.requirement.url.find('#');
    if (mark == std::string::npos) return;
    const std::string_view fragment = std::string_view(line.requirement.url).substr(mark + 1);
    LockedFile file;
    if (fragment.starts_with("sha256=") && take_digest(fmt::format("sha256:{}", fragment.substr(7)), file))
      line.sha256.push_back(file.sha256);
    line.requirement.url.resize(mark);
  }

  void add_hashes(const std::vector<std::string>& hashes, RequirementLine& line) {
    for (const std::string& hash : hashes) {
      LockedFile file;
      if (!take_digest(hash, file))
        throw Error(FailureKind::invalid, fmt::format("{}: is no digest: {}", line.place, printable(hash, 80)));
      if (!file.sha256.empty()) line.sha256.push_back(file.sha256);
    }
    if (!hashes.empty() && line.sha256.empty()) {
      refuse(line.place, line.requirement.name, "its hashes are of other kinds than sha256");
      line.sha256.emplace_back();
    }
    if (line.sha256.size() > hashes_max)
      throw Error(FailureKind::invalid, fmt::format("{}: more than {} hashes", line.place, hashes_max));
  }

  const RequirementFiles& files_;
  RequirementsFile& into_;
  std::set<std::pair<std::string, bool>> seen_;
};

}  // namespace

void read_requirements(std::string_view text, const std::string& origin, const RequirementFiles& files,
                       RequirementsFile& into) {
  RequirementsReader(files, into).read(text, origin, false, 0);
}

}  // namespace sabath
