#include "sabath/verbs/env_pack.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "conda/conda_place.h"
#include "conda/conda_prefix.h"
#include "holdings/holding.h"
#include "holdings/registration.h"
#include "packing/pack_environment.h"
#include "packing/stored_environment.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/environments/environment_name.h"
#include "verbs/environments/packed_conda.h"
#include "verbs/environments/packed_lock.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::chrono::hours compile_patience{4};

std::set<std::string> accepted_names(const EnvPackRequest& request) {
  std::set<std::string> names;
  for (const std::string& name : request.accepted) {
    if (name.empty() || name.size() > 255 || name.find('/') != std::string::npos)
      throw Error(FailureKind::usage, fmt::format("{} is no name of a file", printable(name)),
                  "give the name without its directory: NAME.pth, libmpi.so.40");
    names.insert(name);
  }
  return names;
}

void refuse_unfit_name(const SessionSettings& settings, Store& store, const std::string& name) {
  for (const char* word : {"none", "warn", "check", "create"})
    if (name == word)
      throw Error(FailureKind::usage, fmt::format("{} is a word of `{}`, and no name", name, verb_text("run")),
                  "take another name");
  refuse_taken_name(settings, store, name, has_environment_note);
}

bool is_of_wheels(const EnvPackRecord& record) { return record.made_of == "lock"; }
bool is_of_lock(const EnvPackRecord& record) { return is_of_wheels(record) || record.made_of == "conda-lock"; }
bool is_for_a_place(const EnvPackRecord& record) { return !record.place.empty(); }
bool is_of_conda(const EnvPackedPackage& package) { return !package.build.empty(); }

void refuse_place(const EnvPackRequest& request) {
  if (request.at.empty()) return;
  throw Error(FailureKind::usage,
              fmt::format("a place is named, and {} is none of conda's", printable(request.prefix.native(), 1000)),
              "leave the place out: the environment works in any");
}

// A lock is a file.
bool names_prefix(const EnvPackRequest& request) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(request.prefix, error);
  if (is_directory && !request.python.empty())
    throw Error(FailureKind::usage,
                fmt::format("an interpreter is named for a lock, and {} is a directory",
                            printable(request.prefix.native(), 1000)),
                "a virtual environment or a prefix has its own interpreter");
  const bool is_file = std::filesystem::exists(request.prefix, error);
  if (is_file && !is_directory && request.prefix.filename().native().starts_with("python") &&
      request.prefix.parent_path().filename() == "bin")
    throw Error(FailureKind::usage,
                fmt::format("{} is an interpreter, and a prefix is packed", printable(request.prefix.native(), 1000)),
                fmt::format("name {}", printable(request.prefix.parent_path().parent_path().native(), 1000)));
  const std::string ending = request.prefix.extension();
  return is_directory || !(is_file || ending == ".toml" || ending == ".lock");
}

EnvPackRecord record_of(PackedTree&& tree) {
  EnvPackRecord record;
  record.made_of = std::move(tree.form);
  record.python = std::move(tree.python);
  record.abi = std::move(tree.abi);
  record.platform = std::move(tree.platform);
  record.machine = std::move(tree.machine);
  record.libraries_changed = tree.libraries_changed;
  record.scripts_changed = tree.scripts_changed;
  record.compiled = tree.compiled;
  record.not_compiled = tree.not_compiled;
  for (FoundPackage& each : tree.packages)
    record.packages.push_back({std::move(each.name), std::move(each.version), std::move(each.build),
                               std::move(each.channel), std::move(each.sha256), each.size_bytes});
  record.place = std::move(tree.place);
  record.system_libraries.assign(tree.of_system.begin(), tree.of_system.end());
  record.node_libraries.assign(tree.of_nodes.begin(), tree.of_nodes.end());
  record.optional_libraries.assign(tree.optional.begin(), tree.optional.end());
  record.remarks = std::move(tree.remarks);
  return record;
}

}  // namespace

EnvPackRecord env_pack(Session& session, const EnvPackRequest& request, EventSink& events, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const std::set<std::string> accepted = accepted_names(request);
  const auto store = open_stores(settings);
  refuse_unfit_name(settings, *store, request.name);
  const Lease lease = store->lease({}, "env pack " + request.name, {true});
  Programs programs(request.environment,
                    TrustedOwners({settings.trusted_owners.begin(), settings.trusted_owners.end()}),
                    {compile_patience, compile_patience}, stop);
  EnvPackRecord record;
  StoredEnvironment stored;
  if (names_prefix(request)) {
    PackingPlace place(*store);
    events.on(event::AssetStarted{request.name, std::nullopt, 0});
    events.on(event::PhaseChanged{"pack"});
    const PackOrder order{request.prefix, place.tree(), accepted, stop, admits_of(*store)};
    const bool of_conda = is_conda_prefix(request.prefix);
    if (!of_conda) refuse_place(request);
    record = record_of(of_conda ? pack_conda_prefix(programs, order, checked_place(request.at), request.name)
                                : pack_environment(programs, order));
    events.on(event::PhaseChanged{"store"});
    stored = store_environment(*store, place, events, stop);
  } else if (is_conda_lock(request.prefix)) {
    PackedConda packed = pack_conda_lock(settings, *store, programs, request, accepted, events, stop);
    record = record_of(std::move(packed.environment.tree));
    record.fetched_bytes = packed.fetched_bytes;
    stored = packed.environment.stored;
  } else {
    refuse_place(request);
    PackedLock packed = pack_lock(settings, *store, programs, request, accepted, events, stop);
    record = record_of(std::move(packed.environment.tree));
    record.fetched_bytes = packed.fetched_bytes;
    record.known_packages = packed.environment.known_packages;
    stored = packed.environment.stored;
  }
  record.manifest = stored.root.prefixed();
  record.files = stored.files;
  record.bytes = stored.bytes;
  const std::string steps = fmt::format("sabath env pack {} {}", request.name, is_of_lock(record) ? "LOCK" : "PREFIX");
  Registration known = register_name(settings, *store, request.name, stored.root, steps);
  if (known.leads_here) {
    record.known_by = std::move(known.file);
    record.path = show_asset(settings, *store, request.name, stored.root, stop);
  }
  events.on(event::AssetFinished{request.name});
  return record;
}

template <>
struct Described<EnvPackRequest> {
  using Of = EnvPackRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "all who use the store know the environment by this name", .required = true,
                   .argument = "NAME"),
      SABATH_FIELD(prefix, .help = "a virtual environment, a prefix with an interpreter of its own, or a lock",
                   .required = true, .argument = "PREFIX|LOCK"),
      SABATH_FIELD(at,
                   .help = "of conda: the directory that the environment will be on the nodes, as its files name "
                           "that",
                   .value = "PLACE"),
      SABATH_FIELD(python,
                   .help = "of a lock: the prefix, the file or the version of the interpreter; default: the "
                           "python3 of PATH",
                   .value = "PREFIX"),
      SABATH_FIELD(accepted,
                   .help = "a .pth file with code, a library that each node has, or a package of conda "
                           "whose script is not run; repeat it",
                   .option = "accept", .value = "FILE"),
      SABATH_FIELD(environment, .help = "variables of the caller", .hidden = true),
  };
};

template <>
struct Described<EnvPackedPackage> {
  using Of = EnvPackedPackage;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the package"),
      SABATH_FIELD(version, .help = "that is in it"),
      SABATH_FIELD(build, .help = "of a package of conda", .only_if = SABATH_IF(is_of_conda)),
      SABATH_FIELD(channel, .help = "where it is from, without credentials", .null_if_empty = true,
                   .only_if = SABATH_IF(is_of_conda)),
      SABATH_FIELD(sha256, .help = "of its file; null: unknown", .null_if_empty = true,
                   .only_if = SABATH_IF(is_of_conda)),
      SABATH_FIELD(size_bytes, .help = "of its file; 0: unknown", .unit = "bytes", .only_if = SABATH_IF(is_of_conda)),
  };
};

template <>
struct Described<EnvPackRecord> {
  using Of = EnvPackRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "the root of the environment"),
      SABATH_FIELD(made_of, .help = "venv, prefix, conda, lock, or conda-lock"),
      SABATH_FIELD(place, .help = "the only one where it works, as its files name it",
                   .only_if = SABATH_IF(is_for_a_place)),
      SABATH_FIELD(python, .help = "version of the interpreter"),
      SABATH_FIELD(abi, .help = "of compiled modules"),
      SABATH_FIELD(platform, .help = "as the interpreter names it"),
      SABATH_FIELD(machine, .help = "of the interpreter's program"),
      SABATH_FIELD(files, .help = "in it", .unit = "files"),
      SABATH_FIELD(bytes, .help = "in it", .unit = "bytes"),
      SABATH_FIELD(libraries_changed, .help = "programs and libraries that got a RUNPATH without a place",
                   .unit = "files"),
      SABATH_FIELD(scripts_changed, .help = "scripts that now find the interpreter beside them", .unit = "files"),
      SABATH_FIELD(compiled, .help = "modules that were compiled", .unit = "files"),
      SABATH_FIELD(not_compiled, .help = "modules that this interpreter cannot compile", .unit = "files"),
      SABATH_FIELD(packages, .help = "in the order of their names"),
      SABATH_FIELD(system_libraries, .help = "libraries that the nodes' system has to have"),
      SABATH_FIELD(node_libraries, .help = "libraries of drivers, and those that were accepted"),
      SABATH_FIELD(optional_libraries, .help = "that only modules of Python's own library need"),
      SABATH_FIELD(remarks, .help = "what was changed or left out"),
      SABATH_FIELD(known_by, .help = "the recipe that gives the name this root; null: another recipe has the name",
                   .null_if_empty = true),
      SABATH_FIELD(path, .help = "its view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(fetched_bytes, .help = "of wheels, over the network", .unit = "bytes",
                   .only_if = SABATH_IF(is_of_lock)),
      SABATH_FIELD(known_packages, .help = "that the store has packed before", .unit = "packages",
                   .only_if = SABATH_IF(is_of_wheels)),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const EnvPackRecord& record) { return record_text(record); }

extern constexpr LibraryVerb env_pack_call = described<env_pack>(
    "env pack",
    {.summary = "make an interpreter and its packages one asset, which works in any place",
     .examples =
         "uv venv --managed-python e && uv pip install -p e numpy && sabath env pack numbers e\n"
         "~/.pyenv/versions/3.11.7/bin/python3 -m venv e        then e/bin/pip install numpy, and the same\n"
         "sabath env pack numbers ~/.pyenv/versions/3.11.7      an interpreter's own prefix\n"
         "sabath env pack numbers pylock.toml --python 3.11     the wheels of a lock, and this interpreter\n"
         "sabath env pack numbers ~/miniforge3/envs/numbers --at /local/numbers     conda's files name a place\n"
         "sabath env pack mpi e --accept libmpi.so.40           each node has this library",
     .details = "The interpreter, its library and the packages become one tree that names no place: scripts find the "
                "interpreter beside them, libraries each other, and compiled modules stay valid when files get a "
                "new time. The wheels of a lock are fetched and verified here, and no installer runs. What cannot be "
                "moved is refused by name. No code of a package runs. Two packs of the same "
                "packages give one root. The page docs/environments.md has the rules.",
     .group = "runs"});

}  // namespace sabath
