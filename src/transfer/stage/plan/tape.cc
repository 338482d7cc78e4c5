#include "stage/plan/tape.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "sabath/error.h"

namespace sabath {

Tape::Tape(std::vector<StagedFile> files, std::span<const std::uint32_t> groups) : files_(std::move(files)) {
  if (files_.size() > UINT32_MAX) throw Error(FailureKind::invalid, "an asset of more than 4,294,967,295 files");
  for (std::uint32_t i = 0; i < files_.size(); ++i)
    add_file(i, groups.empty() || (i > 0 && groups[i] == groups[i - 1]));
}

void Tape::add_file(std::uint32_t index, bool joins) {
  const std::uint64_t size = files_[index].digest.size_bytes;
  bytes_ += size;
  if (size > chunk_size_bytes) {
    for (std::uint32_t chunk = 0; chunk < chunk_count(size); ++chunk) {
      pieces_.push_back({index, 1, chunk, static_cast<std::uint32_t>(chunk_length(size, chunk))});
    }
    return;
  }
  if (joins && !pieces_.empty() && !is_chunk(pieces_.back()) && pieces_.back().files < files_max &&
      pieces_.back().bytes + size <= chunk_size_bytes) {
    ++pieces_.back().files;
    pieces_.back().bytes += static_cast<std::uint32_t>(size);
  } else {
    pieces_.push_back({index, 1, 0, static_cast<std::uint32_t>(size)});
  }
}

std::vector<PiecePart> Tape::parts(const Piece& piece, std::uint32_t part_bytes) const {
  std::vector<PiecePart> all;
  if (is_chunk(piece)) {
    for (std::uint32_t at = 0; at < piece.bytes; at += part_bytes) {
      all.push_back({piece.first, 1, at, std::min(part_bytes, piece.bytes - at)});
    }
    return all;
  }
  all.push_back({piece.first, 0, 0, 0});
  for (std::uint32_t f = piece.first; f < piece.first + piece.files; ++f) {
    const PiecePart& last = all.back();
    if (last.bytes >= run_part_bytes) all.push_back({f, 0, last.offset + last.bytes, 0});
    ++all.back().files;
    all.back().bytes += static_cast<std::uint32_t>(files_[f].digest.size_bytes);
  }
  return all;
}

std::vector<StagedFile> paths_of(const Manifest& manifest) {
  std::vector<StagedFile> paths;
  manifest.for_each([&](const Entry& entry) {
    if (entry.is_file()) paths.push_back({entry.digest, entry.path.text()});
  });
  return paths;
}

std::vector<StagedFile> files_of(const Manifest& manifest) {
  std::vector<StagedFile> files;
  std::unordered_set<Digest> seen;
  manifest.for_each([&](const Entry& entry) {
    if (entry.is_file() && seen.insert(entry.digest).second) files.push_back({entry.digest, entry.path.text()});
  });
  return files;
}

std::vector<StagedFile> in_order(std::vector<StagedFile> files, std::span<const std::uint32_t> numbers) {
  std::vector<StagedFile> sorted;
  sorted.reserve(files.size());
  std::vector<bool> taken(files.size());
  for (const std::uint32_t number : numbers) {
    if (number >= files.size() || taken[number]) break;
    taken[number] = true;
    sorted.push_back(std::move(files[number]));
  }
  if (sorted.size() != taken.size()) throw Error(FailureKind::invalid, "an order that is not of these files");
  return sorted;
}

Tape one_by_one(std::vector<StagedFile> files) {
  std::vector<std::uint32_t> groups(files.size());
  std::iota(groups.begin(), groups.end(), 0U);
  return Tape(std::move(files), groups);
}

}  // namespace sabath
