#include "session/environment_fit.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "comm/agree.h"
#include "comm/parcel.h"
#include "holdings/holding.h"
#include "packed/environment_note.h"
#include "packed/machine_fit.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse_no_environment(const std::string& name) {
  throw Error(FailureKind::not_found, fmt::format("{} is no packed environment", printable(name, 300)),
              fmt::format("`{}` makes one of a virtual environment", verb_text("env pack")));
}

// The text of its note; empty: the asset is not here yet.
std::string note_text(const SessionSettings& settings, const Recipe& recipe, bool staged) {
  const auto store = try_open_store(settings);
  const Holding holding = holding_of(recipe, store.get());
  if (!holding.has_manifest) return "";
  const auto entry = store->manifest(*holding.root)->find(*RelativePath::try_parse(environment_note_name));
  if (!entry || !entry->is_file()) refuse_no_environment(recipe.name);
  auto text = store->text_of(entry->digest, environment_note_max);
  if (!text && staged && entry->digest.size_bytes > environment_note_max) refuse_no_environment(recipe.name);
  return std::move(text).value_or("");
}

}  // namespace

void check_environment_fits(Comm& comm, const SessionSettings& settings, const Recipe* recipe, bool staged,
                            EventSink& events) {
  std::string told;
  run_agreed(comm, [&] {
    if (recipe != nullptr) told = Parcel().add(recipe->name).add(note_text(settings, *recipe, staged)).take();
  });
  comm.broadcast(told, 0);
  Parcel::Reader parcel(told);
  const std::string name = parcel.text(), text = parcel.text();
  run_agreed(comm, [&] {
    if (text.empty() || !comm.node_leader()) return;
    // Modules and their libraries come when the programs start.
    const MachineFit fit =
        refuse_misfit(name, parse_environment_note(text, fmt::format("{}/{}", name, environment_note_name)), "");
    const std::string warning = staged && comm.rank() == 0 ? warning_of_unloadable(name, fit) : "";
    if (!warning.empty()) events.on(event::Warning{warning});
  });
}

void check_environment_mode(const StageRequest& request) {
  if (request.environments.empty()) return;
  if (request.mode == StageMode::replicate && request.select.empty() && !request.hub_layout) return;
  throw Error(
      FailureKind::usage, "each node gets an environment whole, as it is",
      fmt::format("stage it by a call of its own, without {} and without another layout", option_text("select")));
}

}  // namespace sabath
