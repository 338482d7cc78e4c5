#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "holdings/holding.h"
#include "recipe/catalogue.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/site_solve.h"
#include "software/detect.h"
#include "software/solve.h"
#include "verbs/site/site_profiles.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t needs_max = 64;

std::vector<SoftwareNeed> needs_of(Session& session, const SolveSiteRequest& request) {
  std::vector<std::string> texts = request.needs;
  if (!request.model.empty()) {
    const Recipe recipe = make_catalogue(session.settings()).find(request.model, std::nullopt);
    texts.insert(texts.end(), recipe.requirements.system_modules.begin(), recipe.requirements.system_modules.end());
    if (texts.empty())
      throw Error(FailureKind::not_found, fmt::format("the recipe of {} needs no modules", recipe.name));
  }
  if (texts.empty()) throw Error(FailureKind::usage, "what is needed is not said", "say it, as cuda>=11,<13");
  if (texts.size() > needs_max)
    throw Error(FailureKind::usage, fmt::format("{} needs are more than {}", texts.size(), needs_max));
  std::vector<SoftwareNeed> needs;
  for (const std::string& text : texts) needs.push_back(parse_software_need(text));
  return needs;
}

SolvedNeed solved(const SoftwareNeed& need, const SoftwarePick& pick, const Software& row) {
  return {need.text, row.name, pick.version, row.module, row.program, row.features, row.known};
}

}  // namespace

SolveSiteRecord solve_site(Session& session, const SolveSiteRequest& request, EventSink&, std::stop_token stop) {
  const auto needs = needs_of(session, request);
  SiteProfile profile;
  if (const auto file = profile_file(session, request.environment, request.site); !file.empty())
    profile = read_profile(session, file);
  if (profile.software.empty() && profile.interpreters.empty()) {
    if (!request.site.empty()) {
      throw Error(FailureKind::not_found,
                  fmt::format("the profile {} names no module and no interpreter", printable(request.site)),
                  "detect what is on that machine again, with more patience, and take that profile");
    }
    profile = profile_of_here(session, request.environment, request.patience, "", stop);
  }
  const std::vector<Software> table = table_of(profile);
  const SoftwareSolution solution = solve_needs(table, needs);
  SolveSiteRecord record;
  record.site = profile.name;
  for (std::size_t i = 0; i < solution.picks.size(); ++i)
    record.chosen.push_back(solved(needs[i], solution.picks[i], table[solution.picks[i].row]));
  record.modules = solution.modules;
  record.also = solution.also;
  record.against = solution.against;
  record.nearest = solution.nearest;
  if (solution.picks.empty()) record.exit = exit_code(solution.is_whole ? FailureKind::not_found : FailureKind::usage);
  return record;
}

template <>
struct Described<SolveSiteRequest> {
  using Of = SolveSiteRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(needs, .help = "NAME, with >=V <V <=V >V ==V !=V =V, and +FEATURE", .argument = "NEED"),
      SABATH_FIELD(model, .help = "and what its recipe needs", .option = "for", .value = "MODEL"),
      SABATH_FIELD(site, .help = "a profile (default: that of this host, else what is found now)", .value = "PROFILE"),
      SABATH_FIELD(patience, .help = "with each program that is asked where no profile is (10; a module system 2)",
                   .maximum = 600, .value = "SECONDS"),
      SABATH_FIELD(environment, .help = "variables of the caller", .hidden = true),
  };
};

template <>
struct Described<SolvedNeed> {
  using Of = SolvedNeed;
  static constexpr Field table[] = {
      SABATH_FIELD(need, .help = "as it was asked"),
      SABATH_FIELD(name, .help = "of what meets it"),
      SABATH_FIELD(version, .help = "of it", .null_if_empty = true),
      SABATH_FIELD(module, .help = "what `module load` takes; null: it needs none", .null_if_empty = true),
      SABATH_FIELD(program, .help = "the interpreter that has this package", .null_if_empty = true),
      SABATH_FIELD(features, .help = "those that are known"),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true),
  };
};

template <>
struct Described<SolveSiteRecord> {
  using Of = SolveSiteRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(site, .help = "the profile's name"),
      SABATH_FIELD(chosen, .help = "in the order of the needs; none: nothing fits"),
      SABATH_FIELD(modules, .help = "to be loaded in this order"),
      SABATH_FIELD(also, .help = "another set with the same versions"),
      SABATH_FIELD(against, .help = "why nothing fits"),
      SABATH_FIELD(nearest, .help = "modules of the nearest set that exists"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const SolveSiteRecord& record) { return record_text(record); }

extern constexpr LibraryVerb site_solve_call = described<solve_site>(
    "site solve",
    {.summary = "which modules to load: a set that goes together, newest first",
     .examples = "sabath site solve 'cuda>=11,<13' 'tensorflow>=2.10'   modules in the order of loading\n"
                 "sabath site solve openmpi+cuda                        the newest that has the feature\n"
                 "sabath site solve --for cosmoflow                     what a recipe needs\n"
                 "sabath site solve hdf5 --site juwels                  on another system, by its profile",
     .details = "The first need decides before the second. If nothing fits, the record says what is against it and "
                "names the nearest set that exists, and the exit code is 3. `=12` takes 12.2, and so does `<=12`; "
                "`==12.2` takes no other. 2.10 is newer than 2.9.",
     .group = "machine"});

}  // namespace sabath
