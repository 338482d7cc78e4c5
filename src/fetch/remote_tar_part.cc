// A part of a fragment that is an uncompressed tar: the third half of FragmentFetch.
#include <fmt/format.h>

#include <algorithm>

#include "fetch/at_hand.h"
#include "fetch/fragments.h"
#include "fetch/remote_tar_members.h"
#include "fetch/retry.h"
#include "fetch/selection.h"
#include "fetch/source_key.h"

namespace sabath {

// Members come before all else: what cannot be had by parts is refused before byte one of the rest.
void FragmentFetch::prepare_part(Part& part) {
  part.settled = true;
  try {
    take_members(part);
  } catch (const Error& error) {
    if (verdict(error.failure().kind) == Verdict::fatal) throw;
    part.outcome.failure = error.failure();
  }
}

// From one mirror after the other: places in one are not places in another, unless digests prove what stands there.
void FragmentFetch::take_members(Part& part) {
  const Fragment& fragment = *part.fragment;
  if (expected_ == nullptr && !fragment.checksum.empty()) {
    context_.events.on(event::Warning{fmt::format(
        "{}: the published checksum is of the whole archive and cannot be checked by a part of it: its members are "
        "believed by their place and length (pin the asset by a manifest to check them)",
        fragment.id)});
  }
  context_.events.on(event::PhaseChanged{"resolve"});
  std::optional<Failure> failure;
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) {
    bool fresh = request_.refresh || context_.force;
    for (;;) {
      try {
        return take_members_from(part, i, fresh);
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

void FragmentFetch::take_members_from(Part& part, std::size_t mirror, bool fresh) {
  const Fragment& fragment = *part.fragment;
  const Url& source = fragment.urls[mirror];
  const Url url = rewritten(source, context_.rewrites);
  const auto place = [&](const RelativePath& path) { return fragment.path ? *fragment.path / path : path; };
  const auto wants_name = [&](const std::string& name) {
    return selects(request_.selection, fragment.path ? fragment.path->text() + "/" + name : name);
  };
  RemoteTar tar(context_, {part.job.name, url, tar_index_key(source, context_.store.source_names()),
                           fragment.size_bytes, fresh, wants_name});
  const auto chosen = tar.choose([&](const TarEntry& entry) { return selects(request_.selection, place(entry.path)); },
                                 request_.selection.sample);
  const auto& entries = tar.index().entries();
  RemoteMembers members(context_, tar, [this](const std::vector<FileJob>& jobs) { return fetch_jobs(jobs); });
  context_.events.on(event::PhaseChanged{"fetch"});
  std::vector<std::size_t> numbers;
  for (const std::size_t i : chosen) {
    numbers.push_back(0);
    if (!entries[i].is_file()) continue;
    FileJob job = member_job(part, place(entries[i].path), entries[i], tar.index().version());
    set_sources(job, {source});
    if (job.known) {  // any mirror will do
      for (const auto& other : part.job.urls) job.urls.push_back(other);
      job.names.clear();
    }
    numbers.back() = members.add(entries[i], job, [this](const FileJob& one, FileOutcome& outcome) {
      return at_hand(context_, one, request_.refresh, outcome);
    });
  }
  if (recipe_.fragments.size() == 1) context_.events.on(event::TotalKnown{members.bytes(), chosen.size()});
  members.fetch();
  part.outcome.over_tls = url.scheme() == "https";
  part.outcome.giver = mirror;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const TarEntry& entry = entries[chosen[i]];
    const RelativePath path = place(entry.path);
    if (!entry.is_file()) {
      part.entries.add_symlink(path, entry.target);
      continue;
    }
    const FileOutcome& outcome = members.member(numbers[i]).outcome;
    const FileTree& tree = outcome.tree;
    part.outcome.over_tls = part.outcome.over_tls && outcome.over_tls;
    part.entries.add_file(path, tree.digest, tree.chunks, entry.type == EntryType::executable);
    ++files_done_;
  }
}

// Everything of the job but the mirror that its place is known of. Where a manifest knows the file, any mirror will do.
FileJob FragmentFetch::member_job(const Part& part, const RelativePath& path, const TarEntry& entry,
                                  const Validators& version) {
  FileJob job;
  job.name = path.text();
  job.size_bytes = entry.size_bytes;
  job.offset = entry.offset;
  if (expected_ == nullptr) {
    job.version = version;
    return job;
  }
  expect(job, path.text());
  if (!job.known || job.known->digest.size_bytes != entry.size_bytes) {
    throw Error(FailureKind::content,
                fmt::format("{} holds {}, of {} bytes, and the manifest does not", part.job.name,
                            printable(path.text()), entry.size_bytes),
                "the source holds another version than the manifest");
  }
  return job;
}

bool FragmentFetch::in_part(const Fragment& fragment) const {
  return !request_.selection.empty() && fragment.type == FragmentType::archive;
}

bool FragmentFetch::chosen_file(const Fragment& fragment, std::uint64_t& files) const {
  if (request_.selection.empty() || fragment.type != FragmentType::file) return true;
  if (!selects(request_.selection, *fragment.path)) return false;
  return ++files <= request_.selection.sample.value_or(UINT64_MAX);
}

void FragmentFetch::choose_listed(const Fragment& fragment, std::vector<ListedFile>& listed) const {
  if (request_.selection.empty()) return;
  std::erase_if(listed, [&](const ListedFile& file) {
    return !selects(request_.selection, fragment.path ? *fragment.path / file.path : file.path);
  });
  const std::uint64_t most = request_.selection.sample.value_or(UINT64_MAX);
  if (listed.size() > most) listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(most), listed.end());
}

}  // namespace sabath
