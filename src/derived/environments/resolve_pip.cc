// pip would get a dependency that a wheel names by URL, and run its setup.py, also with --only-binary=:all:. So it
// never sees a dependency that was not looked at here: each round asks it with --no-deps, and reads the metadata in its
// report (https://pip.pypa.io/en/stable/reference/installation-report/).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "environments/lock_entries.h"
#include "environments/marker.h"
#include "environments/resolve.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::size_t report_max = 64 << 20;
constexpr unsigned rounds_max = 40;

struct ReportedWheel {
  LockedPackage package;
  std::vector<std::string> requires_dist;
};

ReportedWheel reported_wheel(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "an installation");
  auto metadata = object.try_object("metadata", "metadata");
  auto download = object.try_object("download_info", "a download");
  if (!metadata || !download) object.fail("metadata", "is missing");
  ReportedWheel wheel;
  wheel.package = python_package(*metadata, origin);
  wheel.package.place = "pip: " + wheel.package.name;
  wheel.package.requires_python = metadata->try_text("requires_python").value_or("");
  wheel.requires_dist = metadata->texts("requires_dist");
  LockedFile file = web_file(download->text("url"), origin, object.line());
  if (auto archive = download->try_object("archive_info", "an archive")) {
    if (auto hashes = archive->try_object("hashes", "hashes"))
      for (const JsonMember& member : hashes->members())
        static_cast<void>(take_digest(member.key + ":" + checked_text(member.value, origin, member.key), file));
  }
  wheel.package.files.push_back(std::move(file));
  return wheel;
}

class PipRounds {
 public:
  PipRounds(Programs& programs, const PythonQuestion& question, const WheelTarget& target,
            const std::filesystem::path& scratch)
      : programs_(programs), question_(question), target_(target), scratch_(scratch) {
    for (const RequirementLine& line : question.lines) {
      if (line.is_constraint) {
        constraints_.insert(line.requirement.text());
        continue;
      }
      own_.insert(line.requirement.text());
      if (!line.requirement.url.empty()) urls_[line.requirement.name] = line.requirement.url;
      extras_of_own_[line.requirement.name].insert(line.requirement.extras.begin(), line.requirement.extras.end());
    }
  }

  EnvironmentLock resolve() {
    std::set<std::string> wanted = own_;
    for (unsigned round = 0; round < rounds_max; ++round) {
      const std::vector<ReportedWheel> wheels = ask(wanted);
      std::set<std::string> next = question_.with_dependencies ? next_of(wheels) : wanted;
      if (next == wanted) return lock_of(wheels);
      wanted = std::move(next);
    }
    throw Error(FailureKind::command, fmt::format("pip came to no end in {} rounds", rounds_max),
                "install uv, which resolves what contradicts itself");
  }

 private:
  std::vector<ReportedWheel> ask(const std::set<std::string>& wanted) {
    const auto file = scratch_ / "requirements.in", limits = scratch_ / "constraints.in";
    write_text_atomically(file, fmt::format("{}\n", fmt::join(wanted, "\n")));
    write_text_atomically(limits, fmt::format("{}\n", fmt::join(constraints_, "\n")));
    std::vector<std::string> argv{"pip",
                                  "install",
                                  "--dry-run",
                                  "--ignore-installed",
                                  "--no-deps",
                                  "--only-binary=:all:",
                                  "--quiet",
                                  "--no-input",
                                  "--disable-pip-version-check",
                                  "--report",
                                  "-",
                                  "--requirement",
                                  file.string(),
                                  "--constraint",
                                  limits.string(),
                                  "--target",
                                  (scratch_ / "target").string(),
                                  "--python-version",
                                  target_.full_version,
                                  "--implementation",
                                  "cp"};
    for (const std::string& abi : {wheel_abi(target_), std::string("abi3"), std::string("none")}) {
      argv.emplace_back("--abi");
      argv.push_back(abi);
    }
    for (const std::string& platform : wheel_platforms(target_)) {
      argv.emplace_back("--platform");
      argv.push_back(platform);
    }
    auto changes = index_variables(programs_.environment());
    changes["NO_COLOR"] = "1";
    std::string extra;
    for (const IndexOption& index : question_.indexes) {
      if (index.is_extra)
        extra += (extra.empty() ? "" : " ") + index.url;
      else
        changes["PIP_INDEX_URL"] = index.url;
    }
    if (!extra.empty()) changes["PIP_EXTRA_INDEX_URL"] = extra;
    const ProgramAnswer answer = programs_.ask(std::move(argv), changes, report_max);
    if (!answer.came) throw_no_answer("pip", answer, "pip 22.2 or newer is wanted; uv resolves more: put it on PATH");
    return wheels_of(answer.out);
  }

  static std::vector<ReportedWheel> wheels_of(const std::string& report) {
    const std::string origin = "pip";
    const JsonValue root = parse_json(report, origin, {.size_max = report_max});
    JsonObject object(root, origin, "a report");
    std::vector<ReportedWheel> wheels;
    if (const auto* const installs = object.try_array("install"))
      for (const JsonValue& value : *installs) wheels.push_back(reported_wheel(value, origin));
    check_package_count(wheels.size(), 0, origin);
    return wheels;
  }

  // The user's requirements, and those of the wheels that the user's lead to, with the extras that are asked for.
  std::set<std::string> next_of(const std::vector<ReportedWheel>& wheels) const {
    std::map<std::string, const ReportedWheel*> by_name;
    for (const ReportedWheel& wheel : wheels) by_name[wheel.package.name] = &wheel;
    std::set<std::string> next = own_;
    std::vector<std::pair<std::string, std::string>> open;  // a package and an extra; "": the package itself
    std::set<std::pair<std::string, std::string>> seen;
    const auto visit = [&](const std::string& name, const std::string& extra) {
      if (seen.emplace(name, extra).second) open.emplace_back(name, extra);
    };
    for (const auto& [name, extras] : extras_of_own_) {
      visit(name, "");
      for (const std::string& extra : extras) visit(name, extra);
    }
    while (!open.empty()) {
      const auto [name, extra] = open.back();
      open.pop_back();
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;  // it comes with the next round
      for (const std::string& text : found->second->requires_dist) {
        const PythonRequirement one = required(text, *found->second);
        const MarkerValues values{.target = &target_, .extra = extra, .extras = {}, .groups = {}};
        if (!holds(one.marker, values, fmt::format("the marker of {}, which {} needs,", one.name, name))) continue;
        refuse_url(one, *found->second);
        next.insert(one.url.empty() ? one.text() : PythonRequirement{one.name, one.extras, {}, {}, one.url, {}}.text());
        if (next.size() > 4 * locked_packages_max)
          throw Error(FailureKind::invalid, "the packages need too many others");
        visit(one.name, "");
        for (const std::string& further : one.extras) visit(one.name, further);
      }
    }
    return next;
  }

  static PythonRequirement required(const std::string& text, const ReportedWheel& wheel) {
    RequirementReading reading = read_requirement(text);
    if (!reading.requirement)
      throw Error(FailureKind::invalid,
                  fmt::format("{} {} needs '{}': {}", wheel.package.name, wheel.package.version, printable(text),
                              reading.why_not),
                  "choose another version of it");
    return std::move(*reading.requirement);
  }

  void refuse_url(const PythonRequirement& one, const ReportedWheel& wheel) const {
    if (one.url.empty()) return;
    const auto own = urls_.find(one.name);
    if (own != urls_.end() && own->second == one.url) return;
    throw Error(FailureKind::invalid,
                fmt::format("{} {} needs {} from {}: {}", wheel.package.name, wheel.package.version, one.name,
                            printable_url(one.url), "a package may not name a place, only you may"),
                fmt::format("choose another version of {}, or name a wheel of {} by its URL yourself",
                            wheel.package.name, one.name));
  }

  static EnvironmentLock lock_of(const std::vector<ReportedWheel>& wheels) {
    EnvironmentLock lock;
    lock.origin = "pip";
    for (const ReportedWheel& wheel : wheels) lock.packages.push_back(wheel.package);
    return lock;
  }

  Programs& programs_;
  const PythonQuestion& question_;
  const WheelTarget& target_;
  const std::filesystem::path& scratch_;
  std::set<std::string> own_, constraints_;
  std::map<std::string, std::string> urls_;
  std::map<std::string, std::set<std::string>> extras_of_own_;
};

}  // namespace

EnvironmentLock resolve_by_pip(Programs& programs, const PythonQuestion& question, const WheelTarget& target,
                               const std::filesystem::path& scratch) {
  return PipRounds(programs, question, target, scratch).resolve();
}

}  // namespace sabath
