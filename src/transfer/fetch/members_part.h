// Some members of an uncompressed tar on a server with byte ranges. One thread; the lanes work inside.
#pragma once

#include "fetch/fragment_part.h"
#include "fetch/remote_tar/remote_tar_index.h"
#include "fetch/remote_tar/remote_tar_members.h"

namespace sabath {

class MembersPart final : public FragmentPart {
 public:
  using FragmentPart::FragmentPart;
  // Members come before all else: an archive that cannot be read by parts is refused before byte one of the rest.
  void prepare() override;

 private:
  bool enter() override { return true; }                        // they were entered as they came
  [[nodiscard]] bool proven() const override { return false; }  // the checksum is of the whole archive
  void fetch_members();
  void fetch_from(std::size_t mirror, bool fresh);
  [[nodiscard]] std::size_t add(RemoteMembers& members, const TarEntry& entry, const Url& source,
                                const Validators& version);
  [[nodiscard]] FileJob member_job(const RelativePath& path, const TarEntry& entry, const Url& source,
                                   const Validators& version);
};

}  // namespace sabath
