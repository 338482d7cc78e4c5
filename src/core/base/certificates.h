// Where this system keeps the certificates of the authorities that it trusts. For a program that was built on another
// distribution, whose libraries know that one's place only. Any thread; throws std::bad_alloc only.
#pragma once

#include <filesystem>
#include <span>

namespace sabath {

// The bundles of the distributions, each a PEM file.
[[nodiscard]] std::span<const char* const> ca_file_places() noexcept;

// The first that can be read and is not empty; empty: none.
[[nodiscard]] std::filesystem::path system_ca_file(std::span<const char* const> places = ca_file_places());

}  // namespace sabath
