#include "store/pins.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"
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

bool is_pin_of(const Pin& pin, const std::filesystem::path& file) {
  const std::string name = file.filename();
  const bool nameless = pin.name.empty() || name == pin.root.hex();
  return nameless ? try_parse_pin_name(name) == pin.root : name == Layout("").pin(pin.root, pin.name).filename();
}

void put_pin(Store& store, const Pin& pin) {
  replace_file(store.state().temporaries, store.state().layout.pin(pin.root, pin.name), encode_pin(pin), true);
}

namespace {

void for_each_pin(const std::filesystem::path& pins,
                  const std::function<void(const std::filesystem::path&, const Pin&)>& visit) {
  for (const auto& file : list_directory(pins)) {
    const auto root = try_parse_pin_name(file.filename().native());
    if (!root) continue;
    const auto pin = try_decode_pin(try_read_small(file).value_or(""));
    visit(file, pin && is_pin_of(*pin, file) ? *pin : Pin{*root, "", 0});
  }
}

void sort_by_name(std::vector<Pin>& pins) {
  std::ranges::sort(pins, {}, [](const Pin& pin) { return std::pair(pin.name, pin.root); });
}

}  // namespace

std::vector<Pin> remove_pins(Store& store, const std::function<bool(const Pin&)>& goes) {
  const auto pins = store.state().layout.pins();
  std::vector<Pin> gone;
  for_each_pin(pins, [&](const std::filesystem::path& file, const Pin& pin) {
    if (!goes(pin)) return;
    if (unlink_below(store.state().layout.root(), file)) {
      gone.push_back(pin);
    } else if (errno != ENOENT) {
      throw_errno("remove", file, errno);
    }
  });
  if (!gone.empty()) sync_directory(pins);
  sort_by_name(gone);
  return gone;
}

std::vector<Pin> read_pins(const Store& store) {
  std::vector<Pin> pins;
  for_each_pin(Layout(store.directory()).pins(),
               [&](const std::filesystem::path&, const Pin& pin) { pins.push_back(pin); });
  sort_by_name(pins);
  return pins;
}

}  // namespace sabath
