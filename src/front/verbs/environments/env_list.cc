#include "sabath/verbs/env_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "packed/activation.h"
#include "packed/machine_fit.h"
#include "sabath/error.h"
#include "session/caller_of.h"
#include "verbs/assets/assets.h"
#include "verbs/environments/environment_tree.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// A note that cannot be read hides no other environment.
std::optional<ListedEnvironment> try_list(const Recipe& recipe, Store& store, EventSink& events) {
  const Holding holding = holding_of(recipe, &store);
  if (!holding.has_manifest) return std::nullopt;
  try {
    const Manifest manifest = *store.manifest(*holding.root);
    const auto note = try_note_in(store, manifest, recipe.name);
    if (!note) return std::nullopt;
    return ListedEnvironment{recipe.name,           holding.root->prefixed(), note->python,         note->machine,
                             note->packages.size(), holding.totals.files,     holding.totals.bytes, holding.view};
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    events.on(event::Warning{fmt::format("{} is left out: {}", recipe.name, error.failure().message)});
    return std::nullopt;
  }
}

void count_files(const std::filesystem::path& top, EnvShowRecord& record) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
    const auto status = try_lstat(at->path());
    if (!status || !S_ISREG(status->st_mode)) continue;
    ++record.files;
    record.bytes += static_cast<std::uint64_t>(status->st_size);
  }
  if (error) throw_errno("list", top, error.value());
}

}  // namespace

EnvListRecord env_list(Session& session, const EnvListRequest&, EventSink& events, std::stop_token stop) {
  EnvListRecord record;
  const auto store = try_open_store(session.settings());
  if (!store) return record;
  const Catalogue catalogue = make_catalogue(session.settings());
  const auto add = [&](const Recipe& recipe) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "listing environments was stopped");
    if (auto listed = try_list(recipe, *store, events)) record.environments.push_back(std::move(*listed));
  };
  for (const Catalogue::Listed& listed : catalogue.all(AssetKind::dataset))
    if (listed.recipe) add(*listed.recipe);
  for (const Recipe& recipe : catalogue.held(AssetKind::dataset)) add(recipe);
  return record;
}

EnvShowRecord env_show(Session& session, const EnvShowRequest& request, EventSink& events, std::stop_token stop) {
  EnvironmentTree tree = environment_tree(session.settings(), request.environment, false, events, stop);
  EnvShowRecord record;
  record.name = tree.name;
  if (tree.manifest) {
    record.manifest = tree.manifest->root().prefixed();
    record.files = tree.manifest->totals().files;
    record.bytes = tree.manifest->totals().bytes;
  } else {
    count_files(tree.place, record);
  }
  record.path = tree.place;
  if (!tree.place.empty()) record.activate = activation_line(tree.place);
  MachineFit fit = machine_fit(tree.note, "");
  record.against = std::move(fit.against);
  record.fits = record.against.empty();
  record.missing = std::move(fit.lacking);
  record.not_loadable = std::move(fit.unloadable);
  EnvironmentNote& note = tree.note;
  record.made_of = std::move(note.made_of);
  record.python = std::move(note.python);
  record.abi = std::move(note.abi);
  record.platform = std::move(note.platform);
  record.machine = std::move(note.machine);
  record.glibc = std::move(note.glibc);
  for (NotedPackage& each : note.packages) record.packages.push_back({std::move(each.name), std::move(each.version)});
  record.system_libraries = std::move(note.system_libraries);
  record.node_libraries = std::move(note.node_libraries);
  record.optional_libraries = std::move(note.optional_libraries);
  return record;
}

template <>
struct Described<EnvListRequest> {
  using Of = EnvListRequest;
  static constexpr std::array<Field, 0> table{};
};

template <>
struct Described<ListedEnvironment> {
  using Of = ListedEnvironment;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as `sabath run --env` takes it"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(python, .help = "version of the interpreter"),
      SABATH_FIELD(machine, .help = "of its programs"),
      SABATH_FIELD(packages, .help = "how many"),
      SABATH_FIELD(files, .help = "in it", .unit = "files"),
      SABATH_FIELD(bytes, .help = "in it", .unit = "bytes"),
      SABATH_FIELD(path, .help = "its view; null: there is none", .null_if_empty = true),
  };
};

template <>
struct Described<EnvListRecord> {
  using Of = EnvListRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(environments, .help = "in the order of their names"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<EnvShowRequest> {
  using Of = EnvShowRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(environment, .help = "a name, sha256:HEX, or the directory of a packed tree (with a /)",
                   .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<EnvironmentPackage> {
  using Of = EnvironmentPackage;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the package"),
      SABATH_FIELD(version, .help = "that is in it"),
  };
};

template <>
struct Described<EnvShowRecord> {
  using Of = EnvShowRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as it was asked for"),
      SABATH_FIELD(manifest, .help = "its root; null: of a directory", .null_if_empty = true),
      SABATH_FIELD(made_of, .help = "venv, or prefix"),
      SABATH_FIELD(python, .help = "version of the interpreter"),
      SABATH_FIELD(abi, .help = "of compiled modules"),
      SABATH_FIELD(platform, .help = "as the interpreter names it"),
      SABATH_FIELD(machine, .help = "of its programs"),
      SABATH_FIELD(glibc, .help = "the oldest that nodes may have; null: unknown", .null_if_empty = true),
      SABATH_FIELD(files, .help = "in it", .unit = "files"),
      SABATH_FIELD(bytes, .help = "in it", .unit = "bytes"),
      SABATH_FIELD(path, .help = "its view, or the directory; null: there is none", .null_if_empty = true),
      SABATH_FIELD(activate, .help = "the line for bash and zsh", .null_if_empty = true),
      SABATH_FIELD(packages, .help = "in the order of their names"),
      SABATH_FIELD(system_libraries, .help = "libraries that the nodes' system has to have"),
      SABATH_FIELD(node_libraries, .help = "libraries of drivers, and those that were accepted"),
      SABATH_FIELD(optional_libraries, .help = "that only modules of Python's own library need"),
      SABATH_FIELD(fits, .help = "whether this machine can run it"),
      SABATH_FIELD(against, .help = "why this machine cannot run it; none: it can"),
      SABATH_FIELD(missing, .help = "libraries of drivers and modules that are not found here"),
      SABATH_FIELD(not_loadable,
                   .help = "optional libraries that are not found here, each with the module that needs it"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const EnvListRecord& record) { return record_text(record); }
std::string to_json(const EnvShowRecord& record) { return record_text(record); }

extern constexpr LibraryVerb env_list_call = described<env_list>(
    "env list", {.summary = "the packed environments that are here",
                 .examples = "sabath env list",
                 .details = "Each name that leads to a packed environment whose files this store has. Nothing of them "
                            "is started. `sabath rm NAME` removes one, and `sabath gc` what is long unused.",
                 .group = "runs"});

extern constexpr LibraryVerb env_show_call = described<env_show>(
    "env show", {.summary = "what a packed environment has, and whether this machine can run it",
                 .examples = "sabath env show numbers\n"
                             "sabath env show /local/me/numbers      a tree that was staged",
                 .details = "Python, ABI, packages, the libraries that nodes must have, and where the view is. Nothing "
                            "of the environment is started.",
                 .group = "runs"});

}  // namespace sabath
