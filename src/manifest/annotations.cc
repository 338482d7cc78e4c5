#include "manifest/annotations.h"

#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "manifest/tree_node.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

struct Algorithm {
  std::string_view name;
  std::uint8_t bit;
  std::size_t size_bytes;
  std::string Checksums::*value;
};

constexpr std::array<Algorithm, 3> algorithms{
    {{"md5", 1, 16, &Checksums::md5}, {"sha1", 2, 20, &Checksums::sha1}, {"sha256", 4, 32, &Checksums::sha256}}};
constexpr std::size_t path_size_max = 4095;

std::string unhex(const Algorithm& algorithm, std::string_view hex) {
  const auto digit = [&](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    throw Error(FailureKind::invalid, fmt::format("\"{}\" is not a {}", printable(hex), algorithm.name),
                "checksums are lower-case hexadecimal digits");
  };
  if (hex.size() != 2 * algorithm.size_bytes) digit('?');
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
  for (const Algorithm& algorithm : algorithms) {
    const std::string& hex = checksums.*algorithm.value;
    if (hex.empty()) continue;
    which |= algorithm.bit;
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
    if (which == 0 || which > 7) wire::refuse("an annotation has unknown checksums or none");
    Checksums checksums;
    for (const Algorithm& algorithm : algorithms) {
      if (which & algorithm.bit) checksums.*algorithm.value = hex_of(in.take(algorithm.size_bytes));
    }
    visit(path, checksums);
    before = path;
  }
}

}  // namespace sabath
