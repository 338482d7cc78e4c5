#include "manifest/annotations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/json_reader.h"
#include "base/text.h"
#include "manifest/tree_node.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 6> names_by_bit{"md5", "sha1", "sha256", "sha224", "sha384", "sha512"};
constexpr std::size_t path_size_max = 4095;
constexpr std::uint8_t note_mark = 0x80;  // stands where the kinds of checksums stand

std::string unhex(const ChecksumAlgorithm& algorithm, std::string_view hex) {
  const auto digit = [&](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    throw Error(FailureKind::invalid, fmt::format("\"{}\" is not a {}", printable(hex), algorithm.name),
                "checksums are lower-case hexadecimal digits");
  };
  if (hex.size() != algorithm.digits) digit('?');
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

std::string hex_of(std::string_view bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string encode_checksums(const Checksums& checksums) {
  std::uint8_t which = 0;
  std::string values;
  for (std::size_t bit = 0; bit < names_by_bit.size(); ++bit) {
    const ChecksumAlgorithm& algorithm = *find_checksum_algorithm(names_by_bit[bit]);
    const std::string& hex = checksums.*algorithm.value;
    if (hex.empty()) continue;
    which = static_cast<std::uint8_t>(which | 1U << bit);
    values += unhex(algorithm, hex);
  }
  return static_cast<char>(which) + values;
}

void put_annotation(std::string& out, std::string_view path, std::string_view encoded) {
  wire::put_text(out, path);
  out.append(encoded);
}

void check_note(std::string_view note) {
  using Json = nlohmann::json;
  if (note.size() > note_size_max) wire::refuse("its note is too long");
  (void)parse_json(note, "the note of a manifest", {.size_max = note_size_max});  // depth, duplicate keys, UTF-8
  bool whole = true;
  const Json json = Json::parse(note, [&](int, Json::parse_event_t, const Json& value) {
    whole = whole && !value.is_number_float();
    return true;
  });
  if (!json.is_object() || !whole || json.dump() != note) wire::refuse("its note is no object in canonical form");
}

void put_note(std::string& out, std::string_view note) {
  wire::put_text(out, "");
  wire::put(out, note_mark);
  wire::put(out, static_cast<std::uint32_t>(note.size()));
  out.append(note);
}

namespace {

std::string_view take_note(wire::Reader& in) {
  const std::string_view note = in.take(in.get<std::uint32_t>());
  if (note.empty() || note.size() > note_size_max) wire::refuse("its note is empty, or too long");
  return note;
}

}  // namespace

std::string_view first_note(std::string_view bytes) {
  wire::Reader in(bytes);
  if (in.left() == 0 || !in.text(path_size_max).empty() || in.get<std::uint8_t>() != note_mark) return {};
  return take_note(in);
}

std::string_view parse_annotations(std::string_view bytes,
                                   const std::function<void(std::string_view, const Checksums&)>& visit) {
  wire::Reader in(bytes);
  std::string_view before, note;
  while (in.left() > 0) {
    const std::string_view path = in.text(path_size_max);
    const auto which = in.get<std::uint8_t>();
    if (path.empty() && which == note_mark && before.empty() && note.empty()) {
      note = take_note(in);
      continue;
    }
    if (path.empty() || (!before.empty() && !tree_order_less(before, path))) {
      wire::refuse("its annotations are not sorted, or one appears twice");
    }
    if (which == 0 || which >> names_by_bit.size() != 0) wire::refuse("an annotation has unknown checksums or none");
    Checksums checksums;
    for (std::size_t bit = 0; bit < names_by_bit.size(); ++bit) {
      const ChecksumAlgorithm& algorithm = *find_checksum_algorithm(names_by_bit[bit]);
      if ((which >> bit & 1) != 0) checksums.*algorithm.value = hex_of(in.take(algorithm.digits / 2));
    }
    visit(path, checksums);
    before = path;
  }
  return note;
}

}  // namespace sabath
