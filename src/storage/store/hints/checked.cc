#include "store/hints/checked.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"
#include "store/leases/lease_file.h"

namespace sabath {
namespace {

constexpr std::uint64_t check_tag = 0x31'6b'63'68'63'62'61'73;       // "sabchck1"
constexpr std::size_t checks_pending_max = 256 * check_record_size;  // a kill may lose these
constexpr std::size_t check_logs_max = 4;

// A view's copy is another file with the same content.
std::uint64_t key_of(const Digest& digest, std::uint64_t inode) {
  std::uint64_t content = 0;
  std::memcpy(&content, digest.hash.bytes().data(), sizeof content);
  return content ^ (inode * 0x9E37'79B9'7F4A'7C15ULL);
}

void read_checks(const Owners& owners, const std::filesystem::path& log,
                 const std::function<void(const Check&)>& visit) {
  const auto fd = try_open_trusted(owners, log);
  std::string buffer(4096 * check_record_size, '\0');
  for (std::uint64_t offset = 0; fd;) {
    const std::size_t n = read_at(fd->get(), std::as_writable_bytes(std::span(buffer)), offset, log);
    for (std::size_t i = 0; i + check_record_size <= n; i += check_record_size) {
      if (const auto check = try_parse_check(std::string_view(buffer).substr(i, check_record_size))) visit(*check);
    }
    offset += n;
    if (n < buffer.size()) return;
  }
}

}  // namespace

void put_check(std::string& out, const Check& check) {
  std::string body;
  wire::put_hash(body, check.digest.hash);
  wire::put(body, check.digest.size_bytes);
  wire::put(body, check.inode);
  wire::put(body, static_cast<std::uint64_t>(check.mtime_ns));
  wire::put(body, check.xxh3);
  wire::put(body, static_cast<std::uint64_t>(check.time_ns));
  wire::put(out, wire::guard(body, check_tag));
  out += body;
}

std::optional<Check> try_parse_check(std::string_view record) {
  if (record.size() != check_record_size) return std::nullopt;
  wire::Reader reader(record);
  if (reader.get<std::uint64_t>() != wire::guard(record.substr(8), check_tag)) return std::nullopt;
  Check check;
  check.digest.hash = reader.hash();
  check.digest.size_bytes = reader.get<std::uint64_t>();
  check.inode = reader.get<std::uint64_t>();
  check.mtime_ns = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  check.xxh3 = reader.get<std::uint64_t>();
  check.time_ns = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  return check;
}

Checked::Checked(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members)
    : owners_(owners), logs_(std::move(directory), std::move(writer), owners, std::move(members)) {}

Checked::~Checked() { flush(); }

void Checked::flush() {
  const std::lock_guard lock(mutex_);
  if (!pending_.empty()) logs_.append(pending_);
  pending_.clear();
}

void Checked::refresh() {
  flush();
  const std::lock_guard lock(mutex_);
  known_.clear();
  const auto dead = logs_.of_the_dead();  // listed before the reading, so they are read to their end
  logs_.read([this](const std::filesystem::path& log) {
    read_checks(owners_, log, [this](const Check& check) {
      known_.push_back({key_of(check.digest, check.inode),
                        check.digest.size_bytes,
                        check.inode,
                        check.mtime_ns,
                        {check.xxh3, check.time_ns}});
    });
  });
  const auto order = [](const Known& a, const Known& b) {
    return std::tie(a.key, b.last.time_ns) < std::tie(b.key, a.last.time_ns);  // the newest of each first
  };
  std::ranges::sort(known_, order);
  known_.erase(std::unique(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.key == b.key; }),
               known_.end());
  if (dead.size() > check_logs_max) fold(dead);
}

// One log of all: the newest record of each file, once. (Two writers that fold the same logs at once both write all; if
// later writers kept both, the logs would double each time.)
void Checked::fold(const std::vector<std::filesystem::path>& logs) {
  std::string records;
  std::vector<bool> taken(known_.size());
  for (const auto& log : logs) {
    read_checks(owners_, log, [&](const Check& check) {
      const auto key = key_of(check.digest, check.inode);
      const auto newest = std::ranges::lower_bound(known_, key, {}, &Known::key);
      if (newest == known_.end() || newest->key != key || newest->last.time_ns != check.time_ns) return;
      const auto index = static_cast<std::size_t>(newest - known_.begin());
      if (!taken[index]) put_check(records, check);
      taken[index] = true;
    });
  }
  if (!logs_.append(records)) return;
  for (const auto& log : logs) ::unlink(log.c_str());
}

std::optional<Checked::Last> Checked::find(const Digest& digest, const struct stat& file) const {
  const auto key = key_of(digest, file.st_ino);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::lower_bound(known_, key, {}, &Known::key);
  if (found == known_.end() || found->key != key || found->size_bytes != digest.size_bytes) return std::nullopt;
  if (found->inode != file.st_ino || found->mtime_ns != nanoseconds(file.st_mtim)) return std::nullopt;
  if (found->size_bytes != static_cast<std::uint64_t>(file.st_size)) return std::nullopt;
  return found->last;
}

void Checked::add(const Check& check) {
  const std::lock_guard lock(mutex_);
  put_check(pending_, check);
  if (pending_.size() < checks_pending_max) return;
  logs_.append(pending_);
  pending_.clear();
}

}  // namespace sabath
