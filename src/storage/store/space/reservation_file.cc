#include "store/space/reservation_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/small_file.h"
#include "store/leases/lease_file.h"

namespace sabath {

std::string encode_reservation(const ReservationText& reservation) {
  nlohmann::ordered_json json{{"note", reservation.note},
                              {"job", reservation.job},
                              {"bytes", reservation.bytes},
                              {"inodes", reservation.inodes},
                              {"more_bytes", reservation.more_bytes},
                              {"more_inodes", reservation.more_inodes},
                              {"waits", reservation.waits}};
  const auto dump = [&] { return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); };
  json["xxh3"] = fmt::format("{:016x}", xxh3_64(dump()));
  return dump() + "\n";
}

std::optional<ReservationText> try_decode_reservation(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    ReservationText reservation{json.at("note"),       json.at("job"),         json.at("bytes"), json.at("inodes"),
                                json.at("more_bytes"), json.at("more_inodes"), json.at("waits")};
    if (encode_reservation(reservation) != text) return std::nullopt;  // one spelling, and its checksum agrees
    return reservation;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<FoundReservation> read_reservations(const Layout& layout, const HostId& here,
                                                const std::function<std::int64_t()>& now_ns) {
  std::vector<FoundReservation> found;
  std::error_code error;
  const auto all = layout.reservations();
  for (std::filesystem::directory_iterator it(all, error), end; !error && it != end; it.increment(error)) {
    FoundReservation one;
    one.file = it->path();
    one.name = one.file.filename();
    try {
      const auto there = try_lstat(one.file);
      const auto text = there ? try_read_small(one.file) : std::nullopt;
      if (!there || !text) continue;  // it has ended meanwhile
      one.text = try_decode_reservation(*text).value_or(ReservationText{});
      one.user = there->st_uid;
      one.live = is_live(one.name, here, touched_ns(*there), now_ns);
      found.push_back(std::move(one));
    } catch (const Error&) {}  // another user's, and not readable for us
  }
  return found;
}

}  // namespace sabath
