#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/site.h"
#include "software/detect.h"
#include "software/profile.h"
#include "software/profile_fields.h"
#include "verbs/site/site_profiles.h"
#include "verbs/verb.h"

namespace sabath {

std::string profile_text(const SiteProfile& profile) { return text_of_profile(profile); }

DetectSiteRecord detect_site(Session& session, const DetectSiteRequest& request, EventSink&, std::stop_token stop) {
  if (!request.output.empty() && try_lstat(request.output)) {
    throw Error(FailureKind::usage, fmt::format("{} is there already", printable(request.output.native(), 1000)),
                "write to another file, and compare the two");
  }
  DetectSiteRecord record;
  record.profile = profile_of_here(session, request.environment, request.patience, request.name, stop);
  if (!request.output.empty()) {
    write_text_atomically(request.output, text_of_profile(record.profile));
    record.file = request.output;
  }
  return record;
}

ShowSiteRecord show_site(Session& session, const ShowSiteRequest& request, EventSink&, std::stop_token) {
  ShowSiteRecord record;
  record.file = profile_file(session, request.environment, request.name);
  if (record.file.empty()) {
    throw Error(FailureKind::not_found, "no profile is of this host",
                "detect what is on it, and write that to a file in your directory of profiles");
  }
  record.profile = read_profile(session, record.file);
  return record;
}

DiffSitesRecord diff_sites(Session& session, const DiffSitesRequest& request, EventSink&, std::stop_token) {
  const auto read = [&](const std::string& name) {
    return read_profile(session, profile_file(session, request.environment, name));
  };
  return {differences_of(read(request.before), read(request.after))};
}

template <>
struct Described<DetectSiteRequest> {
  using Of = DetectSiteRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(output, .help = "write the profile to this file (default: print it)", .letter = 'o'),
      SABATH_FIELD(name, .help = "of the profile (default: the host's)"),
      SABATH_FIELD(patience, .help = "with each program that is asked (10; a module system 2)", .maximum = 600,
                   .value = "SECONDS"),
      SABATH_FIELD(environment, .help = "variables of the caller: PATH, MODULEPATH, ...", .hidden = true),
  };
};

template <>
struct Described<DetectSiteRecord> {
  using Of = DetectSiteRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(profile, .help = "what was found"),
      SABATH_FIELD(file, .help = "where it was written; null: nowhere", .null_if_empty = true),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<ShowSiteRequest> {
  using Of = ShowSiteRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of a profile, or its file (default: that of this host)", .argument = "PROFILE"),
      SABATH_FIELD(environment, .help = "variables of the caller", .hidden = true),
  };
};

template <>
struct Described<ShowSiteRecord> {
  using Of = ShowSiteRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(profile, .help = "what it says"),
      SABATH_FIELD(file, .help = "where it is"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<DiffSitesRequest> {
  using Of = DiffSitesRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(before, .help = "a profile, or its file", .required = true, .argument = "BEFORE"),
      SABATH_FIELD(after, .help = "another one", .required = true, .argument = "AFTER"),
      SABATH_FIELD(environment, .help = "variables of the caller", .hidden = true),
  };
};

template <>
struct Described<SiteDifference> {
  using Of = SiteDifference;
  static constexpr Field table[] = {
      SABATH_FIELD(what, .help = "what differs"),
      SABATH_FIELD(before, .help = "on the first; null: it has none", .null_if_empty = true),
      SABATH_FIELD(after, .help = "on the second; null: it has none", .null_if_empty = true),
      SABATH_FIELD(meaning, .help = "what follows from it for a run", .null_if_empty = true),
  };
};

template <>
struct Described<DiffSitesRecord> {
  using Of = DiffSitesRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(differences, .help = "facts first, then software, packages, disks and partitions"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const DetectSiteRecord& record) { return record_text(record); }
std::string to_json(const ShowSiteRecord& record) { return record_text(record); }
std::string to_json(const DiffSitesRecord& record) { return record_text(record); }

extern constexpr LibraryVerb site_detect_call = described<detect_site>("site detect");
extern constexpr LibraryVerb site_show_call = described<show_site>("site show");
extern constexpr LibraryVerb site_diff_call = described<diff_sites>(
    "site diff", {.summary = "why two systems differ: software, MPI, accelerators, disks, partitions",
                  .examples = "sabath site diff juwels deep      two profiles by their names\n"
                              "sabath site diff old.json new.json   what an update of this machine changed",
                  .details = "A profile is what `sabath site detect` prints. Each difference comes with what follows "
                             "from it for a run.",
                  .group = "machine"});

}  // namespace sabath
