#include "resolvers/bag.h"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/text.h"
#include "resolvers/directory.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::size_t bag_line_length_max = 16 * 1024;
constexpr std::size_t manifest_max = 1UL << 30;
constexpr std::size_t description_max = 16UL << 20;  // bagit.txt and bag-info.txt are for people

[[noreturn]] void refuse(const Url& source, std::size_t line, const std::string& why) {
  throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", source.display(), line, why));
}

// Calls take(line, number) for each line that is not blank. Lines end by LF, CR or both.
template <typename Take>
void each_bag_line(std::string_view text, const Url& source, Take take) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (end > bag_line_length_max) refuse(source, number, "a line that is too long");
    if (const std::string_view line = text.substr(0, end); !trim(line).empty()) take(line, number);
    const bool both = text.substr(std::min(end, text.size()), 2) == "\r\n";
    text.remove_prefix(std::min(end + (both ? 2 : 1), text.size()));
  }
}

std::string_view take_bag_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t", word.size()), rest.size()));
  return word;
}

struct Converter {
  iconv_t state;
  explicit Converter(const std::string& encoding) : state(::iconv_open("UTF-8", encoding.c_str())) {}
  ~Converter() {
    if (known()) ::iconv_close(state);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  [[nodiscard]] bool known() const { return state != reinterpret_cast<iconv_t>(-1); }
};

// A tag file as the bag declares it to be encoded, as UTF-8.
std::string decoded(std::string text, const std::string& encoding, const Url& source) {
  if (encoding == "utf-8") return text;
  Converter converter(encoding);
  if (!converter.known()) refuse(source, 1, fmt::format("this system cannot read {}", printable(encoding)));
  std::string result;
  std::array<char, 4096> piece;
  char* in = text.data();
  for (std::size_t left = text.size();;) {
    char* out = piece.data();
    std::size_t room = piece.size();
    // Without input at the end: what an encoding with states still holds.
    const bool flush = left == 0;
    const auto done = ::iconv(converter.state, flush ? nullptr : &in, flush ? nullptr : &left, &out, &room);
    result.append(piece.data(), piece.size() - room);
    if (done == static_cast<std::size_t>(-1) && errno != E2BIG)
      refuse(source, 1, fmt::format("it is not in {}, as the bag's bagit.txt says", printable(encoding)));
    if (flush && done != static_cast<std::size_t>(-1)) return result;
  }
}

// "%0A", "%0D" and "%25" are the only escapes; some writers put "./" before a path.
RelativePath take_path(std::string_view text, const Url& source, std::size_t line) {
  std::string plain;
  if (text.starts_with("./")) text.remove_prefix(2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string code = to_lower(text.substr(i, 3));
    const char c = code == "%0a" ? '\n' : code == "%0d" ? '\r' : code == "%25" ? '%' : '\0';
    plain += c == '\0' ? text[i] : c;
    if (c != '\0') i += 2;
  }
  auto path = RelativePath::try_parse(plain);
  if (!path) refuse(source, line, fmt::format("no file may be called \"{}\"", printable(plain)));
  return std::move(*path);
}

class BagReader {
 public:
  BagReader(const Url& declaration, Inquiry& inquiry)
      : declaration_(declaration), top_(declaration.resolve(".")), inquiry_(inquiry) {}

  Listing read() {
    const auto text = inquiry_.document(declaration_, description_max);
    if (!text) throw Error(FailureKind::unavailable, fmt::format("there is no {}", declaration_.display()));
    encoding_ = parse_bag_declaration(*text, declaration_).encoding;
    read_manifests("manifest", true);
    if (files_.empty()) refuse_unknown_sums();
    check_number();
    read_manifests("tagmanifest", false);
    add(RelativePath::parse("bagit.txt"));
    read_fetch();
    Listing listing;
    listing.over_tls = top_.scheme() == "https" || top_.scheme() == "sftp";
    for (auto& [path, file] : files_) listing.files.push_back(std::move(file));
    return listing;
  }

 private:
  void read_manifests(const char* kind, bool payload) {
    for (const ChecksumAlgorithm& algorithm : checksum_algorithms) {
      const auto name = RelativePath::parse(fmt::format("{}-{}.txt", kind, algorithm.name));
      const Url url = child_of(top_, name.text());
      const auto text = tag_file(url, manifest_max);
      if (!text) continue;
      for (auto& [path, hex] : parse_bag_manifest(*text, algorithm, url)) {
        if (path.text().starts_with("data/") != payload)
          refuse(url, 1, fmt::format("{} does not belong there", printable(path.text())));
        std::string& sum = add(path).checksum.*algorithm.value;
        if (!sum.empty() && sum != hex) refuse(url, 1, fmt::format("{} appears twice", printable(path.text())));
        sum = hex;
        if (!payload) note_unchecked(path.text());
      }
      add(name);
      if (payload) ++manifests_;
    }
  }

  std::optional<std::string> tag_file(const Url& url, std::size_t size_max) {
    auto text = inquiry_.document(url, size_max);
    if (text) text = decoded(std::move(*text), encoding_, url);
    return text;
  }

  // "manifest-blake2b.txt": what it says of the payload is not checked.
  void note_unchecked(const std::string& name) {
    constexpr std::string_view prefix = "manifest-", suffix = ".txt";
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return;
    const std::string algorithm = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (find_checksum_algorithm(algorithm) == nullptr) files_.at(name).unchecked = algorithm;
  }

  void check_number() {
    const Url url = child_of(top_, "bag-info.txt");
    const auto text = tag_file(url, description_max);
    if (!text) return;
    const std::uint64_t payload = files_.size() - manifests_;
    const auto said = parse_bag_files(*text, url);
    if (said && *said != payload)
      refuse(url, 1, fmt::format("Payload-Oxum counts {} files, and the manifests {}", *said, payload));
    add(RelativePath::parse("bag-info.txt"));
  }

  void read_fetch() {
    const auto name = RelativePath::parse("fetch.txt");
    const Url url = child_of(top_, name.text());
    const auto text = tag_file(url, manifest_max);
    if (!text) return;
    add(name);
    for (auto& one : parse_bag_fetch(*text, url)) {
      const auto found = files_.find(one.path.text());
      if (found == files_.end() || !one.path.text().starts_with("data/"))
        refuse(url, 1, fmt::format("{} is in no manifest", printable(one.path.text())));
      found->second.urls = {std::move(one.url)};
      found->second.size_bytes = one.size_bytes;
    }
  }

  ListedFile& add(const RelativePath& path) {
    const auto [at, is_new] =
        files_.try_emplace(path.text(), ListedFile{path, {child_of(top_, path.text())}, std::nullopt, Checksums{}});
    if (is_new && files_.size() > listed_files_max) refuse(declaration_, 1, "the bag holds too many files");
    return at->second;
  }

  [[noreturn]] void refuse_unknown_sums() const {
    throw Error(FailureKind::unavailable,
                fmt::format("the bag {} has no manifest-sha512.txt or manifest-sha256.txt", top_.display()),
                "sha512, sha384, sha256, sha224, sha1 and md5 can be checked; write one more manifest, by "
                "`bagit.py --sha512` or the like");
  }

  const Url& declaration_;
  const Url top_;
  Inquiry& inquiry_;
  std::map<std::string, ListedFile> files_;
  std::size_t manifests_ = 0;
  std::string encoding_;
};

class Bag : public Resolver {
 public:
  bool lists(const Url& url) const override { return url.file_name() == "bagit.txt"; }
  Listing resolve(const Url& url, Inquiry& inquiry) override { return BagReader(url, inquiry).read(); }
};

}  // namespace

BagDeclaration parse_bag_declaration(std::string_view text, const Url& source) {
  BagDeclaration declaration;
  each_bag_line(text, source, [&](std::string_view line, std::size_t number) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string name = to_lower(trim(line.substr(0, colon)));
    const std::string value(trim(line.substr(std::min(colon + 1, line.size()))));
    if (name == "bagit-version") declaration.version = value;
    if (name != "tag-file-character-encoding") return;
    declaration.encoding = to_lower(value);
    const bool plain =
        declaration.encoding.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.:+") == value.npos;
    if (value.empty() || value.size() > 64 || !plain)
      refuse(source, number, fmt::format("\"{}\" is no name of an encoding", printable(value)));
    if (declaration.encoding == "utf8") declaration.encoding = "utf-8";
  });
  const bool known = declaration.version.starts_with("1.") || declaration.version.starts_with("0.9");
  if (!known) refuse(source, 1, fmt::format("\"{}\" is no version of BagIt", printable(declaration.version)));
  return declaration;
}

std::vector<BagSum> parse_bag_manifest(std::string_view text, const ChecksumAlgorithm& algorithm, const Url& source) {
  std::vector<BagSum> sums;
  each_bag_line(text, source, [&](std::string_view line, std::size_t number) {
    std::string_view rest = line;
    std::string hex = to_lower(take_bag_word(rest));
    if (!algorithm.spells(hex)) refuse(source, number, fmt::format("no {}", algorithm.name));
    if (rest.starts_with('*')) rest.remove_prefix(1);  // md5sum's mark of binary files
    if (sums.size() >= listed_files_max) refuse(source, number, "too many files");
    sums.push_back({take_path(rest, source, number), std::move(hex)});
  });
  return sums;
}

std::vector<BagFetch> parse_bag_fetch(std::string_view text, const Url& source) {
  std::vector<BagFetch> fetches;
  each_bag_line(text, source, [&](std::string_view line, std::size_t number) {
    std::string_view rest = line;
    const auto url = Url::try_parse(take_bag_word(rest));
    if (!url) refuse(source, number, "no URL");
    if (url->scheme() == "file" && source.scheme() != "file") refuse(source, number, "it names a file of this machine");
    const std::string_view length = take_bag_word(rest);
    const auto size = try_whole_number(length);
    if (!size && length != "-") refuse(source, number, "no length");
    fetches.push_back({take_path(rest, source, number), *url, size});
  });
  return fetches;
}

std::optional<std::uint64_t> parse_bag_files(std::string_view text, const Url& source) {
  std::optional<std::uint64_t> files;
  each_bag_line(text, source, [&](std::string_view line, std::size_t number) {
    if (!to_lower(line).starts_with("payload-oxum:")) return;
    const std::size_t dot = line.find('.');
    files = dot == line.npos ? std::nullopt : try_whole_number(trim(line.substr(dot + 1)));
    if (!files) refuse(source, number, "Payload-Oxum is OCTETS.FILES");
  });
  return files;
}

// A bag may be read by any protocol.
void add_bag(KnownFetchers& set, const FetcherParts& /*parts*/) { set.add_for_all(std::make_unique<Bag>()); }

}  // namespace sabath
