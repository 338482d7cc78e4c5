#include "fetch/fragment_scope.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/wording.h"

#include "fetch/decide/retry.h"
#include "fetch/hosts/guarded_sink.h"
#include "fetch/hosts/source_key.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/ranks/team.h"
#include "store/space/footprint.h"

namespace sabath {
namespace {

constexpr std::size_t questions_max = 64;  // for lengths, of one list of files
// From the strongest to the weakest reason to believe.
constexpr std::array<std::string_view, 5> trust_order = {"pinned", "checksum", "local copy", "first use over TLS",
                                                         "first use"};

// The length of a file, from the first source that answers.
std::optional<std::uint64_t> asked_size(FetchContext& context, const FileJob& job) {
  for (const Url& url : job.urls) {
    std::optional<std::uint64_t> size;
    SourceLine& line = context.ledger.line(source_label(job, url));
    GuardedSink sink(
        context, line, url, std::nullopt, [&](const ContentInfo& info) { size = info.size_bytes; }, [](auto) {});
    try {
      read_source(context, {url, 0, 0, {}}, line, sink);
      return size;
    } catch (const Error& error) {  // the fetch itself tells of it
      if (verdict(error.failure().kind) == Verdict::fatal) throw;
    }
  }
  return std::nullopt;
}

// Where room is tight the sources are asked for the lengths that no recipe or list states.
void look_ahead(FetchContext& context, const std::vector<FileJob>& jobs, const std::string& asset) {
  std::uint64_t bytes = 0;
  std::size_t questions = 0;
  for (const auto& job : jobs) {
    if (job.size_bytes || job.inspect || job.unless) continue;
    if (questions == questions_max || (questions == 0 && !context.space.tight())) break;
    ++questions;
    bytes += asked_size(context, job).value_or(0) * (job.follower != nullptr ? 2 : 1);
  }
  context.space.reserve(bytes, 0, asset);
  context.space.give_back(bytes, 0);
}

// Room for all that is known to be missing, before byte one: also for what comes out of an archive, which stands
// beside it, and is as much at least. (Who unpacks, or learns a length, reserves for itself: that part is given back.)
void reserve(FetchContext& context, const std::vector<FileJob>& jobs, const std::string& asset) {
  std::uint64_t bytes = 0, unpacked = 0;
  Footprint footprint(&context.store, jobs.size());
  for (const auto& job : jobs) {
    const std::uint64_t size = job.size_bytes.value_or(0);
    if (job.follower != nullptr) unpacked += size;
    footprint.add_file(size);
    if (size <= chunk_size_bytes) {
      bytes += size;
      continue;
    }
    const std::uint64_t held = job.known ? context.store.held(job.known->digest) : context.store.held(source_key(job));
    bytes += size - std::min(size, held);
  }
  context.space.reserve(bytes + unpacked, footprint.inodes(), asset);
  context.space.give_back(unpacked, 0);
}

}  // namespace

std::string weaker_trust(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& t) {
    return std::find(trust_order.begin(), trust_order.end(), t) - trust_order.begin();
  };
  if (a.empty()) return b;
  return rank(a) >= rank(b) ? a : b;
}

void FragmentScope::refuse_offline(const std::string& first, std::size_t files) const {
  throw Error(FailureKind::offline,
              fmt::format("{} of {}{} not present, and the network may not be used", first, recipe.name,
                          files > 1 ? fmt::format(" and {} more files are", files - 1) : " is"),
              fmt::format("give a local copy of it, too, with {} or {}, or leave out {}", option_text("path"),
                          option_text("link"), option_text("offline")));
}

std::vector<FileOutcome> FragmentScope::fetch(const std::vector<FileJob>& jobs) {
  if (request.offline && !jobs.empty()) refuse_offline(jobs.front().name, jobs.size());
  reserve(context, jobs, recipe.name);
  look_ahead(context, jobs, recipe.name);
  return fetch_by_all_ranks(context, jobs);
}

}  // namespace sabath
