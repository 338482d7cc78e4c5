// The library's front door: recipes, a store and the fetchers of this build, wired together.
//
// A Session never prints, never reads the environment, and has no global state. One thread uses a Session at a time;
// fetch() works with as many lanes as asked. Failures of one asset are in its record; Error is thrown only where
// the whole call fails (usage, no such recipe, no store).
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/fetch.h"
#include "sabath/verbs/stage.h"

namespace sabath {

class Comm;
struct PlanRequest;  // sabath/verbs/plan.h
struct PlanRecord;

class Session {
 public:
  // `ranks`: the job that this process is a rank of; then fetch() is collective, into one store of all ranks.
  explicit Session(SessionSettings settings, Comm* ranks = nullptr);
  ~Session();
  // Fetches, verifies, publishes and makes the views. SIGINT and the like are the caller's: it requests stop.
  // With ranks: the record of rank 0 has the assets, every record the same exit code, and any rank's stop is for all.
  FetchRecord fetch(const FetchRequest& request, EventSink& events, std::stop_token stop);
  // Says what fetch() would do, and whether it fits. Moves no content, and changes nothing. One process.
  [[nodiscard]] PlanRecord plan(const PlanRequest& request, EventSink& events, std::stop_token stop);
  // Brings datasets (a model's name: its dataset) to all nodes of the job, through the store, which is filled first if
  // it lacks something. Collective; without ranks: to this node.
  StageRecord stage(const StageRequest& request, EventSink& events, std::stop_token stop);
  // Where a fetched asset stands; Error{offline} if it is not (wholly) present, Error{not_found} without a recipe.
  [[nodiscard]] std::filesystem::path path(const std::string& name);

  [[nodiscard]] const SessionSettings& settings() const noexcept;
  [[nodiscard]] Comm* ranks() const noexcept;  // nullptr: one process

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath
