// The texts of a type: for users, and for the logical hash.
#include <fmt/format.h>

#include <algorithm>

#include "hdf5/type.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

constexpr std::size_t type_text_max = 500;

struct Standard {
  std::size_t size;
  std::array<std::size_t, 8> fields;
};
constexpr Standard standard_floats[] = {
    // IEEE 754: offset, sign, exponent at, bits, mantissa at, bits, bias, norm
    {2, {0, 15, 10, 5, 0, 10, 15, H5T_NORM_IMPLIED}},
    {4, {0, 31, 23, 8, 0, 23, 127, H5T_NORM_IMPLIED}},
    {8, {0, 63, 52, 11, 0, 52, 1023, H5T_NORM_IMPLIED}},
};

bool is_standard_float(const Type& type) {
  return std::ranges::any_of(standard_floats, [&](const Standard& standard) {
    return standard.size == type.size && standard.fields == type.fields && type.precision == 8 * type.size;
  });
}

std::string joined(const std::vector<std::uint64_t>& numbers, std::string_view separator) {
  return fmt::format("{}", fmt::join(numbers, separator));
}

std::string value_text(const Type& enumeration, std::uint64_t value) {
  return enumeration.base[0].is_signed ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value);
}

void describe_into(std::string& out, const Type& type);

void describe_number(std::string& out, const Type& type, std::string_view word) {
  out += fmt::format("{}{}", word, 8 * type.size);
  const bool odd = type.kind == Type::Kind::floating ? !is_standard_float(type) : type.precision != 8 * type.size;
  if (odd) out += fmt::format(" of {} bits", type.precision);
  if (type.big_endian && type.size > 1) out += " big-endian";
}

void describe_members(std::string& out, const Type& type) {
  const bool compound = type.kind == Type::Kind::compound;
  out += " {";
  for (std::size_t i = 0; i < type.members.size() && out.size() < type_text_max; ++i) {
    if (i > 0) out += ", ";
    out += printable(type.members[i].name, 64);
    if (!compound) {
      out += "=" + value_text(type, type.members[i].value);
      continue;
    }
    out += ": ";
    describe_into(out, type.base[i]);
  }
  out += "}";
}

void describe_into(std::string& out, const Type& type) {
  switch (type.kind) {
    case Type::Kind::integer:
      return describe_number(out, type, type.is_signed ? "int" : "uint");
    case Type::Kind::floating:
      return describe_number(out, type, "float");
    case Type::Kind::bits:
      return describe_number(out, type, "bits");
    case Type::Kind::opaque:
      out += fmt::format("opaque({})", type.size);
      return;
    case Type::Kind::string:
      out += fmt::format("string({}{})", type.variable ? "" : fmt::format("{}, ", type.size),
                         type.utf8 ? "utf-8" : "ascii");
      return;
    case Type::Kind::enumeration:
      out += "enum ";
      describe_into(out, type.base[0]);
      return describe_members(out, type);
    case Type::Kind::compound:
      out += "compound";
      return describe_members(out, type);
    case Type::Kind::array:
      out += fmt::format("array({}) of ", joined(type.dims, ","));
      return describe_into(out, type.base[0]);
    case Type::Kind::vlen:
      out += "list of ";
      return describe_into(out, type.base[0]);
    case Type::Kind::object:
      out += "reference to an object";
      return;
    case Type::Kind::region:
      out += "reference to a region";
      return;
    case Type::Kind::time:
      out += fmt::format("time{}", 8 * type.size);
  }
}

std::string sized(std::string_view text) { return fmt::format("{}:{}", text.size(), text); }

std::string canonical_number(const Type& type, char letter) {
  if (type.kind != Type::Kind::floating) {
    return type.precision == 8 * type.size ? fmt::format("{}{}", letter, type.size)
                                           : fmt::format("{}{}:{}", letter, type.size, type.precision);
  }
  if (is_standard_float(type)) return fmt::format("f{}", type.size);
  return fmt::format("f{}:{}:{}", type.size, type.precision, fmt::join(type.fields, ":"));
}

std::string canonical_members(const Type& type, std::string_view name) {
  std::string text = fmt::format("{{{}", type.members.size());
  for (std::size_t i = 0; i < type.members.size(); ++i) {
    text += ";" + sized(type.members[i].name) + "=";
    text += type.kind == Type::Kind::compound ? canonical(type.base[i], name) : value_text(type, type.members[i].value);
  }
  return text + "}";
}

}  // namespace

std::string describe(const Type& type) {
  if (type.is_boolean()) return "bool";
  std::string text;
  describe_into(text, type);
  if (text.size() <= type_text_max) return text;
  std::size_t end = type_text_max;
  while ((static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::string canonical(const Type& type, std::string_view name) {
  switch (type.kind) {
    case Type::Kind::integer:
      return canonical_number(type, type.is_signed ? 'i' : 'u');
    case Type::Kind::floating:
      return canonical_number(type, 'f');
    case Type::Kind::bits:
      return canonical_number(type, 'b');
    case Type::Kind::opaque:
      return fmt::format("o{}:{}", type.size, sized(type.tag));
    case Type::Kind::string:
      return fmt::format("s{}:{}", type.variable ? "*" : fmt::format("{}", type.size), type.utf8 ? "utf-8" : "ascii");
    case Type::Kind::enumeration:
      return "e" + canonical(type.base[0], name) + canonical_members(type, name);
    case Type::Kind::compound:
      return "c" + canonical_members(type, name);
    case Type::Kind::array:
      return fmt::format("a[{}]", joined(type.dims, ",")) + canonical(type.base[0], name);
    case Type::Kind::vlen:
      return "v" + canonical(type.base[0], name);
    case Type::Kind::object:
      return "r";
    case Type::Kind::region:
    case Type::Kind::time:
      break;
  }
  throw Error(FailureKind::invalid, fmt::format("cannot hash {}: {} has no logical form", name, describe(type)),
              "the logical hash covers everything but region references and times; see docs/hdf5.md");
}

bool Type::has(Kind wanted) const {
  return kind == wanted || std::ranges::any_of(base, [&](const Type& type) { return type.has(wanted); });
}

bool Type::is_variable() const {
  return kind == Kind::vlen || variable || std::ranges::any_of(base, [](const Type& t) { return t.is_variable(); });
}

bool Type::flat() const { return !is_variable() && !has(Kind::object); }

std::size_t Type::memory_size() const {
  switch (kind) {
    case Kind::string:
      return variable ? sizeof(char*) : size;
    case Kind::vlen:
      return sizeof(hvl_t);
    case Kind::compound: {
      std::size_t sum = 0;
      for (const Type& member : base) sum += member.memory_size();
      return sum;
    }
    case Kind::array: {
      std::size_t bytes = base[0].memory_size();
      for (const std::uint64_t extent : dims) bytes *= extent;
      return bytes;
    }
    default:
      return size;
  }
}

bool Type::is_boolean() const {
  return kind == Kind::enumeration && size == 1 && members.size() == 2 && members[0].value == 0 &&
         members[0].name == "FALSE" && members[1].value == 1 && members[1].name == "TRUE";
}

}  // namespace sabath::h5
