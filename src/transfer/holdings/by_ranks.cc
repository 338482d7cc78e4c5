#include "holdings/by_ranks.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "comm/agree.h"
#include "comm/parcel.h"
#include "fetch/hosts/space_guard.h"
#include "holdings/stores.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

// Tells one store from another of the same name: its first file, by its time. (Not by its number: FUSE filesystems may
// give each mount others.)
std::string sign_of(const std::filesystem::path& store) {
  const auto file = try_stat(Layout(store).format_file());
  if (!file) return "";
  return fmt::format("{} {}", file->st_mtim.tv_sec, file->st_mtim.tv_nsec);
}

// Tells all ranks the outcome of rank 0.
FetchRecord told_to_all(Comm& comm, FetchRecord record, const std::optional<Failure>& failure) {
  std::string bytes = Parcel().add(failure).add(static_cast<std::uint64_t>(record.exit)).take();
  comm.broadcast(bytes, 0);
  Parcel::Reader parcel(bytes);
  if (const auto told = parcel.failure()) throw Error(*told);
  record.exit = static_cast<int>(parcel.number());
  return record;
}

}  // namespace

std::unique_ptr<Store> try_open_shared_store(Comm& comm, const std::filesystem::path& directory, bool create) {
  std::unique_ptr<Store> store;
  std::string name, sign;
  run_agreed(comm, [&] {
    if (comm.rank() != 0) return;
    store = create ? Store::open(directory, true) : try_open_store(directory);
    if (!store) return;
    name = store->directory().native();
    sign = sign_of(name);
  });
  comm.broadcast(name, 0);
  comm.broadcast(sign, 0);
  run_agreed(comm, [&] {
    if (comm.rank() != 0 && !name.empty() && sign_of(name) == sign) store = Store::open(name, false);
  });
  return store;
}

std::unique_ptr<Store> open_shared_store(Comm& comm, const std::filesystem::path& directory) {
  auto store = try_open_shared_store(comm, directory);
  run_agreed(comm, [&] {
    if (store) return;
    throw Error(
        FailureKind::usage, fmt::format("{} is not the store that rank 0 has under this name", directory.native()),
        fmt::format("ranks on several nodes need a store on a filesystem that all of them see: name one with {} "
                    "(SABATH_STORE)",
                    option_text("store")));
  });
  return store;
}

FetchRecord fetch_by_ranks(Comm& comm, Store& store, const FetcherSet& fetchers, const SessionSettings& settings,
                           const FetchRequest& request, const std::stop_token& stop,
                           const std::function<FetchRecord(Team&)>& flow) {
  Team team(comm, settings.limit_rate, stop);
  FetchRecord record;
  std::optional<Failure> failure;
  if (comm.rank() == 0) {
    team.lead([&] { failure = failure_of([&] { record = flow(team); }); });
  } else {
    NoEvents events;
    Ledger unused(events);
    const RewriteRules rewrites;  // rank 0 has applied its own
    SpaceGuard space(store.space(), store.directory().string());
    Hosts hosts(settings.lanes, team.ranks());
    FetchContext context{
        .store = store,
        .fetchers = fetchers,
        .events = events,
        .ledger = unused,
        .space = space,
        .limiter = team.limiter(),
        .hosts = hosts,
        .rewrites = rewrites,
        .lanes = settings.lanes,
        .force = request.force,
        .stop = team.stop(),
    };
    team.follow(context);
  }
  return told_to_all(comm, std::move(record), failure);
}

FetchRecord on_rank_0(Comm& comm, const std::function<FetchRecord()>& flow) {
  FetchRecord record;
  std::optional<Failure> failure;
  if (comm.rank() == 0) failure = failure_of([&] { record = flow(); });
  return told_to_all(comm, std::move(record), failure);
}

}  // namespace sabath
