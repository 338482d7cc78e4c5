#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "packing/installed_record.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/verbs/env_list.h"
#include "verbs/environments/environment_tree.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t file_differences_max = 1000;
constexpr std::uint64_t record_size_max = 64 << 20;

std::map<std::string, std::string> versions_in(const EnvironmentNote& note) {
  std::map<std::string, std::string> versions;
  for (const NotedPackage& each : note.packages) versions[each.name] = each.version;
  return versions;
}

// A compiled module belongs to its source.
std::string source_of(const std::string& path) {
  const fs::path file(path);
  if (file.parent_path().filename() != "__pycache__" || file.extension() != ".pyc") return path;
  const std::string name = file.filename().string();
  return (file.parent_path().parent_path() / (name.substr(0, name.find('.')) + ".py")).string();
}

// Whose each file is, as the packages' own records say: "lib/python3.11/site-packages/flute/note.py" -> "flute".
class FileOwners {
 public:
  explicit FileOwners(const EnvironmentTree& tree) {
    tree.manifest->for_each([&](const Entry& entry) {
      constexpr std::string_view ending = ".dist-info/RECORD";
      if (!entry.is_file() || !entry.path.text().ends_with(ending)) return;
      const fs::path info = fs::path(entry.path.text()).parent_path();
      const std::string folder = info.filename().string();
      const auto text = tree.text(entry, record_size_max);
      if (!text) return;
      const std::string name = folder.substr(0, folder.find('-'));
      for (const InstalledFile& row : parse_installed_record(*text, entry.path.text()))
        owners_[(info.parent_path() / row.path).lexically_normal().string()] = name;
    });
  }
  [[nodiscard]] std::string of(const std::string& path) const {
    const auto found = owners_.find(path);
    return found == owners_.end() ? "" : found->second;
  }

 private:
  std::map<std::string, std::string> owners_;
};

// "scikit_learn" and "scikit-learn" are one package.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool mark = c == '-' || c == '_' || c == '.';
    if (mark && plain.ends_with('-')) continue;
    plain += mark ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

std::string digest_text(const std::optional<Entry>& entry) {
  if (!entry) return "";
  return entry->type == EntryType::symlink ? "-> " + entry->target : entry->digest.hash.prefixed();
}

class EnvironmentsCompared {
 public:
  EnvironmentsCompared(const EnvironmentTree& before, const EnvironmentTree& after, const std::stop_token& stop)
      : before_(before), after_(after), stop_(stop) {}

  EnvDiffRecord run() {
    record_.before = before_.manifest->root().prefixed();
    record_.after = after_.manifest->root().prefixed();
    if (record_.before == record_.after) return std::move(record_);
    facts();
    packages();
    files();
    return std::move(record_);
  }

 private:
  void fact(const char* what, const std::string& before, const std::string& after) {
    if (before != after) record_.differences.push_back({what, "", before, after, ""});
  }

  void facts() {
    const EnvironmentNote &one = before_.note, &other = after_.note;
    fact("python", one.python, other.python);
    fact("abi", one.abi, other.abi);
    fact("machine", one.machine, other.machine);
    fact("glibc", one.glibc, other.glibc);
    libraries(one.system_libraries, other.system_libraries);
    libraries(one.node_libraries, other.node_libraries);
    libraries(one.optional_libraries, other.optional_libraries);
  }

  void libraries(const std::vector<std::string>& one, const std::vector<std::string>& other) {
    const std::set<std::string> before(one.begin(), one.end()), after(other.begin(), other.end());
    for (const std::string& name : before)
      if (!after.contains(name)) record_.differences.push_back({"library", name, name, "", ""});
    for (const std::string& name : after)
      if (!before.contains(name)) record_.differences.push_back({"library", name, "", name, ""});
  }

  void packages() {
    const auto before = versions_in(before_.note), after = versions_in(after_.note);
    std::set<std::string> names;
    for (const auto* versions : {&before, &after})
      for (const auto& [name, version] : *versions) names.insert(name);
    for (const std::string& name : names) {
      const auto was = before.find(name), is = after.find(name);
      const std::string one = was == before.end() ? "" : was->second, other = is == after.end() ? "" : is->second;
      if (one == other) continue;
      record_.differences.push_back({"package", name, one, other, ""});
      changed_.insert(plain_name(name));
    }
  }

  // Of packages of one version, of the interpreter, and what belongs to none.
  void files() {
    const FileOwners before(before_), after(after_);
    std::map<std::string, EnvironmentDifference> found;  // by the source
    diff(*before_.manifest, *after_.manifest, [&](const Difference& difference) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "comparing environments was stopped");
      const Entry& entry = difference.before ? *difference.before : *difference.after;
      const std::string path = entry.path.text(), source = source_of(path);
      if (path == environment_note_name || entry.type == EntryType::directory) return;
      std::string owner = before.of(source);
      if (owner.empty()) owner = after.of(source);
      if (!owner.empty() && changed_.contains(plain_name(owner))) return;
      const auto known = found.find(source);
      if (known != found.end() && path != source) return;  // both differ
      if (known == found.end() && found.size() >= file_differences_max) {
        ++record_.files_left_out;
        return;
      }
      found[source] = {"file", owner, digest_text(difference.before), digest_text(difference.after), path};
    });
    for (auto& [source, difference] : found) record_.differences.push_back(std::move(difference));
  }

  const EnvironmentTree &before_, &after_;
  const std::stop_token& stop_;
  EnvDiffRecord record_;
  std::set<std::string> changed_;  // packages of other versions
};

}  // namespace

EnvDiffRecord env_diff(Session& session, const EnvDiffRequest& request, EventSink& events, std::stop_token stop) {
  const EnvironmentTree before = environment_tree(session.settings(), request.before, true, events, stop);
  const EnvironmentTree after = environment_tree(session.settings(), request.after, true, events, stop);
  EnvDiffRecord record = EnvironmentsCompared(before, after, stop).run();
  if (request.exit_code && record.before != record.after) record.exit = exit_code(FailureKind::content);
  return record;
}

template <>
struct Described<EnvDiffRequest> {
  using Of = EnvDiffRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(before, .help = "a name, sha256:HEX, or the directory of a packed tree (with a /), which is read",
                   .required = true, .argument = "BEFORE"),
      SABATH_FIELD(after, .help = "the other one", .required = true, .argument = "AFTER"),
      SABATH_FIELD(exit_code, .help = "end with 7 when they differ"),
  };
};

template <>
struct Described<EnvironmentDifference> {
  using Of = EnvironmentDifference;
  static constexpr Field table[] = {
      SABATH_FIELD(what, .help = "python, abi, machine, glibc, library, package or file"),
      SABATH_FIELD(name, .help = "of the library, or of the package, also of a file", .null_if_empty = true),
      SABATH_FIELD(before, .help = "the version, or a file's digest; null: the first has none", .null_if_empty = true),
      SABATH_FIELD(after, .help = "the same of the second", .null_if_empty = true),
      SABATH_FIELD(path, .help = "of a file whose package has the same version in both", .null_if_empty = true),
  };
};

template <>
struct Described<EnvDiffRecord> {
  using Of = EnvDiffRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(before, .help = "the root of the first"),
      SABATH_FIELD(after, .help = "the root of the second"),
      SABATH_FIELD(differences, .help = "the interpreter's, libraries, packages, then files"),
      SABATH_FIELD(files_left_out, .help = "that differ as well, beyond the first 1000", .unit = "files"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const EnvDiffRecord& record) { return record_text(record); }

extern constexpr LibraryVerb env_diff_call = described<env_diff>(
    "env diff", {.summary = "packages, versions and files that differ between two packed environments",
                 .examples = "sabath env diff numbers numbers-new\n"
                             "sabath env diff sha256:HEX numbers     what a run had, and what the name means today",
                 .details = "Files are named where the package has one version in both. A compiled module counts as "
                            "its source. Nothing of the environments is started.",
                 .group = "runs"});

}  // namespace sabath
