#include "verbs/environments/packed_lock.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "assembly/chosen_wheels.h"
#include "fetch/hosts/space_guard.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/listed_fetch.h"
#include "verbs/environments/environment_name.h"

namespace sabath {
namespace {

// By its digest, if it was fetched before: nothing asks its server then.
std::optional<Digest> content_here(Store& store, const ChosenPackage& package) {
  const auto content = store.alias("sha256", package.file.sha256);
  if (!content || content->size_bytes != package.file.size_bytes.value_or(content->size_bytes)) return std::nullopt;
  return store.present(*content) ? content : std::nullopt;
}

[[noreturn]] void refuse_offline(const std::vector<ChosenPackage>& missing) {
  throw Error(FailureKind::offline,
              fmt::format("{} of the lock's wheels are not in the store, the first is {}", missing.size(),
                          printable(missing.front().file.name)),
              "pack it once where there is a network");
}

AssetRecord fetch_missing(const SessionSettings& settings, Store& store, const EnvPackRequest& request,
                          const std::vector<ChosenPackage>& missing, EventSink& events, const std::stop_token& stop) {
  AssetRecord fetched =
      fetch_listed(settings, store, recipe_of_wheels(request.name, request.prefix, missing), events, stop);
  if (fetched.failures.empty()) return fetched;
  Failure failure = fetched.failures.front().failure;
  if (fetched.failures.size() > 1)
    failure.message += fmt::format("; and {} wheels more are missing", fetched.failures.size() - 1);
  throw Error(failure);
}

// Returns the bytes that came over the network.
std::uint64_t bring_wheels(const SessionSettings& settings, Store& store, const EnvPackRequest& request,
                           AssemblyOrder& order, EventSink& events) {
  std::vector<ChosenPackage> missing;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < order.packages.size(); ++i) {
    const auto here = content_here(store, order.packages[i]);
    order.wheels.push_back(here.value_or(Digest{}));
    if (here) continue;
    missing.push_back(order.packages[i]);
    numbers.push_back(i);
  }
  if (missing.empty()) return 0;
  if (settings.offline) refuse_offline(missing);
  const AssetRecord fetched = fetch_missing(settings, store, request, missing, events, order.stop);
  const auto manifest = store.manifest(Sha256::parse(fetched.manifest));
  for (std::size_t n = 0; n < missing.size(); ++n) {
    const auto entry = manifest ? manifest->find(RelativePath::parse(missing[n].file.name)) : std::nullopt;
    if (!entry || !entry->is_file())
      throw Error(FailureKind::storage, fmt::format("{} vanished from the store", printable(missing[n].file.name)),
                  "run again");
    order.wheels[numbers[n]] = entry->digest;
  }
  return fetched.fetched_bytes;
}

}  // namespace

PackedLock pack_lock(const SessionSettings& settings, Store& store, Programs& programs, const EnvPackRequest& request,
                     const std::set<std::string>& accepted, EventSink& events, const std::stop_token& stop) {
  refuse_no_lock(request.prefix);
  AssemblyOrder order{interpreter_prefix(programs, request.python), {}, {}, accepted, stop};
  ChosenWheels chosen = choose_wheels(programs, request.prefix, order.interpreter);
  refuse_other_environment(settings, store, request.name, chosen.target.full_version, chosen.packages);
  order.packages = std::move(chosen.packages);
  const std::uint64_t fetched_bytes = bring_wheels(settings, store, request, order, events);
  events.on(event::AssetStarted{request.name, std::nullopt, 0});
  events.on(event::PhaseChanged{"pack"});
  SpaceGuard space(store, "env pack " + request.name, {}, stop);
  return {assemble_environment(store, programs, space, events, order), fetched_bytes};
}

}  // namespace sabath
