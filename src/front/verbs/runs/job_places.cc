#include "verbs/runs/job_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/kept_for_others.h"
#include "base/ownership.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/recipe.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// What is there without its symlinks, and the rest as it is named.
fs::path real_place(const fs::path& named) {
  const fs::path whole = absolute_path(named);
  std::error_code unknown;
  const fs::path real = fs::weakly_canonical(whole, unknown);
  return unknown ? whole : real;
}

void refuse_hidden_place(const fs::path& place, std::string_view key) {
  if (place.empty()) return;
  for (const fs::path& path : {place, real_place(place)}) {
    for (const fs::path& name : path) {
      const std::string& text = name.native();
      if (!text.starts_with('.') || text == "." || text == "..") continue;
      throw Error(FailureKind::usage,
                  fmt::format("a call from another machine cannot name {} as its {}: {} is hidden",
                              printable(place.native(), 1000), key, printable(text)),
                  "name a place that is not, or work on that machine itself");
    }
  }
}

void refuse_file(const std::string& name, std::string_view key, std::string_view what) {
  const bool is_path = name.starts_with('/') || name.starts_with('.') || name.starts_with('~') ||
                       name.ends_with(".json") || name.find("://") != name.npos || name.starts_with("file:");
  if (!is_path && (name.find('/') == name.npos || !try_stat(name))) return;
  throw Error(
      FailureKind::usage,
      fmt::format("a call from another machine names a {} of this side by its name, and no file: its {} is '{}'", what,
                  key, printable(name, 1000)),
      fmt::format("put the file among the {}s of this side, and say its name", what));
}

// A program of the run would be what the image has under its name.
void refuse_others_image(const std::string& container, const std::vector<std::uint32_t>& trusted) {
  const auto colon = container.find(':');
  if (colon == container.npos) return;
  const fs::path image = container.substr(colon + 1);
  const bool is_believed = image.is_absolute() && try_stat(image) && other_writer(image, trusted) == 0 &&
                           !why_kept_for_others(fs::canonical(image));
  if (is_believed) return;
  throw Error(
      FailureKind::access,
      fmt::format("a call from another machine cannot bring the image {}", printable(image.native(), 1000)),
      "name an image that is a file on that machine, of yours, of root or of a trusted owner, by its whole path");
}

}  // namespace

void refuse_kept_place(const fs::path& directory, const SessionSettings& settings, const Environment& environment) {
  std::vector<fs::path> kept = settings.other_stores;
  kept.push_back(settings.store);
  for (const auto& [variable, below] :
       {std::pair("XDG_CONFIG_HOME", ".config"), std::pair("XDG_DATA_HOME", ".local/share"),
        std::pair("XDG_STATE_HOME", ".local/state")}) {
    if (const fs::path base = environment.base_directory(variable, below); !base.empty())
      kept.push_back(base / "sabath");
  }
  for (const fs::path& recipes : settings.recipe_directories) {
    for (const KindName& kind : kind_names) kept.push_back(recipes / kind.folder);
  }
  const fs::path real = real_place(directory);
  for (const fs::path& each : kept) {
    if (each.empty() || !is_below(real, real_place(each))) continue;
    throw Error(FailureKind::usage,
                fmt::format("the directory of a job cannot be {}: SABATH reads what is in {}",
                            printable(directory.native(), 1000), printable(each.native(), 1000)),
                "name another one, or none: then one is made in the working directory");
  }
}

void refuse_files_of_call(const JobRequest& request, const HostCall& call, const SessionSettings& settings) {
  const RunRequest& run = request.run;
  const bool asks = request.status || request.cancel || (request.wait && !request.submit);
  for (const auto& [key, name] :
       {std::pair("model", &run.model), std::pair("dataset", &run.dataset), std::pair("from", &run.from)}) {
    const auto is_it = [&key = key](const SentRecipe& sent) { return sent.role == key; };
    const bool directory_of_job = asks && name == &run.model;
    if (!directory_of_job && std::ranges::none_of(call.recipes, is_it)) refuse_file(*name, key, "recipe");
  }
  refuse_file(run.site, "site", "profile");
  refuse_others_image(run.container, settings.trusted_owners);
  refuse_hidden_place(run.directory, "job_dir");
  refuse_hidden_place(request.stage, "stage_to");
  refuse_hidden_place(run.settings_file, "set_from");
}

}  // namespace sabath
