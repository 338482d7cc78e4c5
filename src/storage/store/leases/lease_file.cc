#include "store/leases/lease_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/note.h"

namespace sabath {
namespace {

LeaseText worst_case() {
  LeaseText text;
  text.note = "damaged";
  text.open = true;
  return text;
}

}  // namespace

bool is_live(std::string_view name, const HostId& here, std::int64_t beat_ns,
             const std::function<std::int64_t()>& now_ns) {
  const auto writer = WriterId::try_parse(name.substr(0, name.find('+')));
  const Life life = writer ? life_of(*writer, here) : Life::unknown;
  if (life != Life::unknown) return life == Life::alive;
  return now_ns() - beat_ns < std::chrono::nanoseconds(lease_silence_max).count();
}

std::int64_t nanoseconds(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t touched_ns(const struct stat& file) {
  return std::min(nanoseconds(file.st_mtim), nanoseconds(file.st_ctim));
}

std::string encode_lease(const LeaseText& lease) {
  nlohmann::ordered_json json{
      {"note", lease.note}, {"job", lease.job}, {"open", lease.open}, {"since_ns", lease.since_ns}};
  json["roots"] = nlohmann::ordered_json::array();
  for (const auto& root : lease.roots) json["roots"].push_back(root.prefixed());
  const auto dump = [&] { return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); };
  json["xxh3"] = fmt::format("{:016x}", xxh3_64(dump()));
  return dump() + "\n";
}

std::optional<LeaseText> try_decode_lease(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    LeaseText lease{json.at("note"), json.at("job"), json.at("open"), json.at("since_ns"), {}};
    for (const auto& one : json.at("roots")) {
      const auto root = Sha256::try_parse(one.get<std::string>());
      if (!root || lease.roots.size() == lease_roots_max) return std::nullopt;
      lease.roots.push_back(*root);
    }
    if (encode_lease(lease) != text) return std::nullopt;  // one spelling, and its checksum agrees
    return lease;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<FoundLease> read_leases(const Layout& layout, const HostId& here, std::int64_t now_ns) {
  std::vector<FoundLease> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(layout.leases(), error), end; !error && it != end; it.increment(error)) {
    FoundLease lease;
    lease.file = it->path();
    const std::string name = lease.file.filename();
    lease.writer = name.substr(0, name.find('+'));
    const auto there = try_lstat(lease.file);
    lease.owner = there ? there->st_uid : 0;
    const auto text = there && S_ISREG(there->st_mode) ? try_read_any_note(layout, lease.file) : std::nullopt;
    if (!there || !S_ISREG(there->st_mode) || (!text && !try_lstat(lease.file))) continue;  // ended meanwhile, or none
    const auto decoded = try_decode_lease(text.value_or(""));
    lease.damaged = !decoded;
    lease.text = decoded.value_or(worst_case());
    lease.live = is_live(name, here, touched_ns(*there), [now_ns] { return now_ns; });
    found.push_back(std::move(lease));
  }
  if (error && error.value() != ENOENT) throw_errno("list", layout.leases(), error.value());
  return found;
}

}  // namespace sabath
