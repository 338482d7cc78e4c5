// A request for a run, resolved: its recipes, steps, settings and site.
// One thread. Throws Error{usage}, Error{not_found}, Error{invalid}.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "harness/module_lock.h"
#include "holdings/calling_session.h"
#include "machine/site.h"
#include "run/commands.h"
#include "run/settings.h"
#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/verbs/run.h"

namespace sabath {

// One call of the library: the values that every part of a run needs. It lives as long as the call.
struct RunCall {
  CallingSession caller;
  const RunRequest& request;
  EventSink& events;
  std::stop_token stop;
  bool dry = false;  // nothing is made, loaded or launched

  void say(std::string text) const { events.on(event::Message{std::move(text)}); }
  void warn(std::string text) const { events.on(event::Warning{std::move(text)}); }
};

struct ResolvedRun {
  Recipe model;
  std::optional<Recipe> dataset;
  std::optional<Recipe> from;                        // the asset that the program starts from
  std::vector<std::pair<std::string, Recipe>> used;  // the assets that steps name by {asset.NAME}, by NAME
  bool by_ort = false;                               // the model's ONNX graph is run, and no step of a recipe
  std::string graph;                                 // where it stands in the model's asset; empty: it is the only one
  std::optional<Recipe> origin;                      // of a derived dataset: that with which its lineage began
  std::vector<Step> steps;
  std::vector<Step> check_steps;  // the recipe's own checks, which are launched before them
  std::vector<Variant> variants;
  Site site;
  std::optional<Recipe> packed;                 // the environment in which the steps are started
  std::optional<ModuleLock> lock;               // what is loaded for the needs of the recipe
  std::string launcher;                         // of parallel steps; "direct": none
  std::string container_kind, container_image;  // empty: none
  unsigned ranks = 1, nodes = 1;
  std::string sampler;  // this program, as the nodes' ranks start it
  [[nodiscard]] bool is_sweep() const { return variants.size() > 1; }
  [[nodiscard]] std::vector<Step> all_steps() const;  // and the checks
};

[[nodiscard]] ResolvedRun resolve_run(const RunCall& call);

}  // namespace sabath
