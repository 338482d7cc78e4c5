// The content of some members of a remote tar, fetched as ranges of it into objects of the store.
//
// Members that lie side by side come with one request, of up to a chunk; larger ones as files that begin inside their
// source. Bytes that the walk over the headers has brought, or that are here already, are not asked for. A member whose
// digest was not known beforehand is believed by its place and length in one version of the archive.
// One thread; the lanes work inside.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/remote_tar/remote_tar.h"
#include "fetch/transfer/publisher.h"

namespace sabath {

struct Member {
  FileJob job;  // as if it were fetched alone
  FileOutcome outcome;
  bool there = false;  // its object is
};

// Groups the members that come with one request: places in `members`, each group in the order of the archive. A group
// of one may have any size.
[[nodiscard]] std::vector<std::vector<std::size_t>> group_members(const std::vector<Member>& members);

class RemoteMembers {
 public:
  using Fetch = std::function<std::vector<FileOutcome>(const std::vector<FileJob>&)>;
  RemoteMembers(FetchContext& context, const RemoteTar& tar, Fetch fetch)
      : context_(context), tar_(tar), fetch_(std::move(fetch)), publisher_(context.store, 1) {}

  // The number of the member with this job's content; two names of one content are one member.
  std::size_t add(const TarEntry& file, FileJob job, const std::function<bool(const FileJob&, FileOutcome&)>& have);
  // Fetches what is missing. Throws the failure of the first member that cannot be fetched.
  void fetch();
  [[nodiscard]] const Member& member(std::size_t number) const { return members_[number]; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void take(Member& member, std::span<const std::byte> bytes, const std::string& source);
  [[nodiscard]] FileJob job_of(const std::vector<std::size_t>& group);
  void settle(const std::vector<std::size_t>& group, const FileOutcome& outcome);

  FetchContext& context_;
  const RemoteTar& tar_;
  Fetch fetch_;
  Publisher publisher_;
  std::vector<Member> members_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_extent_;  // offset, size -> place
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath
