#include "manifest/annotations.h"

#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "manifest/tree_node.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 6> names_by_bit{"md5", "sha1", "sha256", "sha224", "sha384", "sha512"};
constexpr std::size_t path_size_max = 4095;

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

void parse_annotations(std::string_view bytes, const std::function<void(std::string_view, const Checksums&)>& visit) {
  wire::Reader in(bytes);
  std::string_view before;
  while (in.left() > 0) {
    const std::string_view path = in.text(path_size_max);
    if (path.empty() || (!before.empty() && !tree_order_less(before, path))) {
      wire::refuse("its annotations are not sorted, or one stands twice");
    }
    const auto which = in.get<std::uint8_t>();
    if (which == 0 || which >> names_by_bit.size() != 0) wire::refuse("an annotation has unknown checksums or none");
    Checksums checksums;
    for (std::size_t bit = 0; bit < names_by_bit.size(); ++bit) {
      const ChecksumAlgorithm& algorithm = *find_checksum_algorithm(names_by_bit[bit]);
      if ((which >> bit & 1) != 0) checksums.*algorithm.value = hex_of(in.take(algorithm.digits / 2));
    }
    visit(path, checksums);
    before = path;
  }
}

}  // namespace sabath
