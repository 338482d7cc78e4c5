#include "harness/packed_choice.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "holdings/holding.h"
#include "holdings/place_note.h"
#include "packed/environment_note.h"
#include "packed/machine_fit.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

struct WantedEnvironment {
  std::string name;
  std::optional<Sha256> root;
};

// "NAME" or "NAME@sha256:HEX", as recipe/fields.cc has checked it.
WantedEnvironment wanted_by_recipe(const std::string& text) {
  constexpr std::string_view mark = "@sha256:";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, at), Sha256::try_parse(text.substr(at + mark.size()))};
}

std::optional<Sha256> known_root(const SessionSettings& settings, const Recipe& recipe) {
  if (recipe.manifest) return recipe.manifest->digest;
  const auto store = try_open_store(settings);
  return holding_of(recipe, store.get()).root;
}

// Its recipe is gone, or leads to another root: what has this root is the same environment.
Recipe recipe_of_root(const std::string& name, const Sha256& root) {
  Recipe recipe;
  recipe.name = name;
  recipe.manifest = ManifestPin{root, {}};
  return recipe;
}

template <typename Find>
std::optional<Recipe> known_recipe(Find find) {
  try {
    return find();
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return std::nullopt;
  }
}

// By its root, also where its name means another one today.
Recipe environment_with(const RunCall& call, std::optional<Recipe> named, const WantedEnvironment& wanted,
                        const std::string& of) {
  const SessionSettings& settings = call.caller.settings;
  if (named && known_root(settings, *named) == wanted.root) return std::move(*named);
  const auto store = try_open_store(settings);
  if (store && store->manifest(*wanted.root)) return recipe_of_root(wanted.name, *wanted.root);
  throw Error(
      FailureKind::not_found,
      fmt::format("the environment {} of {} has the root {}, and {}", wanted.name, of, wanted.root->prefixed(),
                  named ? "its name leads to another one here" : "no recipe here has it"),
      fmt::format("bring it into the store: `{}` from a bundle, or pack it from the same lock", verb_text("import")));
}

}  // namespace

RunRequest settled_request(RunRequest request) {
  for (const char* word : {"none", "warn", "check", "create"})
    if (request.requirements == word) return request;
  if (!request.packed.empty() && request.packed != request.requirements)
    throw Error(FailureKind::usage, "a run has one environment, and two are named", "leave out one of them");
  request.packed = std::move(request.requirements);
  request.requirements = "warn";
  return request;
}

void settle_root_of_environment(const Catalogue& catalogue, const RunCall& call, ResolvedRun& run) {
  std::string& text = run.model.requirements.environment;
  if (text.empty() || wanted_by_recipe(text).root) return;
  const auto named = known_recipe([&] { return std::optional(catalogue.used_by(run.model, text)); });
  const auto root = named ? known_root(call.caller.settings, *named) : std::nullopt;
  if (root) {
    text += "@" + root->prefixed();
  } else if (call.request.requirements != "none" && call.request.packed.empty()) {
    if (!named) static_cast<void>(catalogue.used_by(run.model, text));  // throws with what is known
    throw Error(FailureKind::offline,
                fmt::format("the root of {}, the environment of {}, is not known here", text, run.model.name),
                fmt::format("`{} {}` brings it", verb_text("fetch"), text));
  }
}

std::optional<Recipe> choose_packed(const Catalogue& catalogue, const RunCall& call, const ResolvedRun& run) {
  const RunRequest& request = call.request;
  WantedEnvironment locked;
  if (run.lock && run.lock->packed_root) locked = {run.lock->packed, run.lock->packed_root};
  std::optional<Recipe> chosen;
  if (!request.packed.empty()) {
    chosen = known_recipe([&] { return std::optional(catalogue.find(request.packed, std::nullopt)); });
    if (!chosen)
      throw Error(FailureKind::not_found, fmt::format("no environment is called {}", printable(request.packed, 300)),
                  fmt::format("{} takes the name of a packed environment, or none, warn, check, create; `{}` shows "
                              "those that are here",
                              option_text("env"), verb_text("env list")));
    if (locked.root && known_root(call.caller.settings, *chosen) != locked.root)
      throw Error(FailureKind::usage,
                  fmt::format("{} is another environment than that of the lock, {} with the root {}", chosen->name,
                              locked.name, locked.root->prefixed()),
                  fmt::format("leave out {}, or the lock", option_text("env")));
  } else if (request.requirements == "none") {
    return std::nullopt;
  } else if (locked.root) {
    chosen =
        environment_with(call, known_recipe([&] { return std::optional(catalogue.find(locked.name, std::nullopt)); }),
                         locked, "the lock");
  } else if (const std::string& text = run.model.requirements.environment; !text.empty()) {
    const WantedEnvironment wanted = wanted_by_recipe(text);
    chosen =
        environment_with(call, known_recipe([&] { return std::optional(catalogue.used_by(run.model, wanted.name)); }),
                         wanted, run.model.name);
  }
  if (!chosen) return std::nullopt;
  if (run.by_ort)
    throw Error(FailureKind::usage, "an environment is of a recipe's steps, and ONNX Runtime runs none",
                "leave it out");
  if (!run.container_kind.empty())
    throw Error(FailureKind::usage, "a container has a Python of its own, and a packed environment is for this machine",
                fmt::format("leave out {} or {}", option_text("container"), option_text("env")));
  return chosen;
}

bool is_root_alone(const Recipe& environment) { return environment.origin.empty(); }

void check_packed(const RunCall& call, const RunAsset& asset, const std::string& library_path) {
  const fs::path file = fs::path(asset.path) / environment_note_name;
  const auto text = try_read_text(file, environment_note_max);
  if (!text)
    throw Error(FailureKind::not_found, fmt::format("{} is no packed environment", asset.name),
                fmt::format("`{}` makes one of a virtual environment", verb_text("env pack")));
  const EnvironmentNote note = parse_environment_note(*text, file.string());
  const MachineFit fit = refuse_misfit(asset.name, note, library_path);
  for (const std::string& warning : {warning_of_lacking(asset.name, fit), warning_of_unloadable(asset.name, fit),
                                     warning_of_place(note.place, asset.path)})
    if (!warning.empty()) call.warn(warning);
}

}  // namespace sabath
