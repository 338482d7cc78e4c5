#include "hdf5/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t values_max = 64;        // of one attribute, at any depth
constexpr std::size_t value_text_max = 1024;  // bytes

std::uint64_t load_integer(const std::byte* at, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, std::min<std::size_t>(size, 8));
  return value;
}

double half(std::uint64_t bits) {
  const auto exponent = static_cast<int>((bits >> 10) & 31);
  const double mantissa = static_cast<double>(bits & 1023) / 1024;
  const double value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                       : exponent == 0 ? std::ldexp(mantissa, -14)
                                       : std::ldexp(1 + mantissa, exponent - 15);
  return (bits >> 15) != 0 ? -value : value;
}

// JSON has no word for what is not finite.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }

// The shortest decimal that gives the float again, not the longer one that gives the double it is widened to.
Json number(float value) { return number(std::strtod(fmt::format("{}", value).c_str(), nullptr)); }

class Reader {
 public:
  explicit Reader(const Paths& paths) : paths_(paths) {}
  [[nodiscard]] bool cut() const { return cut_; }

  Json list(const Type& type, const std::byte* at, std::uint64_t count) {
    Json values = Json::array();
    for (std::uint64_t i = 0; i < count; ++i, at += type.memory_size()) {
      if (left_ == 0) {
        cut_ = true;
        break;
      }
      values.push_back(one(type, at));
    }
    return values;
  }

  Json one(const Type& type, const std::byte* at) {
    left_ -= left_ > 0 ? 1 : 0;
    switch (type.kind) {
      case Type::Kind::integer:
        return integer(type, at);
      case Type::Kind::enumeration:
        return enumerator(type, at);
      case Type::Kind::floating:
        return floating(type, at);
      case Type::Kind::string:
        return string(type, at);
      case Type::Kind::compound:
        return compound(type, at);
      case Type::Kind::array: {
        const std::size_t size = type.base[0].memory_size();
        return list(type.base[0], at, type.memory_size() / std::max<std::size_t>(size, 1));
      }
      case Type::Kind::vlen: {
        hvl_t items;
        std::memcpy(&items, at, sizeof items);
        return list(type.base[0], static_cast<const std::byte*>(items.p), items.len);
      }
      case Type::Kind::object: {
        const std::string path = path_of_reference(at, paths_);
        return path.empty() ? Json(nullptr) : text(path);
      }
      default:
        return hex(at, type.size);
    }
  }

 private:
  Json integer(const Type& type, const std::byte* at) {
    if (type.size > 8) return hex(at, type.size);
    const std::uint64_t value = load_integer(at, type.size);
    if (!type.is_signed) return value;
    const auto shift = static_cast<int>(64 - 8 * type.size);
    return static_cast<std::int64_t>(value << shift) >> shift;
  }

  Json enumerator(const Type& type, const std::byte* at) {
    const Json value = integer(type.base[0], at);
    const auto bits =
        value.is_number_unsigned() ? value.get<std::uint64_t>() : static_cast<std::uint64_t>(value.get<std::int64_t>());
    if (type.is_boolean() && bits < 2) return bits == 1;
    for (const Type::Member& member : type.members) {
      if (member.value == bits) return text(member.name);
    }
    return value;
  }

  Json floating(const Type& type, const std::byte* at) {
    const std::string form = canonical(type, "");
    if (form == "f2") return number(half(load_integer(at, 2)));
    if (form == "f4") return number(std::bit_cast<float>(static_cast<std::uint32_t>(load_integer(at, 4))));
    if (form == "f8") return number(std::bit_cast<double>(load_integer(at, 8)));
    return hex(at, type.size);
  }

  Json string(const Type& type, const std::byte* at) {
    if (!type.variable) {
      const auto* begin = reinterpret_cast<const char*>(at);
      return text({begin, static_cast<std::size_t>(std::find(begin, begin + type.size, '\0') - begin)});
    }
    const char* begin = nullptr;
    std::memcpy(&begin, at, sizeof begin);
    return begin == nullptr ? Json(nullptr) : text(begin);
  }

  Json compound(const Type& type, const std::byte* at) {
    Json record = Json::object();
    for (std::size_t i = 0; i < type.base.size(); at += type.base[i++].memory_size()) {
      if (i >= values_max) {
        cut_ = true;
        break;
      }
      record[printable(type.members[i].name)] = one(type.base[i], at);
    }
    return record;
  }

  Json text(std::string_view value) {
    if (!is_utf8(value)) return printable(value, value_text_max);
    if (value.size() <= value_text_max) return value;
    cut_ = true;
    std::size_t end = value_text_max;
    while ((static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) --end;
    return value.substr(0, end);
  }

  Json hex(const std::byte* at, std::size_t size) {
    const std::size_t shown = std::min<std::size_t>(size, 64);
    cut_ |= shown < size;
    return to_hex({reinterpret_cast<const std::uint8_t*>(at), shown});
  }

  const Paths& paths_;
  std::size_t left_ = values_max;
  bool cut_ = false;
};

}  // namespace

Json shape_record(const Shape& shape) {
  if (shape.kind == H5S_NULL) return nullptr;
  return shape.dims.empty() ? Json::array() : Json(shape.dims);
}

Json value_record(const Type& type, const std::byte* memory) { return Reader({}).one(type, memory); }

Json attribute_record(hid_t object, const std::string& attribute, const std::string& object_name, const Paths& paths) {
  const std::string label = object_name + "@" + printable(attribute);
  const Handle id = own(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose, "open", label);
  const Handle file_type = own(H5Aget_type(id.get()), H5Tclose, "read the type of", label);
  const Handle space = own(H5Aget_space(id.get()), H5Sclose, "read the shape of", label);
  const Type type = parse_type(file_type.get(), label);
  const Shape shape = shape_of(space.get(), label);
  const std::uint64_t count = element_count(shape, label);
  Json record{{"name", printable(attribute, 1024)}, {"type", describe(type)}, {"shape", shape_record(shape)}};
  if (product(count, type.memory_size(), label) > attribute_bytes_max || type.has(Type::Kind::time)) {
    record["value"] = nullptr;
    record["cut"] = true;
    return record;
  }
  const Handle memory_type = canonical_memory_type(file_type.get(), label);
  Elements elements(memory_type.get(), type.memory_size(), type.is_variable());
  elements.resize(count);
  if (count > 0) checked(H5Aread(id.get(), memory_type.get(), elements.data()), "read", label);
  Reader reader(paths);
  Json value =
      count == 0 ? (shape.kind == H5S_NULL ? Json(nullptr) : Json::array()) : reader.list(type, elements.data(), count);
  if (shape.kind == H5S_SCALAR) value = value.at(0).is_null() ? Json(nullptr) : Json(value.at(0));
  record["value"] = std::move(value);
  record["cut"] = reader.cut();
  return record;
}

}  // namespace sabath::h5
