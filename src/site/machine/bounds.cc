// Judges a need by the room that there is. Pure.
#include <fmt/format.h>

#include "base/text.h"
#include "base/wording.h"
#include "machine/limits.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Unit = Bound::Unit;

std::string number(Unit unit, std::uint64_t value) {
  return unit == Unit::bytes ? fmt::format("{} ({} bytes)", format_bytes(value), value)
                             : fmt::format("{} inodes", value);
}

std::string remedy(const Bound& bound) {
  const std::string store = option_text("store") + " DIR (SABATH_STORE)";
  if (bound.what == "file size") {
    return bound.by == "ulimit -f" ? "raise the limit with ulimit -f, or ask the administrator who set it"
                                   : "choose a place on another filesystem with " + store;
  }
  if (bound.what == "memory") {
    return "files there take the job's memory: ask for more of it, or choose a place on a disk with " + store;
  }
  if (bound.what.find("quota") != std::string::npos) {
    return fmt::format("remove something (`{}`), ask for more quota, or choose another place with {}", verb_text("gc"),
                       store);
  }
  return "free some space, or choose another place with " + store;
}

}  // namespace

std::vector<Bound> bounds_of(const Limits& limits, const Need& need, const Promised& others) {
  std::vector<Bound> bounds;
  const auto add = [&](std::string what, std::string by, Unit unit, std::uint64_t free, std::uint64_t promised) {
    bounds.push_back(
        {std::move(what), std::move(by), unit, unit == Unit::bytes ? need.bytes : need.inodes, free, promised});
  };
  add("bytes", limits.place, Unit::bytes, limits.bytes_free, others.bytes);
  if (limits.inodes_free) add("inodes", limits.place, Unit::inodes, *limits.inodes_free, others.inodes);
  for (const Quota& quota : limits.quotas) {
    const bool own = quota.kind == QuotaKind::user;
    const std::string by = fmt::format("{} {} in {}", name(quota.kind), quota.id, limits.place);
    const auto what = [&](const char* unit) { return fmt::format("{} quota, {}", name(quota.kind), unit); };
    if (quota.bytes_left) {
      add(what("bytes"), by, Unit::bytes, *quota.bytes_left, own ? others.user_bytes : others.bytes);
    }
    if (quota.inodes_left) {
      add(what("inodes"), by, Unit::inodes, *quota.inodes_left, own ? others.user_inodes : others.inodes);
    }
  }
  if (limits.memory) add("memory", limits.memory->by, Unit::bytes, limits.memory->bytes, others.bytes);
  if (limits.file_size) {
    bounds.push_back({"file size", limits.file_size->by, Unit::bytes, need.biggest_file, limits.file_size->bytes, 0});
  }
  return bounds;
}

std::optional<Failure> refusal_of(const Limits& limits, const Need& need, const Promised& others,
                                  std::string_view what) {
  for (const Bound& bound : bounds_of(limits, need, others)) {
    if (bound.fits()) continue;
    std::string message;
    if (bound.what == "file size") {
      message =
          fmt::format("{} has a file of {}{}: File too large, {} allows {}", what, number(bound.unit, bound.needed),
                      need.biggest_name.empty() ? "" : fmt::format(", {}", printable(need.biggest_name, 200)), bound.by,
                      number(bound.unit, bound.free));
    } else {
      const bool plain = bound.by == limits.place;
      message = fmt::format(
          "{} needs {} in {}, and {} are free{}{}", what, number(bound.unit, bound.needed), limits.place,
          number(bound.unit, bound.available()), plain ? "" : fmt::format(" ({}: {})", bound.what, bound.by),
          bound.promised == 0 ? "" : fmt::format(", as {} are reserved by others", number(bound.unit, bound.promised)));
    }
    return Failure{FailureKind::space, message, remedy(bound), std::nullopt};
  }
  return std::nullopt;
}

}  // namespace sabath
