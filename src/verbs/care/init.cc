#include "sabath/init.h"

#include <fmt/format.h>
#include <grp.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/shared.h"
#include "store/store.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::size_t group_bytes_max = 1 << 20;  // a group may have very many members

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

Json json_of(const InitRecord& record) {
  return {{"schema", 1}, {"store", record.store.string()}, {"shared", record.shared}, {"exit", record.exit}};
}

std::string to_json(const InitRecord& record) { return text_of(json_of(record)); }

Json call_init(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const InitRequest asked{request.flag("shared"), request.try_text("group")};
  request.finish();
  return json_of(init(session, asked, events, std::move(stop)));
}

}  // namespace sabath
