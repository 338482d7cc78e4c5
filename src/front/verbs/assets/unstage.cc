#include "sabath/verbs/unstage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "base/wording.h"
#include "comm/agree.h"
#include "comm/solo_comm.h"
#include "recipe/fields.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "stage/node/target.h"
#include "store/disk/layout.h"
#include "store/disk/writer.h"
#include "store/leases/lease_file.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view store_name = ".sabath", gone_prefix = ".sabath-gone.";

// One node's directory, and the parts of it to remove. Only DIR itself may be opened through a symlink.
struct Doomed {
  fs::path directory;
  std::vector<std::string> views;  // names
  bool store = false;
  std::vector<fs::path> half_gone;  // stores of an earlier --all that was broken off
};

void check_names(const UnstageRequest& request) {
  if (request.to.empty())
    throw Error(FailureKind::usage, "from where is not said", option_text("to") + " DIR, as with stage");
  if (request.names.empty() && !request.all) {
    throw Error(FailureKind::usage, "what to unstage is not said", "name it, or say " + option_text("all"));
  }
  for (const auto& name : request.names) {
    if (!is_name(name)) throw Error(FailureKind::usage, fmt::format("{} is no name of an asset", printable(name)));
  }
  if (std::ranges::count(request.to, "auto") > 0) {
    throw Error(FailureKind::usage, "unstage does not guess places: it removes",
                option_text("to") + " DIR, as stage printed it");
  }
}

bool is_view(const fs::path& shown) {
  std::error_code error;
  const fs::path target = fs::read_symlink(shown, error);
  return !error && try_parse_staged_link(target);
}

void look_for_views(const UnstageRequest& request, Doomed& doomed) {
  for (const auto& name : request.names) {
    const fs::path shown = doomed.directory / name;
    if (!try_lstat(shown)) continue;
    if (!is_view(shown)) {
      throw Error(FailureKind::usage,
                  fmt::format("{} is no view of SABATH: nothing was removed", printable(shown.native())),
                  "remove it yourself if it is yours, or name another");
    }
    doomed.views.push_back(name);
  }
  if (!request.all) return;
  std::error_code error;
  for (fs::directory_iterator it(doomed.directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.starts_with(gone_prefix) && it->symlink_status().type() == fs::file_type::directory) {
      doomed.half_gone.push_back(it->path());
    }
    if (is_name(name) && is_view(it->path()) && std::ranges::count(doomed.views, name) == 0)
      doomed.views.push_back(name);
  }
  if (error && error.value() != ENOENT) throw_errno("list", doomed.directory, error.value());
}

// A whole store is removed only if it is a store, and no process has a live lease on it.
void look_at_store(Doomed& doomed) {
  const fs::path store = doomed.directory / store_name;
  const auto there = try_lstat(store);
  if (!there) return;
  const Layout layout(store);
  const auto format = try_lstat(layout.format_file());
  if (!S_ISDIR(there->st_mode) || !format || !S_ISREG(format->st_mode)) {
    throw Error(FailureKind::usage,
                fmt::format("{} is no store of SABATH: nothing was removed", printable(store.native())),
                "look at what it is, and remove it yourself");
  }
  for (const auto& lease : read_leases(layout, WriterId::of_this_process().host, unix_time())) {
    if (!lease.live || lease.damaged) continue;
    throw Error(FailureKind::storage,
                fmt::format("{} is in use: {}", printable(store.native()), printable(lease.text.note)),
                "wait for it to end, or unstage by names, without " + option_text("all"));
  }
  doomed.store = true;
}

Doomed look(const UnstageRequest& request, const fs::path& directory) {
  Doomed doomed;
  doomed.directory = directory;
  if (!try_stat(doomed.directory)) return doomed;
  look_for_views(request, doomed);
  if (request.all) look_at_store(doomed);
  return doomed;
}

void unlink_if_there(const fs::path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno("remove", file, errno);
}

// Removes the views first, then the store below them: if this breaks off, no view shows a part. Another node may see
// the same directory and do the same.
void take_away(const Doomed& doomed) {
  for (const auto& name : doomed.views) {
    const fs::path plan = doomed.directory / (name + ".plan.json");
    const auto there = try_lstat(plan);
    if (there && S_ISREG(there->st_mode)) unlink_if_there(plan);
    unlink_if_there(doomed.directory / name);
  }
  auto half_gone = doomed.half_gone;
  if (doomed.store) {
    half_gone.push_back(doomed.directory / fmt::format("{}{}", gone_prefix, WriterId::of_this_process().text()));
    const fs::path store = doomed.directory / store_name;
    const int error = rename_at(AT_FDCWD, store.c_str(), AT_FDCWD, half_gone.back().c_str());
    if (error != 0 && error != ENOENT) throw_errno("move away", store, error);
  }
  for (const auto& place : half_gone) {
    remove_tree(place);
    if (try_lstat(place)) {
      throw Error(FailureKind::storage, fmt::format("{} could not be removed", printable(place.native())),
                  "see who owns it; it is nothing but a store that is not used any more");
    }
  }
}

// Each node's leader does it for its own node. First all look; if one refuses, no node removes anything.
UnstageRecord unstage_nodes(Comm& comm, const UnstageRequest& request) {
  std::vector<Doomed> places;
  run_agreed(comm, [&] {
    check_names(request);
    if (!comm.node_leader()) return;
    for (const auto& pattern : request.to) {
      for (const auto& directory : expand_target(pattern, comm)) places.push_back(look(request, directory));
    }
  });
  std::vector<std::uint64_t> found(request.names.size() + 2);
  for (const Doomed& doomed : places) {
    for (std::size_t i = 0; i < request.names.size(); ++i) {
      found[i] += static_cast<std::uint64_t>(std::ranges::count(doomed.views, request.names[i]));
    }
    found[found.size() - 2] += doomed.views.size();
    found.back() += doomed.store ? 1 : 0;
  }
  comm.all_reduce(found, Reduction::sum);
  for (std::size_t i = 0; i < request.names.size(); ++i) {
    if (found[i] > 0 || request.all) continue;
    throw Error(FailureKind::not_found, fmt::format("{} is staged on no node", printable(request.names[i])),
                "name the directory that stage was given, with " + option_text("to"));
  }
  run_agreed(comm, [&] { std::ranges::for_each(places, take_away); });
  return {comm.nodes(), found[found.size() - 2], found.back()};
}

}  // namespace

UnstageRecord unstage(Session& session, const UnstageRequest& request, EventSink&, std::stop_token) {
  if (session.ranks() != nullptr) return unstage_nodes(*session.ranks(), request);
  return unstage_nodes(*make_solo_comm(), request);
}

template <>
struct Described<UnstageRequest> {
  using Of = UnstageRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "datasets, by the names that stage gave their views in DIR", .argument = "NAME"),
      SABATH_FIELD(to,
                   .help =
                       "the nodes' own directory that stage was given, written as it was there: DIR, DIR,DIR, {node} "
                       "and {rank}; again for others; auto is refused",
                   .value = "DIR"),
      SABATH_FIELD(all,
                   .help = "every view in each DIR, and the node's store there, DIR/.sabath, with all its content"),
  };
};

template <>
struct Described<UnstageRecord> {
  using Of = UnstageRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(nodes, .help = "nodes of the job"),
      SABATH_FIELD(views, .help = "views that were removed, on all nodes together"),
      SABATH_FIELD(stores, .help = "stores that were removed, on all nodes together"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const UnstageRecord& record) { return record_text(record); }

extern constexpr LibraryVerb unstage_call = described<unstage>("unstage");

}  // namespace sabath
