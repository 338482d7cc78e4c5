#include "base/metalink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hmac.h"
#include "base/text.h"
#include "base/xml.h"
#include "sabath/digest.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t priority_last = 999'999;
constexpr XmlLimits limits = {256UL << 20, 16, 5'000'000};  // an element takes some 130 bytes of memory
constexpr std::string_view name_space = "urn:ietf:params:xml:ns:metalink";
constexpr std::array<std::string_view, 4> spoken = {"https", "http", "ftp", "ftps"};

[[noreturn]] void refuse(const Url& source, const std::string& why) {
  throw Error(FailureKind::invalid, fmt::format("the metalink {} is refused: {}", source.display(), why));
}

// An unreadable list is a bad list, from any source.
XmlElement document_of(std::string_view text, const Url& source) {
  try {
    return parse_xml(text, limits);
  } catch (const Error& error) {
    refuse(source, error.failure().message);
  }
}

std::uint64_t number(const std::string& text, const Url& source) {
  const std::string_view digits = trim(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    refuse(source, fmt::format("\"{}\" is no number", printable(digits)));
  return value;
}

std::string digits_of(const ChecksumAlgorithm& algorithm, const std::string& text, const Url& source) {
  std::string hex = to_lower(trim(text));
  if (!algorithm.spells(hex)) refuse(source, fmt::format("\"{}\" is no {}", printable(hex), algorithm.iana));
  return hex;
}

void take_hash(const XmlElement& element, ListedFile& file, const Url& source) {
  const std::string type = to_lower(element.attribute("type"));
  const ChecksumAlgorithm* algorithm = find_checksum_algorithm(type);
  if (algorithm == nullptr) {
    file.unchecked = type.empty() ? "a hash without a type" : type;
    return;
  }
  std::string& sum = file.checksum.*algorithm->value;
  const std::string hex = digits_of(*algorithm, element.text, source);
  if (!sum.empty() && sum != hex)
    refuse(source, fmt::format("\"{}\" has two different {}", file.path.text(), algorithm->iana));
  sum = hex;
}

void take_pieces(const XmlElement& pieces, ListedFile& file, const Url& source) {
  const std::uint64_t length = number(pieces.attribute("length"), source);
  if (length == 0) refuse(source, "pieces of no bytes");
  std::uint64_t count = 0;
  const ChecksumAlgorithm* algorithm = find_checksum_algorithm(to_lower(pieces.attribute("type")));
  PieceHashes found{std::string(algorithm == nullptr ? "" : algorithm->name), length, {}};
  for (const XmlElement& hash : pieces.children) {
    if (hash.name != "hash") continue;
    ++count;
    if (algorithm != nullptr) found.hex += digits_of(*algorithm, hash.text, source);
  }
  const auto& size = file.size_bytes;
  if (size && count != *size / length + (*size % length != 0 ? 1 : 0))
    refuse(source, fmt::format("{} pieces of {} bytes are not {} bytes", count, length, *size));
  const auto strength = [](const PieceHashes& each) {
    const ChecksumAlgorithm* known = find_checksum_algorithm(each.algorithm);
    return known == nullptr ? 0 : known->digits;
  };
  if (size && strength(found) > strength(file.pieces)) file.pieces = std::move(found);
}

struct Preferred {
  std::uint64_t priority;
  Url url;
};

void add_url(std::vector<Preferred>& urls, const XmlElement& element, const Url& source) {
  const std::string text(trim(element.text));
  const auto url = Url::try_parse(text);
  if (!url) refuse(source, fmt::format("\"{}\" is no URL", printable_url(text)));
  if (url->scheme() == "file" && source.scheme() != "file") refuse(source, "it names a file of this machine");
  const bool local = url->scheme() == "file" || url->scheme() == source.scheme();
  if (!local && std::ranges::find(spoken, url->scheme()) == spoken.end()) return;
  const std::string priority = element.attribute("priority");
  urls.push_back({priority.empty() ? priority_last : number(priority, source), *url});
}

ListedFile read_file(const XmlElement& element, const Url& source) {
  const std::string name = element.attribute("name");
  auto path = RelativePath::try_parse(name);
  if (!path) refuse(source, fmt::format("no file may be called \"{}\"", printable(name)));
  ListedFile file{std::move(*path), {}, std::nullopt, {}};
  if (const XmlElement* size = element.find("size")) file.size_bytes = number(size->text, source);
  std::vector<Preferred> urls;
  for (const XmlElement& child : element.children) {
    if (child.name == "url") add_url(urls, child, source);
    if (child.name == "pieces") take_pieces(child, file, source);
    if (child.name == "hash") take_hash(child, file, source);
  }
  if (urls.empty()) refuse(source, fmt::format("\"{}\" has no source that can be read here", file.path.text()));
  std::ranges::stable_sort(urls, {}, &Preferred::priority);
  for (auto& preferred : urls) file.urls.push_back(std::move(preferred.url));
  return file;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

bool is_metalink(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = trim(text.substr(0, 4096));
  return text.starts_with('<') && text.find("<metalink") != text.npos;
}

std::vector<ListedFile> parse_metalink(std::string_view text, const Url& source) {
  const XmlElement root = document_of(text, source);
  if (root.name != "metalink" || root.attribute("xmlns") != name_space) {
    throw Error(FailureKind::unavailable, fmt::format("{} is no metalink of version 4 (RFC 5854)", source.display()));
  }
  std::vector<ListedFile> files;
  for (const XmlElement& child : root.children) {
    if (child.name != "file") continue;
    if (files.size() >= listed_files_max) refuse(source, fmt::format("more than {} files", listed_files_max));
    files.push_back(read_file(child, source));
  }
  if (files.empty()) refuse(source, "it names no file");
  return files;
}

std::string write_metalink(const std::vector<ListedFile>& files, std::string_view generator) {
  std::string text =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metalink xmlns=\"{}\">\n  <generator>{}</generator>\n",
                  name_space, escaped(generator));
  for (const auto& file : files) {
    if (file.urls.empty())
      throw Error(FailureKind::usage, fmt::format("{} has no URL that a metalink could name", file.path.text()));
    text += fmt::format("  <file name=\"{}\">\n", escaped(file.path.text()));
    if (file.size_bytes) text += fmt::format("    <size>{}</size>\n", *file.size_bytes);
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = file.checksum.*algorithm.value;
      if (!hex.empty()) text += fmt::format("    <hash type=\"{}\">{}</hash>\n", algorithm.iana, hex);
    }
    for (std::size_t i = 0; i < file.urls.size(); ++i)
      text += fmt::format("    <url priority=\"{}\">{}</url>\n", i + 1, escaped(file.urls[i].text()));
    text += "  </file>\n";
  }
  return text + "</metalink>\n";
}

std::string write_links(const std::vector<ListedFile>& files) {
  std::string text;
  for (const auto& file : files) {
    text += printable(file.path.text(), UINT16_MAX) + "\n";
    if (const auto sha256 = Sha256::try_parse(file.checksum.sha256)) {
      const auto& bytes = sha256->bytes();
      text +=
          fmt::format("Digest: SHA-256={}\n", to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    for (std::size_t i = 0; i < file.urls.size(); ++i)
      text += fmt::format("Link: <{}>; rel=duplicate; pri={}\n", file.urls[i].text(), i + 1);
    text += "\n";
  }
  return text;
}

}  // namespace sabath
