#include "s3/listing.h"

#include <charconv>
#include <system_error>

#include "base/xml.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath::s3 {
namespace {

constexpr std::size_t key_size_max = 1024;  // S3's own bound

[[noreturn]] void fail(const std::string& why) {
  throw Error(FailureKind::invalid, "the listing of the bucket is refused: " + why);
}

std::string checked_key(const std::string& text, bool is_encoded) {
  std::string plain = text;
  if (is_encoded) {  // like a form: '+' is a blank
    for (char& c : plain) c = c == '+' ? ' ' : c;
    plain = percent_decode(plain);
  }
  if (plain.empty() || plain.size() > key_size_max || plain.find('\0') != plain.npos) {
    fail("a key cannot be '" + printable(plain) + "'");
  }
  return plain;
}

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size()) fail("a size cannot be '" + printable(text) + "'");
  return size;
}

}  // namespace

Fields list_query(const std::string& prefix, const std::string& delimiter, const std::string& next) {
  Fields query = {{"list-type", "2"}, {"encoding-type", "url"}};  // XML cannot hold every byte that a key may
  if (!prefix.empty()) query.emplace_back("prefix", prefix);
  if (!delimiter.empty()) query.emplace_back("delimiter", delimiter);
  if (!next.empty()) query.emplace_back("continuation-token", next);
  return query;
}

ListPage parse_list_page(std::string_view body) {
  const XmlElement root = parse_xml(body);
  if (root.name != "ListBucketResult") fail("it is a " + printable(root.name));
  const bool is_encoded = root.text_of("EncodingType") == "url";
  ListPage page;
  for (const XmlElement& child : root.children) {
    if (child.name == "Contents") {
      page.objects.push_back({.key = checked_key(child.text_of("Key"), is_encoded),
                              .size_bytes = parse_size(child.text_of("Size")),
                              .etag = child.text_of("ETag"),
                              .modified = child.text_of("LastModified")});
    } else if (child.name == "CommonPrefixes") {
      page.prefixes.push_back(checked_key(child.text_of("Prefix"), is_encoded));
    }
  }
  if (root.text_of("IsTruncated") == "true") {
    page.next = root.text_of("NextContinuationToken");
    if (page.next.empty()) fail("there is more, but nothing to ask for it by");
  }
  return page;
}

}  // namespace sabath::s3
