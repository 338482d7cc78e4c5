#include "sabath/verbs/env_lock.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/working_directory.h"
#include "environments/lock.h"
#include "environments/lock_environment.h"
#include "environments/lock_text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

LockOrder order_of(Session& session, const EnvLockRequest& request) {
  if (!request.glibc.empty() && !request.musl.empty())
    throw Error(FailureKind::usage, "a target has glibc or musl, not both", "name the one that the nodes have");
  LockOrder order;
  order.files = request.files;
  order.python = request.python;
  order.platform = request.platform;
  order.libc = request.musl.empty() ? request.glibc : "musl " + request.musl;
  order.indexes = request.indexes;
  order.channels = request.channels;
  order.resolver = request.resolver;
  order.offline = session.settings().offline;
  return order;
}

EnvLockedPackage shown(const ChosenPackage& package) {
  return {package.manager == PackageManager::conda ? "conda" : "python",
          package.name,
          package.version,
          package.file.name,
          package.file.url,
          package.file.size_bytes,
          package.file.sha256.empty() ? "" : "sha256:" + package.file.sha256,
          package.file.sha256.empty() ? package.file.md5 : ""};
}

// A file that another program or a person wrote stays.
bool write_lock(const std::filesystem::path& file, const std::string& text) {
  if (try_lstat(file)) {
    if (const auto there = try_stat(file); !there || !S_ISREG(there->st_mode))
      throw Error(FailureKind::usage,
                  fmt::format("{} is there already, and is no file", printable(file.native(), 1000)),
                  "write the lock to another file");
    const auto before = try_read_text(file, lock_text_max);
    if (before == text) return false;
    if (before && !is_own_lock(*before))
      throw Error(FailureKind::usage,
                  fmt::format("{} is there already, and another program wrote it", printable(file.native(), 1000)),
                  "write the lock to another file, as pylock.nodes.toml");
  }
  write_text_atomically(file, text);
  return true;
}

void refuse_malformed_name(const std::filesystem::path& file, const LockedEnvironment& environment) {
  if (environment.has_conda) return;
  const std::string name = file.filename();
  const std::string_view middle = std::string_view(name).substr(0, name.size() - std::min<std::size_t>(name.size(), 5));
  const bool fits = name == "pylock.toml" || (name.starts_with("pylock.") && name.ends_with(".toml") &&
                                              middle.size() > 7 && middle.find('.', 7) == std::string_view::npos);
  if (!fits)
    throw Error(FailureKind::usage, fmt::format("pip and uv read no lock by the name {}", printable(name)),
                "name it pylock.toml or pylock.NAME.toml, without a dot in NAME");
}

void count_unknown(const LockedEnvironment& environment, EnvLockRecord& record) {
  for (const ChosenPackage& package : environment.packages) {
    record.bytes += package.file.size_bytes.value_or(0);
    if (!package.file.size_bytes) ++record.without_size;
    if (package.file.sha256.empty()) ++record.without_sha256;
    record.packages.push_back(shown(package));
  }
  if (record.without_sha256 > 0)
    record.remarks.push_back(fmt::format(
        "{} packages state an md5 and no sha256: their first fetch learns it, with their size", record.without_sha256));
}

}  // namespace

EnvLockRecord env_lock(Session& session, const EnvLockRequest& request, EventSink&, std::stop_token stop) {
  const LockOrder order = order_of(session, request);
  const auto& trusted = session.settings().trusted_owners;
  Programs programs(request.environment, TrustedOwners({trusted.begin(), trusted.end()}),
                    {request.patience, request.patience}, std::move(stop));
  const LockedEnvironment environment = lock_environment(programs, order);
  EnvLockRecord record;
  record.form = environment.has_conda ? "conda-lock" : "pylock";
  record.lock = absolute_path(!request.output.empty() ? request.output
                              : environment.has_conda ? std::filesystem::path("conda-lock.yml")
                                                      : std::filesystem::path("pylock.toml"));
  refuse_malformed_name(record.lock, environment);
  record.python = environment.target.minor == 0 ? "" : environment.target.python();
  record.platform = environment.target.machine;
  record.libc = fmt::format("{} {}", environment.target.is_musl ? "musl" : "glibc", environment.target.libc());
  record.resolver = environment.resolver;
  record.remarks = environment.remarks;
  count_unknown(environment, record);
  record.changed = write_lock(record.lock, environment.text);
  return record;
}

template <>
struct Described<EnvLockRequest> {
  using Of = EnvLockRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(files, .help = "pylock.toml, uv.lock, requirements.txt, environment.yml, ...", .required = true,
                   .argument = "FILE"),
      SABATH_FIELD(output, .help = "the lock (default: pylock.toml, or conda-lock.yml)", .letter = 'o',
                   .value = "FILE"),
      SABATH_FIELD(python, .help = "of the target: 3.11, or an interpreter (default: python3)", .value = "VERSION"),
      SABATH_FIELD(platform, .help = "of the target: x86_64, aarch64, ... (default: this machine's)",
                   .value = "MACHINE"),
      SABATH_FIELD(glibc, .help = "the oldest of the nodes: 2.28 (default: this machine's)", .value = "VERSION"),
      SABATH_FIELD(musl, .help = "of nodes without glibc: 1.2", .value = "VERSION"),
      SABATH_FIELD(indexes, .help = "an index that files may name; else the one that is asked", .option = "index",
                   .value = "URL"),
      SABATH_FIELD(channels, .help = "the same of conda", .option = "channel", .value = "NAME"),
      SABATH_FIELD(resolver, .help = "what resolves (default: the first that is there)",
                   .words = "uv|pip|conda|mamba|micromamba"),
      SABATH_FIELD(patience, .help = "with each program that is asked (600)", .maximum = 86400, .value = "SECONDS"),
      SABATH_FIELD(environment, .help = "variables of the caller", .hidden = true),
  };
};

template <>
struct Described<EnvLockedPackage> {
  using Of = EnvLockedPackage;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as its index has it"),
      SABATH_FIELD(version, .help = "that was chosen"),
      SABATH_FIELD(manager, .help = "python or conda"),
      SABATH_FIELD(size_bytes, .help = "of the file; null: not stated", .unit = "bytes"),
      SABATH_FIELD(file, .help = "its wheel, or conda's archive"),
      SABATH_FIELD(sha256, .help = "of the file; null: not stated", .null_if_empty = true),
      SABATH_FIELD(md5, .help = "where no sha256 is stated", .null_if_empty = true),
      SABATH_FIELD(url, .help = "where it is"),
  };
};

template <>
struct Described<EnvLockRecord> {
  using Of = EnvLockRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(lock, .help = "the file that was written"),
      SABATH_FIELD(form, .help = "pylock (PEP 751), or conda-lock"),
      SABATH_FIELD(changed, .help = "false: it was there already, with the same bytes"),
      SABATH_FIELD(python, .help = "of the target; null: no package is of Python", .null_if_empty = true),
      SABATH_FIELD(platform, .help = "of the target"),
      SABATH_FIELD(libc, .help = "of the target"),
      SABATH_FIELD(resolver, .help = "what resolved; null: all was locked", .null_if_empty = true),
      SABATH_FIELD(bytes, .help = "of the files whose sizes are stated", .unit = "bytes"),
      SABATH_FIELD(without_size, .help = "files whose size the first fetch learns", .unit = "files"),
      SABATH_FIELD(without_sha256, .help = "files whose sha256 the first fetch learns", .unit = "files"),
      SABATH_FIELD(packages, .help = "in the order of their names"),
      SABATH_FIELD(remarks, .help = "what was passed over"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const EnvLockRecord& record) { return record_text(record); }

extern constexpr LibraryVerb env_lock_call = described<env_lock>("env lock");

}  // namespace sabath
