// Lists of checksums on a server: https://host/set/SHA256SUMS is the files that it names, each with its sum; and
// MLCommons' pairs: NAME.uri has the address of the files, and NAME.md5 their sums.
#include <fmt/format.h>

#include "base/checksum_list.h"
#include "base/percent.h"
#include "base/text.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::size_t sums_size_max = 1UL << 30, address_size_max = 16 * 1024;
constexpr std::string_view address_ending = ".uri";

bool is_address(const Url& url) { return url.file_name().ends_with(address_ending) && url.file_name().size() > 4; }

std::string whole_document(const Url& url, std::size_t size_max, Inquiry& inquiry) {
  auto text = inquiry.document(url, size_max);
  if (!text) throw Error(FailureKind::unavailable, fmt::format("there is no {}", url.display()));
  return std::move(*text);
}

class ChecksumLists : public Resolver {
 public:
  bool lists(const Url& url) const override { return names_checksum_list(url) || is_address(url); }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    Url list = url, base = url.resolve(".");
    if (is_address(url)) {
      base = address_in(whole_document(url, address_size_max, inquiry), url);
      const std::string name = url.file_name();
      list = url.resolve("./" + percent_encode(name.substr(0, name.size() - address_ending.size())) + ".md5");
    }
    Listing listing;
    listing.over_tls = list.scheme() == "https" || list.scheme() == "sftp";
    listing.files = parse_checksum_list(whole_document(list, sums_size_max, inquiry), list, base);
    return listing;
  }

 private:
  static Url address_in(const std::string& text, const Url& from) {
    const std::string_view line = trim(text);
    auto base = line.find_first_of(" \t\r\n") == line.npos ? Url::try_parse(line) : std::nullopt;
    if (!base || base->scheme() == "file" || !base->query().empty())
      throw Error(FailureKind::invalid,
                  fmt::format("{}: \"{}\" is no address of files", from.display(), printable(line)));
    return base->path().ends_with('/') ? *base : Url::parse(base->text() + "/");
  }
};

}  // namespace

void add_checksum_lists(KnownFetchers& set, const FetcherParts& /*parts*/) {
  set.add_for_all(std::make_unique<ChecksumLists>());
}

}  // namespace sabath
