#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "environments/lock_entries.h"
#include "environments/marker.h"
#include "environments/readers.h"
#include "environments/resolve.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t complaint_max = 1500, answer_max = 64 << 20;

std::string text_of_lines(const PythonQuestion& question, bool constraints) {
  std::set<std::string> texts;
  for (const RequirementLine& line : question.lines)
    if (line.is_constraint == constraints) texts.insert(line.requirement.text());
  return texts.empty() ? "" : fmt::format("{}\n", fmt::join(texts, "\n"));
}

// glibc 2.36 -> "x86_64-manylinux_2_36": uv knows some of them.
std::string uv_platform(const WheelTarget& target) {
  if (target.is_musl) return target.machine + "-unknown-linux-musl";
  if (target.machine == "riscv64") return "riscv64-unknown-linux";
  if (target.machine != "x86_64" && target.machine != "aarch64") return {};
  unsigned known = 17;
  for (const unsigned minor : {28U, 31U, 32U, 33U, 34U, 35U, 36U, 37U, 38U, 39U, 40U})
    if (minor <= target.libc_minor) known = minor;
  return fmt::format("{}-manylinux_2_{}", target.machine, known);
}

}  // namespace

namespace {

// An index that answered, and had no wheel: in the words of pip and of uv.
bool says_no_wheel(std::string_view text) {
  const auto has = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
  for (const std::string_view trouble : {"Retrying (", "Could not fetch URL", "onnection"})
    if (has(trouble)) return false;
  if (has("ResolutionImpossible") || has("conflicting dependencies")) return false;
  return has("No matching distribution found for") || has("has no usable wheels") || has("no wheels with a matching") ||
         has("Wheels are required for");
}

}  // namespace

void throw_no_answer(const std::string& program, const ProgramAnswer& answer, const std::string& hint) {
  std::string said;
  for (const std::string& line : parts_between(answer.err.empty() ? answer.out : answer.err, '\n', 40)) {
    if (said.size() + line.size() > complaint_max) break;
    said += (said.empty() ? "" : " ") + line;
  }
  if (answer.why.starts_with("it ended with") && says_no_wheel(answer.err)) {
    throw Error(FailureKind::not_found,
                fmt::format("{} found no wheel for this target: there is only an sdist, or the index has nothing that "
                            "fits. It says: {}",
                            program, printable(said, complaint_max)),
                "choose another version or another target, or have a wheel built and put into an index of yours");
  }
  if (!answer.why.starts_with("it ended with") || said.empty()) said = answer.why;
  throw Error(FailureKind::command, fmt::format("{} did not resolve this: {}", program, printable(said, complaint_max)),
              hint);
}

std::map<std::string, std::string> index_variables(const Environment& environment) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : environment.variables) {
    const bool is_theirs = name.starts_with("PIP_") || name.starts_with("UV_") || name.starts_with("CONDA_") ||
                           name.starts_with("MAMBA_") || to_lower(name).ends_with("_proxy");
    if (is_theirs && value.find("://") != std::string::npos) variables.emplace(name, value);
  }
  return variables;
}

PythonQuestion question_of(const RequirementsFile& file, const WheelTarget& target) {
  PythonQuestion question;
  question.indexes = file.indexes;
  const MarkerValues values{.target = &target, .extra = {}, .extras = {}, .groups = {}};
  const RequirementLine* hashed = nullptr;
  const RequirementLine* plain = nullptr;
  for (const RequirementLine& line : file.lines) {
    if (!holds(line.requirement.marker, values, line.place + ": the marker")) continue;
    question.lines.push_back(line);
    if (line.is_constraint) continue;
    (line.sha256.empty() ? plain : hashed) = &line;
    if (!line.sha256.empty() && line.requirement.url.empty() && !is_pinned(line.requirement.specifier))
      throw Error(FailureKind::invalid,
                  fmt::format("{}: {} has a digest, but no version", line.place, line.requirement.name),
                  "say the version with ==");
  }
  if (hashed != nullptr && plain != nullptr && plain->requirement.url.empty()) {
    throw Error(FailureKind::invalid,
                fmt::format("{}: {} has no digest, and others have", plain->place, plain->requirement.name),
                "lock all requirements with their digests, or none");
  }
  question.with_dependencies = hashed == nullptr;
  return question;
}

EnvironmentLock resolve_by_uv(Programs& programs, const PythonQuestion& question, const WheelTarget& target,
                              const std::filesystem::path& scratch) {
  const auto wanted = scratch / "requirements.in", limits = scratch / "constraints.in";
  write_text_atomically(wanted, text_of_lines(question, false));
  write_text_atomically(limits, text_of_lines(question, true));
  std::vector<std::string> argv{"uv",
                                "pip",
                                "compile",
                                wanted.string(),
                                "--constraint",
                                limits.string(),
                                "--no-build",
                                "--format",
                                "pylock.toml",
                                "--no-header",
                                "--quiet",
                                "--color",
                                "never",
                                "--python-version",
                                target.full_version};
  if (!question.with_dependencies) argv.emplace_back("--no-deps");
  if (const std::string platform = uv_platform(target); !platform.empty()) {
    argv.emplace_back("--python-platform");
    argv.push_back(platform);
  }
  auto changes = index_variables(programs.environment());
  changes["UV_PYTHON_DOWNLOADS"] = "never";
  changes["UV_NO_PROGRESS"] = changes["NO_COLOR"] = "1";
  std::vector<std::string> extra;
  for (const IndexOption& index : question.indexes) {
    if (index.is_extra)
      extra.push_back(index.url);
    else
      changes["UV_DEFAULT_INDEX"] = index.url;
  }
  if (!extra.empty()) changes["UV_INDEX"] = fmt::format("{}", fmt::join(extra, " "));
  const ProgramAnswer answer = programs.ask(std::move(argv), changes, answer_max);
  if (!answer.came) throw_no_answer("uv", answer, "uv names what contradicts what: choose other versions");
  return read_pylock(answer.out, "uv");
}

void keep_stated_digests(EnvironmentLock& lock, std::span<const RequirementLine> lines) {
  std::map<std::string, const RequirementLine*> stated;
  for (const RequirementLine& line : lines)
    if (!line.sha256.empty()) stated[line.requirement.name] = &line;
  for (LockedPackage& package : lock.packages) {
    const auto found = stated.find(package.name);
    if (found == stated.end()) continue;
    const std::set<std::string> digests(found->second->sha256.begin(), found->second->sha256.end());
    std::erase_if(package.files, [&](const LockedFile& file) { return !digests.contains(file.sha256); });
    if (package.files.empty())
      throw Error(FailureKind::content,
                  fmt::format("{}: no wheel of {} {} on the index has one of the {} digests", found->second->place,
                              package.name, package.version, digests.size()),
                  "the index has other files than those that were locked: lock them again, and look at what changed");
    package.place = found->second->place;
  }
}

}  // namespace sabath
