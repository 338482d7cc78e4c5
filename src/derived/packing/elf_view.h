// What the loader reads of an ELF file: machine, names of libraries, places where it looks. Bounded reads; a file that
// is damaged has no libraries. Any thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct ElfView {
  std::uint16_t machine = 0;
  bool wide = false, big_endian = false;  // 64 bits
  bool damaged = false;
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> search;  // of RUNPATH, else of RPATH
  bool is_rpath = false;            // `search` is the older RPATH
  std::string glibc;                // the oldest that has the symbols that it needs, "2.34"; empty: it needs none
  [[nodiscard]] bool same_machine(const ElfView& other) const {
    return machine == other.machine && wide == other.wide && big_endian == other.big_endian;
  }
};

// "2.4" < "2.34"; an empty one is the oldest.
[[nodiscard]] bool is_newer_glibc(std::string_view one, std::string_view other);
// nullopt: it is no ELF file.
[[nodiscard]] std::optional<ElfView> try_view_elf(const std::filesystem::path& file);
[[nodiscard]] std::string machine_name(const ElfView& view);  // "x86_64", "machine 40"

}  // namespace sabath
