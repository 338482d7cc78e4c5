#include <fmt/format.h>
#include <grp.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/shared.h"
#include "store/store.h"

namespace sabath::cli {
namespace {
namespace cmd_init {

struct Options {
  bool shared = false;
  std::optional<std::string> group;
};

gid_t group_id(const std::string& name) {
  gid_t id = 0;
  const char* end = name.data() + name.size();
  if (const auto [last, error] = std::from_chars(name.data(), end, id); error == std::errc() && last == end) return id;
  if (const struct group* found = ::getgrnam(name.c_str())) return found->gr_gid;  // NOLINT(concurrency-mt-unsafe)
  throw Error(FailureKind::usage, fmt::format("there is no group '{}'", printable(name)),
              "give a group's name, or a numeric id");
}

int run(Context& context, const Options& options) {
  const auto& directory = context.configuration.session.store;
  if (options.group && !options.shared) {
    throw Error(FailureKind::usage, "--group is for a store that is --shared", "say both, or neither");
  }
  if (options.shared) {
    const auto group = options.group ? std::optional(group_id(*options.group)) : std::nullopt;
    make_shared_store(directory, group);
  } else {
    static_cast<void>(Store::open(directory, true));
  }
  if (context.presentation.json) {
    context.out.record({{"schema", 1}, {"store", directory.string()}, {"shared", options.shared}, {"exit", 0}});
  } else {
    context.out.print(directory.string() + "\n");
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.flag("--shared", options->shared, "for all members of its group");
  set.option("--group", "GROUP", options->group, "of the store, with --shared (default: yours)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_init
}  // namespace

constexpr Verb init_verb{
    "init",
    "make a store",
    "sabath init --store /project/p1/store --shared --group p1",
    "Without --shared there is no need for it: the first fetch makes the store. A shared one is writable for its "
    "group; "
    "each member believes what he hashed himself, and what root and the `trusted_owners` of his configuration did.",
    false,
    cmd_init::declare,
};

}  // namespace sabath::cli
