// pins/: roots that are kept until they are unpinned. Free functions of src/storage/store; any thread. Throws
// Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace sabath {

struct Pin {
  Sha256 root;
  std::string name;       // its name when it was pinned; for people
  std::int64_t time = 0;  // seconds since 1970; for people
  friend bool operator==(const Pin&, const Pin&) = default;
};

[[nodiscard]] std::string encode_pin(const Pin& pin);
[[nodiscard]] std::optional<Pin> try_decode_pin(std::string_view text);

// Whether a file of pins/ has the name of this pin; or that of its root alone, as an earlier SABATH wrote it. (What a
// damaged pin was called is lost: an empty name is that of any.)
[[nodiscard]] bool is_pin_of(const Pin& pin, const std::filesystem::path& file);

void put_pin(Store& store, const Pin& pin);  // durable when it returns
// Removes those that `goes` says, and tells them, in the order of read_pins().
std::vector<Pin> remove_pins(Store& store, const std::function<bool(const Pin&)>& goes);
// By name, then root; a root has as many as names pin it. A damaged pin still keeps the root that its file's name says.
[[nodiscard]] std::vector<Pin> read_pins(const Store& store);

}  // namespace sabath
