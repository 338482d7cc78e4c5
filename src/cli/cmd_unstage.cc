#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/age.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "comm/agree.h"
#include "comm/emulated_nodes.h"
#include "comm/solo_comm.h"
#include "recipe/fields.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "stage/target.h"
#include "store/layout.h"
#include "store/lease_file.h"
#include "store/writer.h"

namespace sabath::cli {
namespace {
namespace cmd_unstage {

namespace fs = std::filesystem;

constexpr std::string_view store_name = ".sabath", gone_prefix = ".sabath-gone.";

struct Options {
  std::vector<std::string> names, to;
  std::optional<std::uint64_t> emulated;
  bool all = false, alone = false;  // alone: seen before the line is parsed: cli/ranks.h
};

// One node's directory, and what of it is to go. Nothing is opened through a symlink but DIR itself.
struct Doomed {
  fs::path directory;
  std::vector<std::string> views;  // names
  bool store = false;
  std::vector<fs::path> half_gone;  // stores of an earlier --all that was broken off
};

void check_names(const Options& options) {
  if (options.to.empty()) throw Error(FailureKind::usage, "from where is not said", "--to DIR, as stage was told");
  if (options.names.empty() && !options.all) {
    throw Error(FailureKind::usage, "what to unstage is not said", "name it, or say --all");
  }
  for (const auto& name : options.names) {
    if (!is_name(name)) throw Error(FailureKind::usage, fmt::format("{} is no name of an asset", printable(name)));
  }
  if (std::ranges::count(options.to, "auto") > 0) {
    throw Error(FailureKind::usage, "unstage does not guess places: it removes", "--to DIR, as stage printed it");
  }
}

bool is_view(const fs::path& shown) {
  std::error_code error;
  const fs::path target = fs::read_symlink(shown, error);
  return !error && try_parse_staged_link(target);
}

void look_for_views(const Options& options, Doomed& doomed) {
  for (const auto& name : options.names) {
    const fs::path shown = doomed.directory / name;
    if (!try_lstat(shown)) continue;
    if (!is_view(shown)) {
      throw Error(FailureKind::usage,
                  fmt::format("{} is no view of SABATH: nothing was removed", printable(shown.native())),
                  "remove it yourself if it is yours, or name another");
    }
    doomed.views.push_back(name);
  }
  if (!options.all) return;
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

// A whole store goes only if it is one, and nobody is at work in it.
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
                "wait for it to end, or unstage by names, without --all");
  }
  doomed.store = true;
}

Doomed look(const Options& options, const fs::path& directory) {
  Doomed doomed;
  doomed.directory = directory;
  if (!try_stat(doomed.directory)) return doomed;
  look_for_views(options, doomed);
  if (options.all) look_at_store(doomed);
  return doomed;
}

void unlink_if_there(const fs::path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno("remove", file, errno);
}

// First what is seen, then what it rests on: whatever breaks this off, no view shows a part. Another node may see the
// same directory and do the same.
void remove(const Doomed& doomed) {
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
    if (::rename(store.c_str(), half_gone.back().c_str()) != 0 && errno != ENOENT) {
      throw_errno("move away", store, errno);
    }
  }
  for (const auto& place : half_gone) {
    remove_tree(place);
    if (try_lstat(place)) {
      throw Error(FailureKind::storage, fmt::format("{} could not be removed", printable(place.native())),
                  "see who owns it; it is nothing but a store that is not used any more");
    }
  }
}

// Every node's leader does its own. First all look, and if one refuses nothing is removed anywhere.
struct Removed {
  std::uint64_t views = 0, stores = 0;
};

Removed unstage(Comm& comm, const Options& options) {
  std::vector<Doomed> places;
  run_agreed(comm, [&] {
    check_names(options);
    if (!comm.node_leader()) return;
    for (const auto& pattern : options.to) {
      for (const auto& directory : expand_target(pattern, comm)) places.push_back(look(options, directory));
    }
  });
  std::vector<std::uint64_t> found(options.names.size() + 2);
  for (const Doomed& doomed : places) {
    for (std::size_t i = 0; i < options.names.size(); ++i) {
      found[i] += static_cast<std::uint64_t>(std::ranges::count(doomed.views, options.names[i]));
    }
    found[found.size() - 2] += doomed.views.size();
    found.back() += doomed.store ? 1 : 0;
  }
  comm.all_reduce(found, Reduction::sum);
  for (std::size_t i = 0; i < options.names.size(); ++i) {
    if (found[i] > 0 || options.all) continue;
    throw Error(FailureKind::not_found, fmt::format("{} is staged on no node", printable(options.names[i])),
                "name the directory that stage was told, with --to");
  }
  run_agreed(comm, [&] { std::ranges::for_each(places, remove); });
  return {found[found.size() - 2], found.back()};
}

int run(Context& context, const Options& options) {
  const auto solo = make_solo_comm();
  Comm* comm = context.ranks != nullptr ? context.ranks : solo.get();
  std::unique_ptr<Comm> emulated;
  if (options.emulated) {
    emulated = emulate_nodes(*comm, static_cast<unsigned>(*options.emulated));
    comm = emulated.get();
  }
  const Removed removed = unstage(*comm, options);
  if (!context.speaks()) return 0;
  const auto plural = [](std::uint64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  context.say(fmt::format("{} and {} removed, on {}", plural(removed.views, "view"), plural(removed.stores, "store"),
                          plural(comm->nodes(), "node")));
  if (removed.stores == 0 && !options.all) context.say("hint: the content stays for the next job; --all removes it");
  if (context.presentation.json) {
    context.out.record(
        {{"schema", 1}, {"nodes", comm->nodes()}, {"views", removed.views}, {"stores", removed.stores}, {"exit", 0}});
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, false, "datasets, as they are named in DIR");
  set.option("--to", "DIR", options->to,
             "where stage put them, as it was told: DIR,DIR and {node} and {rank}; again for others");
  set.flag("--all", options->all, "every view in DIR, and the node's store DIR/.sabath with all its content");
  set.count("--emulate-nodes", "N", 1'000'000, options->emulated, "as stage was told, for a trial");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_unstage
}  // namespace

constexpr Verb unstage_verb{
    "unstage",
    "take staged datasets off the disks of the nodes of a job",
    "mpirun sabath unstage cosmoflow --to /local/$USER    the view goes, the content stays\n"
    "mpirun sabath unstage --all --to /local/$USER        all goes\n"
    "sabath gc --store /local/$USER/.sabath --max-size 500GB --now    content, but not too much",
    "Each node's leader removes DIR/NAME and its plan file, which stage made, and nothing else: what is no view of "
    "SABATH is refused, on all nodes, before anything is removed. A node without it is fine, unless no node has it. "
    "--all is refused while a stage or a run uses the node's store. docs/jobs.md has examples for batch systems.",
    false,
    cmd_unstage::declare,
    true,
};

}  // namespace sabath::cli
