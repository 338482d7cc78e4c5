// Bytes of a remote archive, for a walk over its headers: read by windows, kept while they may be of use.
//
// The size of a read follows the members so far. Large members are jumped over by windows that hold just a header.
// Where all headers so far stood at the same distance, the next ones are read side by side, in the hope that this goes
// on. Small members that are wanted themselves are read in one stream, and their bytes are kept.
// One thread uses it; it starts some for its own reads. Throws what read_source throws; Error{changed} if the source
// is not the version that was begun; Error{unavailable} if it has no ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fetch/hosts/context.h"
#include "fetch/hosts/ledger.h"

namespace sabath {

struct WindowPlan {
  std::uint64_t begin = 0;
  std::size_t length = 0;
  bool operator==(const WindowPlan&) const = default;
};

// The knowledge of the walk when it asks for the bytes at `position`.
struct WalkState {
  std::uint64_t position = 0;         // the next header
  std::uint64_t read_to = 0;          // the end of the last window
  std::size_t last_length = 0;        // of that window; 0: none was read
  std::uint64_t stride = 0;           // of the last member, header and content; 0: none was met
  bool even = false;                  // the member before it had the same
  std::uint64_t wanted = UINT64_MAX;  // the most members that are still to come
  bool stream = false;                // what is between the headers is wanted, too
};
[[nodiscard]] WindowPlan next_window(const WalkState& state) noexcept;

class RemoteTarReader {
 public:
  RemoteTarReader(FetchContext& context, std::string name, const Url& url);
  // The first window: learns size and version, refuses what is packed.
  void open(std::optional<std::uint64_t> size_expected);
  // They are known: nothing is asked.
  void open(std::uint64_t size_bytes, const Validators& version);
  [[nodiscard]] std::uint64_t size_bytes() const { return size_; }
  [[nodiscard]] const Validators& version() const { return version_; }

  // Before each member: what is known of the way ahead.
  void expect(std::uint64_t position, std::uint64_t wanted, bool stream);
  // Bytes that lie inside the archive; valid until the next call.
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t length);
  // Bytes that were read on the way; nullopt: not all of them were, or they were not kept.
  [[nodiscard]] std::optional<std::vector<std::byte>> try_copy(std::uint64_t offset, std::uint64_t length) const;

 private:
  std::vector<std::byte> read_range(std::uint64_t offset, std::size_t length, unsigned attempts);
  bool read_ahead(std::uint64_t position);
  void pass_windows(bool keep);

  FetchContext& context_;
  const std::string name_;
  const Url& url_;
  SourceLine& line_;
  std::uint64_t size_ = 0;
  std::optional<std::uint64_t> size_expected_;
  Validators version_;
  bool opened_ = false;

  WalkState state_;
  unsigned ahead_ = 1;                                                            // headers to read side by side
  std::map<std::uint64_t, std::vector<std::byte>> ahead_windows_, kept_windows_;  // from the next header on; behind it
  std::uint64_t kept_ = 0;                                                        // bytes of the latter
  std::vector<std::byte> joined_;                                                 // for at()
};

}  // namespace sabath
