#include "store/hints/evidence_log.h"

#include <fcntl.h>

#include <cstring>
#include <span>

#include "base/file.h"
#include "manifest/wire.h"
#include "store/leases/lease_file.h"

namespace sabath {
namespace {

constexpr std::uint64_t fact_tag = 0x31'64'69'76'65'62'61'73;  // "sabevid1"
constexpr std::size_t facts_per_read = 4096;
constexpr std::size_t guard_size = 8, time_size = 8;  // in front of a record, and at its end

// The records from `offset` on, as many as the buffer holds; fewer: the log ends there.
std::string_view whole_records(int log, const std::filesystem::path& name, std::uint64_t offset, std::string& buffer) {
  const std::size_t n = read_at(log, std::as_writable_bytes(std::span(buffer)), offset, name);
  return std::string_view(buffer).substr(0, n - n % fact_record_size);
}

}  // namespace

Fact Fact::of(const Digest& digest, const struct stat& file) {
  return {digest, file.st_ino, nanoseconds(file.st_mtim), nanoseconds(file.st_ctim)};
}

void put_fact(std::string& out, const Fact& fact, std::int64_t time_s) {
  std::string body;
  body.reserve(fact_record_size);
  wire::put_hash(body, fact.digest.hash);
  wire::put(body, fact.digest.size_bytes);
  wire::put(body, fact.inode);
  wire::put(body, static_cast<std::uint64_t>(fact.mtime_ns));
  wire::put(body, static_cast<std::uint64_t>(fact.ctime_ns));
  wire::put(body, static_cast<std::uint64_t>(time_s));
  wire::put(out, wire::guard(body, fact_tag));
  out += body;
}

std::optional<Fact> try_parse_fact(std::string_view record) {
  if (record.size() != fact_record_size) return std::nullopt;
  wire::Reader reader(record);
  if (reader.get<std::uint64_t>() != wire::guard(record.substr(8), fact_tag)) return std::nullopt;
  Fact fact;
  fact.digest.hash = reader.hash();
  fact.digest.size_bytes = reader.get<std::uint64_t>();
  fact.inode = reader.get<std::uint64_t>();
  fact.mtime_ns = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  fact.ctime_ns = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  return fact;
}

std::uint64_t read_facts(const std::filesystem::path& log, std::uint64_t offset,
                         const std::function<void(const Fact&)>& visit) {
  const auto fd = try_open_file(log, O_RDONLY);
  return fd ? read_facts(fd->get(), log, offset, visit) : offset;  // folded into another log meanwhile
}

std::uint64_t read_facts(int log, const std::filesystem::path& name, std::uint64_t offset,
                         const std::function<void(const Fact&)>& visit) {
  std::string buffer(facts_per_read * fact_record_size, '\0');
  for (;;) {
    const std::string_view records = whole_records(log, name, offset, buffer);
    for (std::size_t at = 0; at < records.size(); at += fact_record_size) {
      if (const auto fact = try_parse_fact(records.substr(at, fact_record_size))) visit(*fact);
    }
    offset += records.size();
    if (records.size() < buffer.size()) return offset;
  }
}

bool has_fact(int log, const std::filesystem::path& name, const Fact& wanted) {
  std::string record;
  put_fact(record, wanted, 0);
  const std::string_view said = std::string_view(record).substr(guard_size, fact_record_size - guard_size - time_size);
  std::string buffer(facts_per_read * fact_record_size, '\0');
  for (std::uint64_t offset = 0;; offset += buffer.size()) {
    const std::string_view records = whole_records(log, name, offset, buffer);
    for (std::size_t at = 0; at < records.size(); at += fact_record_size) {
      if (std::memcmp(records.data() + at + guard_size, said.data(), said.size()) != 0) continue;
      if (try_parse_fact(records.substr(at, fact_record_size))) return true;
    }
    if (records.size() < buffer.size()) return false;
  }
}

}  // namespace sabath
