// A directory of a job that is looked at once, and then used by its descriptor: a directory above it that is renamed
// afterwards changes nothing. One thread. Throws Error{access} for one that another user could have written or may
// exchange, Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace sabath {

class HeldDirectory {
 public:
  // `trusted`: owners who may own directories above it.
  explicit HeldDirectory(std::filesystem::path directory, std::span<const std::uint32_t> trusted = {});

  // Leads to this directory, also where its name leads elsewhere by now; while this object lives, in this process and
  // as the directory in which a child is started.
  [[nodiscard]] std::filesystem::path path() const;
  void write(const char* name, std::string_view text, mode_t mode = 0644) const;
  // A plain file of this user's or root's in it, whole; nullopt: there is none of that name.
  [[nodiscard]] std::optional<std::string> try_read(const char* name, std::uint64_t size_max) const;

 private:
  std::filesystem::path named_;
  Fd fd_;
};

// Of the owners of all directories that lead to the place, symlinks too: why another user decides what stands there.
[[nodiscard]] std::optional<std::string> why_led_by_others(const std::filesystem::path& place,
                                                           std::span<const std::uint32_t> trusted);

}  // namespace sabath
