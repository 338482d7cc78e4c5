#include "fetch/remote_tar/remote_tar_members.h"

#include <algorithm>

#include <fmt/format.h>

#include "fetch/transfer/small_files.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t gap_max = 64 * 1024;  // bytes between two members that are rather read than skipped
constexpr std::size_t round_jobs_max = 64;    // the most chunks of small members that a kill may lose

std::uint64_t end_of(const FileJob& job) { return job.offset + job.size_bytes.value_or(0); }

// Nothing is said by a source that names no version.
bool is_other_version(const Validators& a, const Validators& b) { return !a.empty() && !b.empty() && a != b; }

}  // namespace

std::vector<std::vector<std::size_t>> group_members(const std::vector<Member>& members) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].there) missing.push_back(i);
  }
  std::sort(missing.begin(), missing.end(),
            [&](std::size_t a, std::size_t b) { return members[a].job.offset < members[b].job.offset; });
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : missing) {
    const FileJob& job = members[i].job;
    if (!groups.empty()) {
      const FileJob &first = members[groups.back().front()].job, &last = members[groups.back().back()].job;
      const bool beside = job.offset >= end_of(last) && job.offset - end_of(last) <= gap_max;
      if (beside && end_of(job) - first.offset <= chunk_size_bytes) {
        groups.back().push_back(i);
        continue;
      }
    }
    groups.push_back({i});
  }
  return groups;
}

std::size_t RemoteMembers::add(const TarEntry& file, FileJob job,
                               const std::function<bool(const FileJob&, FileOutcome&)>& have) {
  const auto [found, fresh] = by_extent_.try_emplace({file.offset, file.size_bytes}, members_.size());
  if (!fresh) return found->second;
  Member& member = members_.emplace_back();
  member.job = std::move(job);
  bytes_ += file.size_bytes;
  publisher_.expect(members_.size());
  if (have(member.job, member.outcome)) {
    member.there = true;
  } else if (const auto bytes = tar_.try_content(file)) {  // also of a file without content
    const Url& url = member.job.urls.front();
    take(member, *bytes, url.display());
    member.there = true;
    member.outcome.over_tls = url.scheme() == "https";
    note_arrival(context_, member.job, member.outcome);
  }
  return found->second;
}

void RemoteMembers::fetch() {
  const auto groups = group_members(members_);
  for (std::size_t begin = 0; begin < groups.size(); begin += round_jobs_max) {
    const std::size_t end = std::min(groups.size(), begin + round_jobs_max);
    std::vector<FileJob> jobs;
    for (std::size_t i = begin; i < end; ++i) jobs.push_back(job_of(groups[i]));
    const auto outcomes = fetch_(jobs);
    publisher_.flush();
    for (std::size_t i = begin; i < end; ++i) {
      if (!outcomes[i - begin].failure) settle(groups[i], outcomes[i - begin]);
    }
    for (const auto& outcome : outcomes) {
      if (outcome.failure) throw Error(*outcome.failure);
    }
  }
  publisher_.flush();
}

// One object of bytes that are all here.
void RemoteMembers::take(Member& member, std::span<const std::byte> bytes, const std::string& source) {
  member.outcome.tree = hash_content(bytes);
  compare_digest(member.job, member.outcome.tree.digest, source);
  publisher_.add(member.outcome.tree, bytes);
  context_.events.on(event::FileDone{member.job.name, bytes.size()});
}

FileJob RemoteMembers::job_of(const std::vector<std::size_t>& group) {
  FileJob job = members_[group.front()].job;
  if (group.size() == 1) return job;
  job.name = fmt::format("{} and {} more", job.name, group.size() - 1);
  job.size_bytes = end_of(members_[group.back()].job) - job.offset;
  job.known.reset();
  job.inspect = [this, group, begin = job.offset](const std::string& text, const std::string& source) {
    const auto bytes = std::as_bytes(std::span(text));
    for (const std::size_t i : group) {
      const FileJob& one = members_[i].job;
      take(members_[i], bytes.subspan(one.offset - begin, *one.size_bytes), source);
    }
    return false;
  };
  return job;
}

void RemoteMembers::settle(const std::vector<std::size_t>& group, const FileOutcome& outcome) {
  if (is_other_version(members_[group.front()].job.version, outcome.validators))
    throw Error(FailureKind::changed, fmt::format("{} changed at its source", members_[group.front()].job.name));
  for (const std::size_t i : group) {
    Member& member = members_[i];
    member.there = true;
    if (group.size() == 1) {
      member.outcome = outcome;
    } else if (!member.job.known) {
      member.outcome.over_tls = outcome.over_tls;
      note_arrival(context_, member.job, member.outcome);  // another sample, or this one again, need not ask for it
    }
  }
}

}  // namespace sabath
