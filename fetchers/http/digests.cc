#include "http/digests.h"

#include <algorithm>
#include <string>

#include "base/hmac.h"
#include "base/text.h"
#include "sabath/digest.h"

namespace sabath {

Checksums parse_digests(std::string_view fields) {
  Checksums sums;
  while (!fields.empty()) {
    const std::string_view one = trim(fields.substr(0, fields.find(',')));
    fields.remove_prefix(std::min(fields.find(','), fields.size() - 1) + 1);
    const std::size_t equals = std::min(one.find('='), one.size());
    const ChecksumAlgorithm* algorithm = find_checksum_algorithm(to_lower(one.substr(0, equals)));
    if (algorithm == nullptr || !algorithm->name.starts_with("sha") || algorithm->name == "sha1") continue;
    std::string_view base64 = one.substr(std::min(equals + 1, one.size()));
    if (base64.starts_with(':') && base64.ends_with(':') && base64.size() > 1)
      base64 = base64.substr(1, base64.size() - 2);
    const auto bytes = try_from_base64(std::string(base64));
    if (!bytes) continue;
    std::string hex = to_hex({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
    if (algorithm->spells(hex)) sums.*algorithm->value = std::move(hex);
  }
  return sums;
}

Checksums parse_hub_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() > 1 && etag.starts_with('"') && etag.ends_with('"')) etag = etag.substr(1, etag.size() - 2);
  Checksums sums;
  if (find_checksum_algorithm("sha256")->spells(etag)) sums.sha256 = etag;
  if (git_blob.spells(etag)) sums.git = etag;
  return sums;
}

}  // namespace sabath
