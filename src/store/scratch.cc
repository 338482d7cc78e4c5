#include "store/scratch.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/digest.h"
#include "sabath/error.h"
#include "store/layout.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

// Each piece: checksum u64 over the rest, chunk index u64, offset in the chunk u32, length u32, bytes.
constexpr std::size_t piece_head_size = 24;
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

}  // namespace

std::vector<std::byte> read_scratch(const std::filesystem::path& file, std::uint64_t index, std::uint64_t length_max) {
  std::vector<std::byte> chunk;
  const auto fd = try_open_file(file, O_RDONLY);
  if (!fd) return chunk;
  std::string head(piece_head_size, '\0');
  for (std::uint64_t at = 0;;) {
    if (read_at(fd->get(), std::as_writable_bytes(std::span(head)), at, file) != piece_head_size) return chunk;
    const auto [sum, of_chunk, offset, length] = parse_head(head);
    const std::size_t begin = chunk.size();
    if (of_chunk != index || offset != begin || length == 0 || length > length_max - begin) return chunk;
    chunk.resize(begin + length);
    const auto bytes = std::span(chunk).subspan(begin);
    const std::size_t n = read_at(fd->get(), bytes, at + piece_head_size, file);
    if (n != length || guard(std::string_view(head).substr(8), bytes) != sum) {
      chunk.resize(begin);
      return chunk;
    }
    at += piece_head_size + length;
  }
}

std::optional<ScratchStart> scratch_start(const std::filesystem::path& file) {
  const auto fd = try_open_file(file, O_RDONLY);
  struct stat s {};
  if (!fd || ::fstat(fd->get(), &s) != 0) return std::nullopt;
  std::optional<ScratchStart> start;
  std::string bytes(piece_head_size, '\0');
  for (std::uint64_t at = 0; read_at(fd->get(), std::as_writable_bytes(std::span(bytes)), at, file) == bytes.size();) {
    const PieceHead head = parse_head(bytes);
    if (!start) start = {head.index, 0};
    at += piece_head_size + head.length;
    const bool follows = head.index == start->index && head.offset == start->length && head.length > 0;
    if (!follows || at > static_cast<std::uint64_t>(s.st_size)) break;
    start->length += head.length;
  }
  return start && start->length > 0 ? start : std::nullopt;
}

ScratchLanes::ScratchLanes(std::filesystem::path directory, std::string writer)
    : directory_(std::move(directory)), writer_(std::move(writer)) {}

void ScratchLanes::adopt(std::uint64_t index, std::vector<std::byte> start) {
  const std::lock_guard lock(mutex_);
  starts_[index] = std::move(start);
}

void ScratchLanes::write(unsigned lane_number, std::uint64_t index, std::uint64_t offset,
                         std::span<const std::byte> bytes) {
  Lane& lane = lane_at(lane_number);
  if (lane.index != index || offset == 0) begin(lane, index, offset);
  if (lane.skipping || offset != lane.length || bytes.empty()) return;
  try {
    append(lane, index, offset, bytes);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::space) throw;
    lane.skipping = true;
    if (::ftruncate(lane.fd.get(), 0) == 0) lane.file_size = 0;
  }
}

void ScratchLanes::chunk_done(unsigned lane_number, std::uint64_t index) {
  Lane& lane = lane_at(lane_number);
  if (lane.index != index) return;  // it came whole from memory
  {
    const std::lock_guard lock(mutex_);
    starts_.erase(index);
  }
  lane.usual = std::max<Clock::duration>(Clock::now() - lane.begun, lane.usual / 2);
  lane.index = UINT64_MAX;
  // Cut at once: most of it has not been written back yet, and now never will be.
  if (lane.file_size > 0 && ::ftruncate(lane.fd.get(), 0) == 0) lane.file_size = 0;
}

void ScratchLanes::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, lane] : lanes_) {
    if (lane.fd) ::unlink((directory_ / scratch_name(writer_, number)).c_str());
  }
  lanes_.clear();
  starts_.clear();
}

bool ScratchLanes::empty() {
  const std::lock_guard lock(mutex_);
  return starts_.empty() && std::ranges::all_of(lanes_, [](const auto& lane) { return lane.second.file_size == 0; });
}

ScratchLanes::Lane& ScratchLanes::lane_at(unsigned lane) {
  const std::lock_guard lock(mutex_);
  Lane& found = lanes_[lane];
  found.number = lane;
  return found;
}

void ScratchLanes::begin(Lane& lane, std::uint64_t index, std::uint64_t offset) {
  lane.index = index;
  lane.length = 0;
  lane.begun = Clock::now();
  std::vector<std::byte> start;
  {
    const std::lock_guard lock(mutex_);
    if (auto adopted = starts_.extract(index)) start = std::move(adopted.mapped());
  }
  lane.skipping = lane.usual < worth_keeping || room_is_short();
  if (lane.skipping) return;
  if (!lane.fd) {
    auto fd = try_open_file(directory_ / scratch_name(writer_, lane.number), O_WRONLY | O_CREAT | O_TRUNC);
    lane.skipping = !fd;  // another has published it all, and removed the directory
    if (!fd) return;
    lane.fd = std::move(*fd);
  } else if (lane.file_size > 0 && ::ftruncate(lane.fd.get(), 0) != 0) {
    throw_errno("truncate scratch in", directory_, errno);
  }
  lane.file_size = 0;
  if (offset > 0 && start.size() == offset) append(lane, index, 0, start);
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
  lane.length = offset + bytes.size();
}

}  // namespace sabath
