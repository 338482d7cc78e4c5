// A fragment that is an archive: unpacked while it arrives. One thread, and one of its own that unpacks.
#pragma once

#include <exception>
#include <thread>

#include "fetch/archives/archive.h"
#include "fetch/fragment_part.h"
#include "fetch/transfer/spool.h"

namespace sabath {

class ArchivePart final : public FragmentPart {
 public:
  using FragmentPart::FragmentPart;
  ~ArchivePart() override;
  void prepare() override;
  void take(FileOutcome outcome) override;

 private:
  bool enter() override;
  void publish() override;
  void discard() override;
  FileOutcome read_local(const LocalFile& file, std::uint64_t size_bytes) override;
  void unpack();
  void await_unpacker();

  SpoolFollower follower_;
  Unpacked unpacked_;
  std::exception_ptr unpack_failure_;
  std::jthread unpacker_;  // last: joined before what it uses goes
};

}  // namespace sabath
