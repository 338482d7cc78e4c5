#include "formats/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "formats/bytes.h"
#include "formats/protobuf.h"
#include "formats/python_literal.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t axes_max = 64;
constexpr std::uint64_t element_bytes_max = std::uint64_t{1} << 31;

[[noreturn]] void refuse_npy(std::string_view name, std::string_view what) {
  throw Error(FailureKind::invalid, fmt::format("cannot read {}: {}", printable(name, 4096), what),
              "the file is damaged, or no .npy file");
}

struct ElementType {
  std::uint64_t bytes = 0;
  bool objects = false;
};

// "<f4", "|S10", "<U3", "<M8[ns]", "|O": byte order, kind, size.
std::optional<ElementType> try_simple(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) descr.remove_prefix(1);
  if (descr.empty()) return std::nullopt;
  const char kind = descr[0];
  descr.remove_prefix(1);
  if (kind == 'O') return ElementType{0, true};
  if (kind == '?' && descr.empty()) return ElementType{1, false};
  if ((kind == 'M' || kind == 'm') && descr.ends_with(']')) descr = descr.substr(0, descr.find('['));
  const auto size = try_whole_number(descr);
  if (!size || *size > element_bytes_max / 4) return std::nullopt;
  if (kind == 'U') return ElementType{*size * 4, false};
  if (kind == 'S' || kind == 'a' || kind == 'V') return ElementType{*size, false};
  const std::string_view sizes = kind == 'b'                                 ? "1"
                                 : kind == 'i' || kind == 'u'                ? "1248"
                                 : kind == 'f'                               ? "248"
                                 : kind == 'c' || kind == 'M' || kind == 'm' ? "8"
                                                                             : "";
  if (*size < 10 && sizes.find(static_cast<char>('0' + *size)) != std::string_view::npos)
    return ElementType{*size, false};
  if ((kind == 'f' && (*size == 12 || *size == 16)) || (kind == 'c' && (*size == 16 || *size == 24 || *size == 32)))
    return ElementType{*size, false};
  return std::nullopt;
}

bool times(std::uint64_t& product, std::int64_t factor) {
  return factor >= 0 && !__builtin_mul_overflow(product, static_cast<std::uint64_t>(factor), &product);
}

std::optional<ElementType> try_type(const PythonLiteral& descr);

// (name, type) or (name, type, shape); a name may be (title, name).
std::optional<ElementType> try_field(const PythonLiteral& field) {
  if (!field.is_sequence() || field.items.size() < 2 || field.items.size() > 3) return std::nullopt;
  auto type = try_type(field.items[1]);
  if (!type || field.items.size() == 2) return type;
  const PythonLiteral& shape = field.items[2];
  const std::vector<PythonLiteral> one{shape};
  for (const PythonLiteral& extent : shape.is_sequence() ? shape.items : one) {
    if (extent.kind != PythonLiteral::Kind::integer || !times(type->bytes, extent.number)) return std::nullopt;
  }
  return type;
}

std::optional<ElementType> try_type(const PythonLiteral& descr) {
  if (descr.kind == PythonLiteral::Kind::text) return try_simple(descr.text);
  if (descr.kind == PythonLiteral::Kind::tuple && descr.items.size() == 2) {  // (type, shape)
    return try_field({PythonLiteral::Kind::tuple, false, 0, "", {{}, descr.items[0], descr.items[1]}});
  }
  if (descr.kind != PythonLiteral::Kind::list || descr.items.empty()) return std::nullopt;
  ElementType whole;
  for (const PythonLiteral& field : descr.items) {
    const auto type = try_field(field);
    if (!type || __builtin_add_overflow(whole.bytes, type->bytes, &whole.bytes)) return std::nullopt;
    whole.objects |= type->objects;
  }
  if (whole.bytes > element_bytes_max) return std::nullopt;
  return whole;
}

// The text of `descr` as it stands in the header.
std::string descr_text(const PythonLiteral& descr, std::string_view header) {
  if (descr.kind == PythonLiteral::Kind::text) return descr.text;
  const std::size_t key = header.find("descr"), begin = header.find_first_of("[(", key);
  const std::size_t end = header.find("'fortran_order'", begin);
  std::string_view text = trim(header.substr(begin, end == std::string_view::npos ? end : end - begin));
  if (text.ends_with(',')) text.remove_suffix(1);
  return printable(text, 4096);
}

void take_header(Npy& array, std::string_view header, std::string_view name) {
  const auto literal = try_python_literal(header);
  if (!literal || literal->kind != PythonLiteral::Kind::dictionary || literal->items.size() != 6)
    refuse_npy(name, "its header is no dictionary of three keys");
  const PythonLiteral *descr = literal->find("descr"), *order = literal->find("fortran_order"),
                      *shape = literal->find("shape");
  if (descr == nullptr || order == nullptr || shape == nullptr)
    refuse_npy(name, "its header has not all of 'descr', 'fortran_order', 'shape'");
  if (order->kind != PythonLiteral::Kind::boolean) refuse_npy(name, "'fortran_order' is neither True nor False");
  const auto type = try_type(*descr);
  if (!type) refuse_npy(name, "the type in its header is none that NumPy has");
  if (shape->kind != PythonLiteral::Kind::tuple || shape->items.size() > axes_max)
    refuse_npy(name, "'shape' is no tuple");
  array.elements = 1;
  bool empty = false;
  for (const PythonLiteral& extent : shape->items) {
    if (extent.kind != PythonLiteral::Kind::integer || extent.number < 0)
      refuse_npy(name, "'shape' has what is no extent");
    array.shape.push_back(static_cast<std::uint64_t>(extent.number));
    empty |= extent.number == 0;
    if (!empty && !times(array.elements, extent.number)) refuse_npy(name, "'shape' is absurdly large");
  }
  if (empty) array.elements = 0;
  array.descr = descr_text(*descr, header);
  array.fortran_order = order->truth;
  array.objects = type->objects;
  array.element_bytes = type->objects ? 0 : type->bytes;
  if (__builtin_mul_overflow(array.elements, array.element_bytes, &array.data_bytes))
    refuse_npy(name, "'shape' is absurdly large");
}

float number_of(char kind, int bytes, std::uint64_t bits) {
  const int shift = 64 - 8 * bytes;
  switch (kind) {
    case 'i':
      return static_cast<float>(static_cast<std::int64_t>(bits << shift) >> shift);
    case 'f':
      return bytes == 2   ? half_to_float(static_cast<std::uint16_t>(bits))
             : bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                          : static_cast<float>(std::bit_cast<double>(bits));
    default:
      return static_cast<float>(bits);
  }
}

}  // namespace

bool is_npy(std::string_view first_bytes) { return first_bytes.starts_with(magic); }

std::size_t npy_header_bytes(std::string_view begin) {
  const std::size_t length_at = magic.size() + 2;
  const std::size_t length_bytes = begin.size() > magic.size() && begin[magic.size()] == 1 ? 2 : 4;
  if (begin.size() < length_at + length_bytes) return npy_header_bytes_max;
  const std::uint64_t length = little_endian(begin.substr(length_at, length_bytes), static_cast<int>(length_bytes));
  return static_cast<std::size_t>(std::min<std::uint64_t>(npy_header_bytes_max, length_at + length_bytes + length));
}

Npy parse_npy_header(std::string_view begin, std::string_view name) {
  Npy array;
  if (!is_npy(begin)) refuse_npy(name, "it does not begin as an .npy file does");
  if (begin.size() < magic.size() + 2) refuse_npy(name, "its header ends early");
  array.version = static_cast<unsigned char>(begin[magic.size()]);
  if (array.version < 1 || array.version > 3) refuse_npy(name, fmt::format("its version {} is unknown", array.version));
  const int length_bytes = array.version == 1 ? 2 : 4;
  begin.remove_prefix(magic.size() + 2);
  if (begin.size() < static_cast<std::size_t>(length_bytes)) refuse_npy(name, "its header ends early");
  const std::uint64_t length = little_endian(begin, length_bytes);
  begin.remove_prefix(static_cast<std::size_t>(length_bytes));
  if (length > npy_header_bytes_max - 16) refuse_npy(name, fmt::format("its header claims {} bytes", length));
  if (begin.size() < length) refuse_npy(name, "its header ends early");
  array.data_offset = magic.size() + 2 + static_cast<std::uint64_t>(length_bytes) + length;
  take_header(array, begin.substr(0, length), name);
  return array;
}

Npy read_npy_header(const std::filesystem::path& file) {
  FileBytes source(file);
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(npy_header_bytes_max, source.size_bytes())), '\0');
  begin.resize(read_full(source, begin));
  Npy array = parse_npy_header(begin, file.native());
  const std::uint64_t there = source.size_bytes() - array.data_offset;
  if (array.objects || array.data_bytes == there) return array;
  const std::string what =
      fmt::format("its header promises {} bytes of data, and there are {}", array.data_bytes, there);
  if (array.data_bytes < there) refuse_npy(file.native(), what);
  throw Error(FailureKind::content, fmt::format("cannot read {}: {}", printable(file.native(), 4096), what),
              "get the file again");
}

std::string npy_header(std::string_view descr, const std::vector<std::uint64_t>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t before = 10, alignment = 64;
  const std::size_t whole = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.append(whole - before - text.size() - 1, ' ');
  text += '\n';
  std::string header(magic);
  header += '\1';
  header += '\0';
  append_little_endian(header, text.size(), 2);
  return header + text;
}

void refuse_objects(const Npy& array, std::string_view name) {
  if (!array.objects) return;
  throw Error(FailureKind::invalid,
              fmt::format("cannot read {}: it is an array of objects ({}), so its data are a pickle, which runs code",
                          printable(name, 4096), printable(array.descr)),
              "save its numbers as an array of numbers");
}

void refuse_fortran(const Npy& array, std::string_view name) {
  if (!array.fortran_order || array.shape.size() < 2) return;
  throw Error(FailureKind::usage,
              fmt::format("cannot convert {}: its elements are in Fortran order", printable(name, 4096)),
              "save it in C order: numpy.save(file, numpy.ascontiguousarray(array))");
}

std::vector<float> as_floats(std::string_view descr, std::string_view bytes, std::string_view name) {
  const auto type = try_simple(descr);
  const bool big = descr.starts_with('>');
  const std::size_t bare = descr.find_first_not_of("<>|=");
  const char kind = bare == std::string_view::npos ? ' ' : descr[bare];
  if (!type || std::string_view("biuf?").find(kind) == std::string_view::npos || type->bytes > 8) {
    throw Error(FailureKind::usage,
                fmt::format("cannot write {} as floats: its type is {}", printable(name, 4096), printable(descr)),
                "name numbers of at most 8 bytes");
  }
  const auto size = static_cast<std::size_t>(type->bytes);
  std::vector<float> numbers;
  numbers.reserve(bytes.size() / size);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::string element(bytes.substr(at, size));
    if (big) std::ranges::reverse(element);
    numbers.push_back(number_of(kind, static_cast<int>(size), little_endian(element, static_cast<int>(size))));
  }
  return numbers;
}

float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const auto mantissa = static_cast<float>(half & 0x3ff);
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

}  // namespace sabath
