#include "store/partials/scratch.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/digest.h"
#include "sabath/error.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

// Each piece: checksum u64 over the rest, chunk index u64, offset in the chunk u32, length u32, bytes.
constexpr std::size_t piece_head_size = 24;
constexpr std::uint64_t file_size_max = 4 * chunk_size_bytes;   // no chunk begun that may pass it; readers stop here
constexpr std::uint64_t piece_tag = 0x31'63'72'63'73'62'61'73;  // "sabscrc1"

std::uint64_t guard(std::string_view head, std::span<const std::byte> bytes) {
  return xxh3_64(head) ^ (xxh3_64(bytes) * 0x9E3779B97F4A7C15ULL) ^ piece_tag;
}

std::string piece_head(std::uint64_t index, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::string head;
  wire::put(head, index);
  wire::put(head, static_cast<std::uint32_t>(offset));
  wire::put(head, static_cast<std::uint32_t>(bytes.size()));
  std::string out;
  wire::put(out, guard(head, bytes));
  return out + head;
}

struct PieceHead {
  std::uint64_t sum = 0, index = 0;
  std::uint32_t offset = 0, length = 0;
};

PieceHead parse_head(std::string_view bytes) {
  wire::Reader reader(bytes);
  PieceHead head;
  head.sum = reader.get<std::uint64_t>();
  head.index = reader.get<std::uint64_t>();
  head.offset = reader.get<std::uint32_t>();
  head.length = reader.get<std::uint32_t>();
  return head;
}

// Calls `visit` with each piece of the file and where its bytes stand, until it returns false or the file ends.
template <class Visit>
void for_each_piece(const Fd& fd, const std::filesystem::path& file, Visit&& visit) {
  std::string bytes(piece_head_size, '\0');
  for (std::uint64_t at = 0; at < file_size_max;) {
    if (read_at(fd.get(), std::as_writable_bytes(std::span(bytes)), at, file) != piece_head_size) return;
    const PieceHead head = parse_head(bytes);
    const bool possible = head.length > 0 && std::uint64_t{head.offset} + head.length <= chunk_size_bytes;
    if (!possible || !visit(head, std::string_view(bytes).substr(8), at + piece_head_size)) return;
    at += piece_head_size + head.length;
  }
}

}  // namespace

std::vector<ScratchBytes> read_scratch(const std::filesystem::path& file, std::uint64_t index,
                                       std::uint64_t length_max) {
  std::vector<ScratchBytes> parts;
  const auto fd = try_open_file(file, O_RDONLY);
  if (!fd) return parts;
  for_each_piece(*fd, file, [&](const PieceHead& head, std::string_view guarded, std::uint64_t at) {
    if (head.index != index) return true;
    const std::uint64_t begin = head.offset, end = begin + head.length;
    std::vector<std::byte> bytes(head.length);
    const bool whole = read_at(fd->get(), bytes, at, file) == bytes.size();
    if (!whole || end > length_max || guard(guarded, bytes) != head.sum) return false;
    if (!parts.empty() && parts.back().offset + parts.back().bytes.size() == begin) {
      parts.back().bytes.insert(parts.back().bytes.end(), bytes.begin(), bytes.end());
    } else {
      parts.push_back({begin, std::move(bytes)});
    }
    // The chunk was wrong, and has been begun again.
    const ScratchBytes& last = parts.back();
    std::erase_if(parts, [&](const ScratchBytes& part) {
      return &part != &last && part.offset < end && begin < part.offset + part.bytes.size();
    });
    return true;
  });
  return parts;
}

std::vector<std::byte> start_of(std::vector<ScratchBytes> parts) {
  std::ranges::sort(parts, {}, &ScratchBytes::offset);
  std::vector<std::byte> start;
  for (const auto& [offset, bytes] : parts) {
    if (offset > start.size()) break;
    const std::size_t known = std::min<std::size_t>(start.size() - offset, bytes.size());
    start.insert(start.end(), bytes.begin() + static_cast<std::ptrdiff_t>(known), bytes.end());
  }
  return start;
}

std::vector<ScratchPart> scratch_parts(const std::filesystem::path& file) {
  std::vector<ScratchPart> parts;
  const auto fd = try_open_file(file, O_RDONLY);
  struct stat s {};
  if (!fd || ::fstat(fd->get(), &s) != 0) return parts;
  for_each_piece(*fd, file, [&](const PieceHead& head, std::string_view, std::uint64_t at) {
    if (at + head.length > static_cast<std::uint64_t>(s.st_size)) return false;
    const bool goes_on =
        !parts.empty() && parts.back().index == head.index && parts.back().offset + parts.back().length == head.offset;
    if (!goes_on) parts.push_back({head.index, head.offset, 0});
    parts.back().length += head.length;
    return true;
  });
  return parts;
}

ScratchLanes::ScratchLanes(std::filesystem::path directory, std::string writer, std::chrono::milliseconds since)
    : directory_(std::move(directory)), writer_(std::move(writer)), since_(since) {}

void ScratchLanes::write(unsigned lane_number, std::uint64_t index, std::uint64_t offset,
                         std::span<const std::byte> part, std::size_t fresh) {
  if (fresh == 0) return;
  Lane& lane = lane_at(lane_number);
  const std::uint64_t known = offset + part.size() - fresh;
  if (lane.index != index || lane.offset != offset || lane.end != known) {
    lane.index = index;
    lane.offset = offset;
    lane.part = Lane::Part::young;
    lane.held = false;
    lane.begun = Clock::now();
  }
  lane.end = known + fresh;
  if (lane.part == Lane::Part::skipped) return;
  const bool young = lane.part == Lane::Part::young;
  if (young && Clock::now() - lane.begun < since_) return;
  if (young) lane.part = make_room(lane) ? Lane::Part::kept : Lane::Part::skipped;
  if (lane.part == Lane::Part::skipped) return;
  const auto unwritten = young ? part : part.last(fresh);
  try {
    append(lane, index, lane.end - unwritten.size(), unwritten);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::space) throw;
    lane.part = Lane::Part::skipped;
    cut(lane);
  }
}

void ScratchLanes::chunk_done(unsigned lane_number, std::uint64_t index) {
  Lane& lane = lane_at(lane_number);
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, chunks] : held_) chunks.erase(index);
  }
  if (lane.index == index) lane.index = UINT64_MAX;
  // Cut at once: most of the file has not been written back yet, and now never will be.
  if (!needed(lane)) cut(lane);
}

void ScratchLanes::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, lane] : lanes_) {
    if (lane.fd) ::unlink((directory_ / scratch_name(writer_, number)).c_str());
  }
  lanes_.clear();
  held_.clear();
}

bool ScratchLanes::empty() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(lanes_, [](const auto& lane) { return lane.second.file_size == 0; });
}

ScratchLanes::Lane& ScratchLanes::lane_at(unsigned lane) {
  const std::lock_guard lock(mutex_);
  Lane& place = lanes_[lane];
  place.number = lane;
  return place;
}

bool ScratchLanes::make_room(Lane& lane) {
  if (room_is_short()) return false;
  if (!lane.fd) {
    auto fd = try_open_file(directory_ / scratch_name(writer_, lane.number), O_WRONLY | O_CREAT | O_TRUNC);
    if (!fd) return false;  // another has published it all, and removed the directory
    lane.fd = std::move(*fd);
  } else if (!needed(lane) || lane.file_size + chunk_size_bytes > file_size_max) {
    cut(lane);
  }
  return true;
}

void ScratchLanes::cut(Lane& lane) {
  if (lane.file_size > 0 && ::ftruncate(lane.fd.get(), 0) != 0) throw_errno("truncate scratch in", directory_, errno);
  lane.file_size = 0;
  lane.held = false;
  const std::lock_guard lock(mutex_);
  held_[lane.number].clear();
}

bool ScratchLanes::needed(const Lane& lane) {
  const std::lock_guard lock(mutex_);
  return !held_[lane.number].empty();
}

bool ScratchLanes::room_is_short() const {
  struct statvfs s {};
  return ::statvfs(directory_.c_str(), &s) == 0 && std::uint64_t{s.f_bavail} * s.f_frsize < room_min;
}

void ScratchLanes::append(Lane& lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::string head = piece_head(index, offset, bytes);
  // The head last: until it is there, the piece ends the file for every reader.
  write_all_at(lane.fd.get(), bytes, lane.file_size + head.size(), directory_);
  write_all_at(lane.fd.get(), std::as_bytes(std::span(head)), lane.file_size, directory_);
  lane.file_size += head.size() + bytes.size();
  if (std::exchange(lane.held, true)) return;
  const std::lock_guard lock(mutex_);
  held_[lane.number].insert(index);
}

}  // namespace sabath
