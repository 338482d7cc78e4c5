#include "hdf5/elements.h"

#include <algorithm>
#include <cstring>

namespace sabath::h5 {
namespace {

template <typename Value>
Value load(const std::byte* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void append_length(std::uint64_t length, std::string& out) {
  for (int i = 0; i < 8; ++i, length >>= 8) out.push_back(static_cast<char>(length & 0xff));
}

void append_text(std::string_view text, std::string& out) {
  append_length(text.size(), out);
  out += text;
}

}  // namespace

void Elements::resize(std::size_t count) {
  reclaim();
  bytes_.resize(std::max(bytes_.size(), count * size_));
  if (variable_) std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
  count_ = count;
}

void Elements::reclaim() noexcept {
  if (!variable_ || count_ == 0) return;
  const hsize_t extent = count_;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  if (space) H5Dvlen_reclaim(type_, space.get(), H5P_DEFAULT, bytes_.data());
  std::fill(bytes_.begin(), bytes_.end(), std::byte{0});
  count_ = 0;
}

std::string path_of_reference(const std::byte* element, const Paths& paths) {
  const auto address = load<hobj_ref_t>(element);
  if (address == 0 || address == HADDR_UNDEF) return {};
  const auto found = paths.find(address);
  return found == paths.end() ? "?" : found->second;
}

void append_canonical(const Type& type, const std::byte* element, const Paths& paths, std::string& out) {
  switch (type.kind) {
    case Type::Kind::compound:
      for (const Type& member : type.base) {
        append_canonical(member, element, paths, out);
        element += member.memory_size();
      }
      return;
    case Type::Kind::array: {
      const std::size_t size = type.base[0].memory_size();
      for (std::size_t left = size == 0 ? 0 : type.memory_size() / size; left > 0; --left, element += size) {
        append_canonical(type.base[0], element, paths, out);
      }
      return;
    }
    case Type::Kind::vlen: {
      const auto list = load<hvl_t>(element);
      append_length(list.len, out);
      const auto* item = static_cast<const std::byte*>(list.p);
      for (std::size_t i = 0; i < list.len; ++i, item += type.base[0].memory_size()) {
        append_canonical(type.base[0], item, paths, out);
      }
      return;
    }
    case Type::Kind::string:
      if (type.variable) {
        const char* text = load<const char*>(element);
        return append_text(text == nullptr ? "" : text, out);
      }
      break;
    case Type::Kind::object:
      return append_text(path_of_reference(element, paths), out);
    default:
      break;
  }
  out.append(reinterpret_cast<const char*>(element), type.memory_size());
}

}  // namespace sabath::h5
