#include "fetch/members_part.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "fetch/decide/retry.h"
#include "fetch/decide/selection.h"
#include "fetch/hosts/source_key.h"
#include "fetch/remote_tar/remote_tar.h"
#include "fetch/transfer/at_hand.h"

namespace sabath {

void MembersPart::prepare() {
  settle_now([&] { fetch_members(); });
}

// From one mirror after the other: places in one are not places in another, unless digests prove what stands there.
void MembersPart::fetch_members() {
  if (scope_.choices.expected() == nullptr && !fragment().checksum.empty()) {
    scope_.context.events.on(event::Warning{fmt::format(
        "{}: the published checksum is of the whole archive and cannot be checked by a part of it: its members are "
        "believed by their place and length (pin the asset by a manifest to check them)",
        fragment().id)});
  }
  scope_.context.events.on(event::PhaseChanged{"resolve"});
  std::optional<Failure> failure;
  for (std::size_t i = 0; i < fragment().urls.size(); ++i) {
    bool fresh = scope_.request.refresh || scope_.context.force;
    for (;;) {
      try {
        return fetch_from(i, fresh);
      } catch (const Error& error) {
        const FailureKind kind = error.failure().kind;
        if (verdict(kind) == Verdict::fatal) throw;
        if (kind == FailureKind::changed && !std::exchange(fresh, true)) continue;
        if (!failure || tells_more(error.failure(), *failure)) failure = error.failure();
        break;
      }
    }
  }
  throw Error(*failure);
}

void MembersPart::fetch_from(std::size_t mirror, bool fresh) {
  FetchContext& context = scope_.context;
  const Selection& selection = scope_.request.selection;
  const Url& source = fragment().urls[mirror];
  const Url url = rewritten(source, context.rewrites);
  const auto wants_name = [&](const std::string& name) {
    return selects(selection, fragment().path ? fragment().path->text() + "/" + name : name);
  };
  RemoteTar tar(context, {own_job().name, url, tar_index_key(source, store().source_names()), fragment().size_bytes,
                          fresh, wants_name});
  const auto chosen =
      tar.choose([&](const TarEntry& entry) { return selects(selection, place(entry.path)); }, selection.sample);
  const auto& entries = tar.index().entries();
  RemoteMembers members(context, tar, [this](const std::vector<FileJob>& jobs) { return scope_.fetch(jobs); });
  context.events.on(event::PhaseChanged{"fetch"});
  std::vector<std::size_t> numbers;
  for (const std::size_t i : chosen)
    numbers.push_back(entries[i].is_file() ? add(members, entries[i], source, tar.index().version()) : 0);
  context.events.on(event::TotalKnown{members.bytes(), chosen.size()});
  members.fetch();
  outcome_.over_tls = url.scheme() == "https";
  outcome_.giver = mirror;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const TarEntry& entry = entries[chosen[i]];
    const RelativePath path = place(entry.path);
    if (!entry.is_file()) {
      entries_.add_symlink(path, entry.target);
      continue;
    }
    const FileOutcome& outcome = members.member(numbers[i]).outcome;
    outcome_.over_tls = outcome_.over_tls && outcome.over_tls;
    entries_.add_file(path, outcome.tree.digest, outcome.tree.chunks, entry.type == EntryType::executable);
    ++scope_.files_done;
  }
}

std::size_t MembersPart::add(RemoteMembers& members, const TarEntry& entry, const Url& source,
                             const Validators& version) {
  return members.add(entry, member_job(place(entry.path), entry, source, version),
                     [this](const FileJob& job, FileOutcome& outcome) {
                       return at_hand(scope_.context, job, scope_.request.refresh, outcome);
                     });
}

// From the mirror that its place is known of; where a manifest knows the file, any mirror will do.
FileJob MembersPart::member_job(const RelativePath& path, const TarEntry& entry, const Url& source,
                                const Validators& version) {
  FileJob job = scope_.choices.job_of(path.text(), {source});
  job.size_bytes = entry.size_bytes;
  job.offset = entry.offset;
  if (scope_.choices.expected() == nullptr) {
    job.version = version;
    return job;
  }
  scope_.choices.expect(job, path.text());
  if (!job.known || job.known->digest.size_bytes != entry.size_bytes) {
    throw Error(FailureKind::content,
                fmt::format("{} holds {}, of {} bytes, and the manifest does not", own_job().name,
                            printable(path.text()), entry.size_bytes),
                "the source holds another version than the manifest");
  }
  std::ranges::copy(own_job().urls, std::back_inserter(job.urls));
  job.names.clear();
  return job;
}

}  // namespace sabath
