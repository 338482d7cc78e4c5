#include "verbs/environments/packed_conda.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "assembly/chosen_wheels.h"
#include "base/file.h"
#include "base/working_directory.h"
#include "conda/conda_place.h"
#include "environments/readers.h"
#include "environments/target_here.h"
#include "fetch/hosts/space_guard.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/listed_fetch.h"

namespace sabath {
namespace {

constexpr std::size_t learnt_shown_max = 20;

std::string text_of_lock(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};  // packed_lock.h says what is wrong
  return try_read_text(file, lock_text_max).value_or("");
}

// The interpreter is the lock's own, so its version decides which wheels fit.
std::vector<ChosenPackage> choose_for_conda(Programs& programs, const std::filesystem::path& file) {
  const std::string text = text_of_lock(file), origin = printable(file.filename().native());
  const bool is_yaml = format_of_file(file.filename(), text) == EnvironmentFormat::conda_lock;
  const std::vector<EnvironmentLock> locks{is_yaml ? read_conda_lock(text, origin) : read_conda_explicit(text, origin)};
  const auto python = std::ranges::find_if(locks[0].packages, [](const LockedPackage& each) {
    return each.manager == PackageManager::conda && each.name == "python";
  });
  if (python == locks[0].packages.end())
    throw Error(FailureKind::invalid,
                fmt::format("{} has no package python: an environment has its own interpreter", origin),
                "add python to it, and lock again");
  LockOrder order;
  order.python = python->version;
  const WheelTarget target = target_of(programs, order, true);
  for (const LockedPackage& each : locks[0].packages)  // of an explicit list, which is for one platform
    if (!is_yaml && each.platform != "noarch" && each.platform != conda_platform(target))
      throw Error(FailureKind::invalid,
                  fmt::format("{}: {} is for {}, and this machine is {}", each.place, each.name, each.platform,
                              conda_platform(target)),
                  "pack it on a machine of that kind");
  std::vector<ChosenPackage> packages = choose_packages(locks, target);
  if (std::ranges::none_of(packages, [](const ChosenPackage& each) { return each.name == "python"; }))
    throw Error(FailureKind::not_found,
                fmt::format("{} has packages for other platforms than {}", origin, conda_platform(target)),
                "lock it for this one");
  return packages;
}

Recipe recipe_of_packages(const EnvPackRequest& request, const std::vector<ChosenPackage>& packages) {
  Recipe recipe = recipe_of_wheels(request.name, request.prefix, packages);
  for (std::size_t i = 0; i < packages.size(); ++i)
    if (packages[i].file.sha256.empty()) recipe.fragments[i].checksum.md5 = packages[i].file.md5;
  return recipe;
}

std::vector<Digest> contents_of(Store& store, const AssetRecord& fetched, const std::vector<ChosenPackage>& packages) {
  if (!fetched.failures.empty()) {
    Failure failure = fetched.failures.front().failure;
    if (fetched.failures.size() > 1)
      failure.message += fmt::format("; and {} packages more are missing", fetched.failures.size() - 1);
    throw Error(failure);
  }
  const auto manifest = store.manifest(Sha256::parse(fetched.manifest));
  std::vector<Digest> contents;
  for (const ChosenPackage& package : packages) {
    const auto entry = manifest ? manifest->find(RelativePath::parse(package.file.name)) : std::nullopt;
    if (!entry || !entry->is_file())
      throw Error(FailureKind::storage, fmt::format("{} vanished from the store", printable(package.file.name)),
                  "run again");
    contents.push_back(entry->digest);
  }
  return contents;
}

// Files of which the lock has but an md5, which anybody can make two of.
void tell_learnt(const CondaAssemblyOrder& order, std::vector<std::string>& remarks) {
  std::vector<std::string> learnt;
  std::size_t all = 0;
  for (std::size_t i = 0; i < order.packages.size(); ++i) {
    const LockedFile& file = order.packages[i].file;
    if (!file.sha256.empty()) continue;
    if (++all > learnt_shown_max) continue;
    learnt.push_back(fmt::format("{} sha256:{} {} bytes", printable(file.name), order.contents[i].hash.hex(),
                                 order.contents[i].size_bytes));
  }
  if (all == 0) return;
  remarks.push_back(fmt::format("{} packages of the lock have an md5 only; learnt from what came: {}{}", all,
                                fmt::join(learnt, ", "), all > learnt.size() ? ", ..." : ""));
}

}  // namespace

bool is_conda_lock(const std::filesystem::path& file) {
  const std::string text = text_of_lock(file);
  if (text.empty()) return false;
  const EnvironmentFormat format = format_of_file(file.filename(), text);
  return format == EnvironmentFormat::conda_lock || format == EnvironmentFormat::conda_explicit;
}

PackedConda pack_conda_lock(const SessionSettings& settings, Store& store, Programs& programs,
                            const EnvPackRequest& request, const std::set<std::string>& accepted, EventSink& events,
                            const std::stop_token& stop) {
  if (!request.python.empty())
    throw Error(FailureKind::usage, "an interpreter is named, and a lock of conda has its own",
                "leave the interpreter out");
  CondaAssemblyOrder order{request.name, checked_place(request.at), {}, {}, accepted, stop};
  order.packages = choose_for_conda(programs, absolute_path(request.prefix));
  const AssetRecord fetched = fetch_listed(settings, store, recipe_of_packages(request, order.packages), events, stop);
  order.contents = contents_of(store, fetched, order.packages);
  events.on(event::AssetStarted{request.name, std::nullopt, 0});
  events.on(event::PhaseChanged{"pack"});
  SpaceGuard space(store, "env pack " + request.name, {}, stop);
  PackedConda packed{assemble_conda_environment(store, programs, space, events, order), fetched.fetched_bytes};
  tell_learnt(order, packed.environment.tree.remarks);
  return packed;
}

}  // namespace sabath
