#include "verbs/environments/packed_lock.h"

#include <fmt/format.h>

#include <vector>

#include "assembly/chosen_wheels.h"
#include "fetch/hosts/space_guard.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/listed_fetch.h"

namespace sabath {
namespace {

// The content of each wheel, in their order.
std::vector<Digest> contents_of(Store& store, const AssetRecord& fetched, const std::vector<ChosenPackage>& packages) {
  if (!fetched.failures.empty()) {
    Failure failure = fetched.failures.front().failure;
    if (fetched.failures.size() > 1)
      failure.message += fmt::format("; and {} wheels more are missing", fetched.failures.size() - 1);
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

}  // namespace

PackedLock pack_lock(const SessionSettings& settings, Store& store, Programs& programs, const EnvPackRequest& request,
                     const std::set<std::string>& accepted, EventSink& events, const std::stop_token& stop) {
  AssemblyOrder order{interpreter_prefix(programs, request.python), {}, {}, accepted, stop};
  order.packages = choose_wheels(programs, request.prefix, order.interpreter).packages;
  const AssetRecord fetched =
      fetch_listed(settings, store, recipe_of_wheels(request.name, request.prefix, order.packages), events, stop);
  order.wheels = contents_of(store, fetched, order.packages);
  events.on(event::AssetStarted{request.name, std::nullopt, 0});
  events.on(event::PhaseChanged{"pack"});
  SpaceGuard space(store, "env pack " + request.name, {}, stop);
  return {assemble_environment(store, programs, space, events, order), fetched.fetched_bytes};
}

}  // namespace sabath
