// A datatype as a plain value, with a text for users and one canonical form (docs/hdf5.md), in which byte order,
// padding and alignment do not count. Bounded: nesting, members. One thread at a time. Throws Error{invalid}.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/handle.h"

namespace sabath::h5 {

struct Type {
  enum class Kind { integer, floating, bits, opaque, string, enumeration, compound, array, vlen, object, region, time };
  struct Member {  // of a compound: its type in base[i]
    std::string name;
    std::uint64_t value = 0;  // of an enumeration, as the bits of a 64-bit integer
  };

  Kind kind = Kind::opaque;
  std::size_t size = 0;                 // bytes in the file
  bool big_endian = false;              // of itself, not of its members
  bool is_signed = false;               // integer
  bool variable = false;                // string
  bool utf8 = false;                    // string
  std::size_t precision = 0;            // bits: integer, floating, bits
  std::array<std::size_t, 8> fields{};  // floating: offset, sign, exponent at, bits, mantissa at, bits, bias, norm
  std::string tag;                      // opaque
  std::vector<Member> members;          // enumeration by value; compound as declared
  std::vector<std::uint64_t> dims;      // array
  std::vector<Type> base;               // enumeration, array, vlen: one; compound: of each member

  // True if elements have no parts elsewhere (variable-length data, references): their bytes in memory are canonical.
  [[nodiscard]] bool flat() const;
  [[nodiscard]] bool has(Kind kind) const;        // itself or within
  [[nodiscard]] bool is_variable() const;         // memory is allocated for elements that are read
  [[nodiscard]] std::size_t memory_size() const;  // of an element of canonical_memory_type
  [[nodiscard]] bool is_boolean() const;          // the enumeration that h5py makes of numpy's bool
};

[[nodiscard]] Type parse_type(hid_t type, std::string_view name);
[[nodiscard]] std::string describe(const Type& type);  // "int16", "compound {x: float64, ...}"; at most 500 bytes

// The descriptor that the logical hash takes. Throws for types without a canonical form: region references, times.
[[nodiscard]] std::string canonical(const Type& type, std::string_view name);
// Little-endian, packed, enumerations as their integers, integers over their whole size, strings padded with zeros.
[[nodiscard]] Handle canonical_memory_type(hid_t type, std::string_view name);

}  // namespace sabath::h5
