#include "store/pins.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/small_file.h"
#include "store/state.h"

namespace sabath {

std::string encode_pin(const Pin& pin) {
  nlohmann::ordered_json json{{"root", pin.root.prefixed()}, {"name", pin.name}, {"time", pin.time}};
  const auto dump = [&] { return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace); };
  json["xxh3"] = fmt::format("{:016x}", xxh3_64(dump()));
  return dump() + "\n";
}

std::optional<Pin> try_decode_pin(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    const auto root = Sha256::try_parse(json.at("root").get<std::string>());
    if (!root) return std::nullopt;
    Pin pin{*root, json.at("name"), json.at("time")};
    if (encode_pin(pin) != text) return std::nullopt;
    return pin;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void put_pin(Store& store, const Pin& pin) {
  replace_file(store.state().temporaries, store.state().layout.pin(pin.root), encode_pin(pin), true);
}

bool remove_pin(Store& store, const Sha256& root) {
  const auto file = store.state().layout.pin(root);
  if (::unlink(file.c_str()) != 0) {
    if (errno == ENOENT) return false;
    throw_errno("remove", file, errno);
  }
  sync_directory(file.parent_path());
  return true;
}

std::vector<Pin> read_pins(const Store& store) {
  const Layout layout(store.directory());
  std::vector<Pin> pins;
  std::error_code error;
  for (std::filesystem::directory_iterator it(layout.pins(), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    const auto root = name.size() == 2 * Sha256::size ? Sha256::try_parse(name) : std::nullopt;
    if (!root) continue;
    const auto pin = try_decode_pin(try_read_small(it->path()).value_or(""));
    pins.push_back(pin && pin->root == *root ? *pin : Pin{*root, "", 0});
  }
  if (error && error.value() != ENOENT) throw_errno("list", layout.pins(), error.value());
  std::ranges::sort(pins, {}, [](const Pin& pin) { return std::pair(pin.name, pin.root); });
  return pins;
}

}  // namespace sabath
