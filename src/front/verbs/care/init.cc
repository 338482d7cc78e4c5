#include "sabath/verbs/init.h"

#include <fmt/format.h>
#include <grp.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/shared.h"
#include "store/store.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t group_bytes_max = 1 << 20;  // a group may have very many fields

gid_t group_id(const std::string& name) {
  gid_t id = 0;
  const char* end = name.data() + name.size();
  if (const auto [last, error] = std::from_chars(name.data(), end, id); error == std::errc() && last == end) return id;
  struct group entry {};
  struct group* found = nullptr;
  std::string buffer(group_bytes_max, '\0');
  if (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->gr_gid;
  }
  throw Error(FailureKind::usage, fmt::format("there is no group '{}'", printable(name)),
              "give a group's name, or a numeric id");
}

}  // namespace

InitRecord init(Session& session, const InitRequest& request, EventSink&, std::stop_token) {
  const std::filesystem::path& directory = session.settings().store;
  if (request.group && !request.shared) {
    throw Error(FailureKind::usage, "a group is named for a store that is not shared", "say both, or neither");
  }
  if (request.shared) {
    make_shared_store(directory, request.group ? std::optional(group_id(*request.group)) : std::nullopt);
  } else {
    static_cast<void>(Store::open(directory, true));
  }
  return {directory, request.shared};
}

template <>
struct Described<InitRequest> {
  using Of = InitRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(shared, .help = "for all members of its group"),
      SABATH_FIELD(group, .help = "of a shared store, its name or number (default: yours)", .value = "GROUP"),
  };
};

template <>
struct Described<InitRecord> {
  using Of = InitRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(store, .help = "where it is"),
      SABATH_FIELD(shared, .help = "for all members of its group"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const InitRecord& record) { return record_text(record); }

extern constexpr LibraryVerb init_call = described<init>("init");

}  // namespace sabath
