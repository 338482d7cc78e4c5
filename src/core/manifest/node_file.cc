#include "manifest/node_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::string_view tag = "SABATH-pack-v1";
constexpr std::uint8_t head_mark = 0, foot_mark = 1;
constexpr std::uint64_t head_size = wire::tag_size;
constexpr std::uint64_t row_size = Sha256::size + 8 + 8;
constexpr std::uint64_t foot_size = 2 * Sha256::size + 3 * 8 + wire::tag_size;
constexpr std::uint64_t window_rows = 64;  // of the table, read at once

std::uint64_t file_size(int fd, const std::filesystem::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_errno("stat", file, errno);
  return status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Hashes are spread evenly, so the first 64 bits tell nearly where in the table a hash stands.
double rank(const Sha256& hash) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | hash.bytes()[i];
  return static_cast<double>(value);
}

Sha256 row_hash(std::string_view rows, std::uint64_t index) {
  return wire::Reader(rows.substr(index * row_size, Sha256::size)).hash();
}

std::uint64_t lower_bound_row(std::string_view rows, const Sha256& hash) {
  std::uint64_t low = 0, high = rows.size() / row_size;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (row_hash(rows, middle) < hash ? low : high) = row_hash(rows, middle) < hash ? middle + 1 : middle;
  }
  return low;
}

}  // namespace

NodeFile NodeFile::open(const std::filesystem::path& file) {
  Fd fd = open_file(file, O_RDONLY);
  const std::uint64_t size = file_size(fd.get(), file);
  return NodeFile({}, std::move(fd), file, size);
}

NodeFile NodeFile::parse(std::string bytes) {
  const std::uint64_t size = bytes.size();
  return NodeFile(std::move(bytes), {}, {}, size);
}

NodeFile::NodeFile(std::string memory, Fd fd, std::filesystem::path name, std::uint64_t size_bytes)
    : memory_(std::move(memory)), fd_(std::move(fd)), name_(std::move(name)) {
  if (size_bytes < head_size + foot_size) refuse(fmt::format("{} bytes are too few", size_bytes));
  std::string scratch;
  const std::string_view head = view(0, head_size, scratch);
  if (!head.starts_with(tag)) refuse("it does not begin as one");
  if (wire::Reader(head).tag(tag) != head_mark) refuse("its head is not one");
  wire::Reader foot(view(size_bytes - foot_size, foot_size, scratch));
  root_ = foot.hash();
  annotations_hash_ = foot.hash();
  node_count_ = foot.get<std::uint64_t>();
  annotations_size_ = foot.get<std::uint64_t>();
  const auto stated_size = foot.get<std::uint64_t>();
  if (foot.tag(tag) != foot_mark) refuse("its foot is not one: the file is cut short");
  if (stated_size != size_bytes) refuse(fmt::format("{} bytes long, but {} are stated", size_bytes, stated_size));
  const std::uint64_t body = size_bytes - head_size - foot_size;
  if (annotations_size_ > body || node_count_ > (body - annotations_size_) / row_size) {
    refuse("its sections are longer than the file");
  }
  annotations_ = size_bytes - foot_size - annotations_size_;
  table_ = annotations_ - node_count_ * row_size;
}

void NodeFile::refuse(const std::string& what) const {
  wire::refuse(name_.empty() ? what : fmt::format("{}: {}", printable(name_.native(), 1000), what));
}

std::uint64_t NodeFile::nodes_begin() const noexcept { return head_size; }

std::string_view NodeFile::view(std::uint64_t offset, std::uint64_t length, std::string& scratch) const {
  if (!fd_) return std::string_view(memory_).substr(offset, length);
  scratch.resize(length);
  if (read_at(fd_.get(), std::as_writable_bytes(std::span(scratch)), offset, name_) != length) {
    refuse("the file became shorter");
  }
  return scratch;
}

NodeFile::Place NodeFile::find(const Sha256& hash) const {
  std::uint64_t low = 0, high = node_count_;
  double low_rank = 0, high_rank = 0x1p64;
  std::string scratch;
  for (int round = 0; low < high; ++round) {
    // A table with crowded hashes misleads interpolation: after a few rounds, halve.
    const double share = round < 8 && high_rank > low_rank ? (rank(hash) - low_rank) / (high_rank - low_rank) : 0.5;
    const auto step = static_cast<std::uint64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(high - low));
    const std::uint64_t begin = low + (step > window_rows / 2 ? std::min(step, high - low) - window_rows / 2 : 0);
    const std::uint64_t end = std::min(high, begin + window_rows);
    const std::string_view rows = view(table_ + begin * row_size, (end - begin) * row_size, scratch);
    const Sha256 first = row_hash(rows, 0), last = row_hash(rows, end - begin - 1);
    if (hash < first) {
      high = begin;
      high_rank = rank(first);
    } else if (hash > last) {
      low = end;
      low_rank = rank(last);
    } else {
      const std::uint64_t row = lower_bound_row(rows, hash);
      if (row_hash(rows, row) != hash) break;
      wire::Reader in(rows.substr(row * row_size + Sha256::size, 16));
      Place place{begin + row, in.get<std::uint64_t>(), 0};
      place.length = in.get<std::uint64_t>();
      if (place.length > node_size_max || place.offset < head_size || place.offset > table_ ||
          place.length > table_ - place.offset) {
        refuse(fmt::format("the table places node {} outside the nodes", hash.hex()));
      }
      return place;
    }
  }
  refuse(fmt::format("node {} is missing", hash.hex()));
}

std::string NodeFile::read(const Sha256& hash) const {
  const Place place = find(hash);
  std::string scratch;
  const std::string_view node = view(place.offset, place.length, scratch);
  if (sha256(node) != hash) refuse(fmt::format("the bytes of node {} have another hash", hash.hex()));
  return fd_ ? std::move(scratch) : std::string(node);
}

std::string NodeFile::annotations() const {
  std::string scratch;
  const std::string_view bytes = view(annotations_, annotations_size_, scratch);
  if (sha256(bytes) != annotations_hash_) refuse("its annotations have another hash than the footer says");
  return fd_ ? std::move(scratch) : std::string(bytes);
}

void NodeFile::check_table() const {
  std::string scratch;
  Sha256 before;
  for (std::uint64_t begin = 0; begin < node_count_; begin += 1024) {
    const std::uint64_t count = std::min<std::uint64_t>(1024, node_count_ - begin);
    const std::string_view rows = view(table_ + begin * row_size, count * row_size, scratch);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Sha256 hash = row_hash(rows, i);
      if (begin + i > 0 && hash <= before) refuse("its table is not sorted");
      before = hash;
    }
  }
}

NodeFileWriter::NodeFileWriter(Output output) : output_(std::move(output)) {
  std::string head;
  wire::put_tag(head, tag, head_mark);
  write(head);
}

void NodeFileWriter::write(std::string_view bytes) {
  output_(bytes);
  offset_ += bytes.size();
}

Sha256 NodeFileWriter::put(std::string_view node) {
  const Sha256 hash = sha256(node);
  put(hash, node);
  return hash;
}

void NodeFileWriter::put(const Sha256& hash, std::string_view node) {
  if (places_.try_emplace(hash, NodeFile::Place{0, offset_, node.size()}).second) write(node);
}

void NodeFileWriter::finish(const Sha256& root, std::string_view annotations) {
  std::vector<std::pair<Sha256, NodeFile::Place>> table(places_.begin(), places_.end());
  std::ranges::sort(table, {}, [](const auto& row) { return row.first; });
  for (const auto& [hash, place] : table) {
    std::string row;
    wire::put_hash(row, hash);
    wire::put(row, place.offset);
    wire::put(row, place.length);
    write(row);
  }
  write(annotations);
  std::string foot;
  wire::put_hash(foot, root);
  wire::put_hash(foot, sha256(annotations));
  wire::put<std::uint64_t>(foot, table.size());
  wire::put<std::uint64_t>(foot, annotations.size());
  wire::put<std::uint64_t>(foot, offset_ + foot_size);
  wire::put_tag(foot, tag, foot_mark);
  write(foot);
}

}  // namespace sabath
