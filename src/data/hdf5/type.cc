#include "hdf5/type.h"

#include <algorithm>
#include <cstring>

#include "hdf5/source.h"

namespace sabath::h5 {
namespace {

constexpr std::size_t nesting_max = 16;
constexpr int members_max = 4096;

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw Error(FailureKind::invalid, "cannot read the type of " + std::string(name) + ": " + std::string(what),
              "the file may be damaged or hostile: do not trust it");
}

std::string taken(char* text) {  // what HDF5 allocated, as ours
  const std::string result = text == nullptr ? "" : text;
  H5free_memory(text);
  return result;
}

class Parser {
 public:
  explicit Parser(std::string_view name) : name_(name) {}

  Type parse(hid_t id, std::size_t depth = 0) {
    if (depth > nesting_max) refuse(name_, "types within each other go too deep");
    Type type;
    type.size = H5Tget_size(id);
    if (type.size == 0) throw_failure("read the type of", name_);
    switch (H5Tget_class(id)) {
      case H5T_INTEGER:
        return number(std::move(type), Type::Kind::integer, id);
      case H5T_FLOAT:
        return number(std::move(type), Type::Kind::floating, id);
      case H5T_BITFIELD:
        return number(std::move(type), Type::Kind::bits, id);
      case H5T_OPAQUE:
        type.kind = Type::Kind::opaque;
        type.tag = taken(H5Tget_tag(id));
        return type;
      case H5T_STRING:
        type.kind = Type::Kind::string;
        type.variable = checked(H5Tis_variable_str(id), "read the type of", name_) > 0;
        type.utf8 = H5Tget_cset(id) == H5T_CSET_UTF8;
        return type;
      case H5T_REFERENCE:
        type.kind = H5Tequal(id, H5T_STD_REF_OBJ) > 0 ? Type::Kind::object : Type::Kind::region;
        return type;
      case H5T_ENUM:
        return enumeration(std::move(type), id, depth);
      case H5T_COMPOUND:
        return compound(std::move(type), id, depth);
      case H5T_ARRAY:
        return array(std::move(type), id, depth);
      case H5T_VLEN:
        type.kind = Type::Kind::vlen;
        type.base.push_back(parse(super(id).get(), depth + 1));
        return type;
      case H5T_TIME:
        type.kind = Type::Kind::time;
        return type;
      default:
        throw_failure("read the type of", name_);
    }
  }

 private:
  Handle super(hid_t id) { return own(H5Tget_super(id), H5Tclose, "read the type of", name_); }

  Type number(Type type, Type::Kind kind, hid_t id) {
    type.kind = kind;
    type.big_endian = H5Tget_order(id) == H5T_ORDER_BE;
    type.precision = H5Tget_precision(id);
    if (kind == Type::Kind::integer) type.is_signed = H5Tget_sign(id) == H5T_SGN_2;
    if (kind != Type::Kind::floating) return type;
    std::array<std::size_t, 8>& f = type.fields;
    checked(H5Tget_fields(id, &f[1], &f[2], &f[3], &f[4], &f[5]), "read the type of", name_);
    f[0] = static_cast<std::size_t>(H5Tget_offset(id));
    f[6] = H5Tget_ebias(id);
    f[7] = static_cast<std::size_t>(H5Tget_norm(id));
    return type;
  }

  int members(hid_t id) {
    const int count = checked(H5Tget_nmembers(id), "read the type of", name_);
    if (count > members_max) refuse(name_, "it has too many members");
    return count;
  }

  Type enumeration(Type type, hid_t id, std::size_t depth) {
    type.kind = Type::Kind::enumeration;
    const Handle base = super(id);
    type.base.push_back(parse(base.get(), depth + 1));
    if (type.base[0].kind != Type::Kind::integer || type.size > 8) refuse(name_, "an enumeration of no integers");
    const int count = members(id);
    for (int i = 0; i < count; ++i) {
      Type::Member member{taken(H5Tget_member_name(id, static_cast<unsigned>(i))), 0};
      std::uint64_t value[2]{};
      checked(H5Tget_member_value(id, static_cast<unsigned>(i), value), "read the type of", name_);
      const hid_t whole = type.base[0].is_signed ? H5T_STD_I64LE : H5T_STD_U64LE;
      checked(H5Tconvert(base.get(), whole, 1, value, nullptr, H5P_DEFAULT), "read the type of", name_);
      member.value = value[0];
      type.members.push_back(std::move(member));
    }
    std::ranges::sort(type.members, [](const Type::Member& a, const Type::Member& b) {
      return a.value != b.value ? a.value < b.value : a.name < b.name;
    });
    return type;
  }

  Type compound(Type type, hid_t id, std::size_t depth) {
    type.kind = Type::Kind::compound;
    const int count = members(id);
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<unsigned>(i);
      type.members.push_back({taken(H5Tget_member_name(id, index)), 0});
      const Handle member = own(H5Tget_member_type(id, index), H5Tclose, "read the type of", name_);
      if (++nested_ > members_max) refuse(name_, "it has too many members");
      type.base.push_back(parse(member.get(), depth + 1));
    }
    return type;
  }

  Type array(Type type, hid_t id, std::size_t depth) {
    type.kind = Type::Kind::array;
    hsize_t dims[rank_max];
    const int rank = checked(H5Tget_array_dims2(id, dims), "read the type of", name_);
    type.dims.assign(dims, dims + rank);
    type.base.push_back(parse(super(id).get(), depth + 1));
    std::uint64_t bytes = type.base[0].memory_size();
    for (const std::uint64_t extent : type.dims) bytes = product(bytes, extent, name_);
    if (bytes > (1U << 30)) refuse(name_, "an element is larger than 1 GiB");
    return type;
  }

  std::string_view name_;
  int nested_ = 0;
};

Handle copy(hid_t id, std::string_view name) { return own(H5Tcopy(id), H5Tclose, "copy the type of", name); }

Handle packed_compound(hid_t id, std::string_view name) {
  std::vector<std::pair<std::string, Handle>> members;
  std::size_t size = 0;
  const int count = checked(H5Tget_nmembers(id), "read the type of", name);
  members.reserve(static_cast<std::size_t>(count));
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    const Handle member = own(H5Tget_member_type(id, i), H5Tclose, "read the type of", name);
    Handle memory = canonical_memory_type(member.get(), name);
    size += H5Tget_size(memory.get());
    members.emplace_back(taken(H5Tget_member_name(id, i)), std::move(memory));
  }
  Handle type = own(H5Tcreate(H5T_COMPOUND, size), H5Tclose, "make the type of", name);
  std::size_t offset = 0;
  for (const auto& [member_name, memory] : members) {
    checked(H5Tinsert(type.get(), member_name.c_str(), offset, memory.get()), "make the type of", name);
    offset += H5Tget_size(memory.get());
  }
  return type;
}

Handle whole_integer(hid_t id, std::string_view name) {
  const bool bits = H5Tget_class(id) == H5T_BITFIELD;
  const std::size_t size = H5Tget_size(id);
  Handle type = copy(bits ? H5T_STD_B8LE : H5T_STD_I8LE, name);
  checked(H5Tset_size(type.get(), size), "make the type of", name);
  checked(H5Tset_precision(type.get(), 8 * size), "make the type of", name);
  if (!bits) checked(H5Tset_sign(type.get(), H5Tget_sign(id)), "make the type of", name);
  return type;
}

}  // namespace

Type parse_type(hid_t type, std::string_view name) { return Parser(name).parse(type); }

Handle canonical_memory_type(hid_t id, std::string_view name) {
  switch (H5Tget_class(id)) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
      return whole_integer(id, name);
    case H5T_FLOAT: {
      Handle type = copy(id, name);
      checked(H5Tset_order(type.get(), H5T_ORDER_LE), "make the type of", name);
      return type;
    }
    case H5T_ENUM:
      return whole_integer(own(H5Tget_super(id), H5Tclose, "read the type of", name).get(), name);
    case H5T_STRING: {
      Handle type = copy(id, name);
      if (H5Tis_variable_str(id) == 0) checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "make the type of", name);
      return type;
    }
    case H5T_COMPOUND:
      return packed_compound(id, name);
    case H5T_ARRAY: {
      hsize_t dims[rank_max];
      const int rank = checked(H5Tget_array_dims2(id, dims), "read the type of", name);
      const Handle base = own(H5Tget_super(id), H5Tclose, "read the type of", name);
      return own(H5Tarray_create2(canonical_memory_type(base.get(), name).get(), static_cast<unsigned>(rank), dims),
                 H5Tclose, "make the type of", name);
    }
    case H5T_VLEN: {
      const Handle base = own(H5Tget_super(id), H5Tclose, "read the type of", name);
      return own(H5Tvlen_create(canonical_memory_type(base.get(), name).get()), H5Tclose, "make the type of", name);
    }
    default:
      return copy(id, name);
  }
}

}  // namespace sabath::h5
