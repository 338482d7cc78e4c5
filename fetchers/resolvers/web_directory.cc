// Directories of web servers: http(s)://host/dir/ and patterns below it, by their index pages; dav(s)://host/dir/ by
// WebDAV, whose files are then read by http(s).
#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"
#include "http/document.h"
#include "resolvers/directory.h"
#include "resolvers/index_page.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr const char* properties_wanted =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/>"
    "</prop></propfind>";

constexpr std::string_view html = "text/html";

bool is_dav(const Url& url) { return url.scheme().starts_with("dav"); }

class WebDirectory : public Resolver {
 public:
  explicit WebDirectory(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  bool lists(const Url& url) const override { return names_directory(url); }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    Listing listing;
    listing.over_tls = true;
    const bool dav = is_dav(url);
    // dav://host is http://host, as davs is https.
    const Url plain = dav ? Url::parse("http" + url.text().substr(3)).named_by(url.namer()) : url;
    const DirectoryPattern at = parse_directory_pattern(plain);
    bool marked = false;  // the server's links to directories end in '/', as far as was seen
    listing.files = walk(at, [&](const Url& directory) {
      const Document page = read(directory, dav, inquiry);
      // Children are named by the URL that the recipe means: rewrite rules come into it again when they are read.
      const bool moved = page.url != inquiry.rewritten(directory);
      listing.over_tls = listing.over_tls && page.url.scheme() == "https";
      DirectoryPage listed{page.names(moved ? page.url : directory), entries(page, dav)};
      const bool says = page.content_type != html || dav;
      marked = marked || says || std::ranges::any_of(listed.entries, &DirectoryEntry::is_directory);
      if (!marked) listed.is_directory = [&](const Url& entry) { return is_directory(entry, inquiry); };
      return listed;
    });
    return listing;
  }

 private:
  // Some servers' links to directories look like those to files, and lead on to the name with a '/'.
  bool is_directory(const Url& url, Inquiry& inquiry) {
    // A server that does not know HEAD has answered, too: it is not asked again.
    const Question question{
        .url = inquiry.rewritten(url), .method = "HEAD", .accept = {200, 400, 401, 403, 404, 405, 410, 500, 501}};
    try {
      std::optional<Document> head;
      inquiry.attempt(question.url,
                      [&](Traffic& traffic) { head = ask(*transport_, question, traffic, inquiry.stop()); });
      return head->status == 200 && percent_decode(head->url.path()) == percent_decode(question.url.path()) + "/";
    } catch (const Error& error) {
      if (inquiry.stop().stop_requested() || error.failure().kind == FailureKind::invalid) throw;
      return false;  // a read of it reports why it cannot be had
    }
  }

  Document read(const Url& directory, bool dav, Inquiry& inquiry) {
    Question question{.url = inquiry.rewritten(directory)};
    if (dav) {
      question.method = "PROPFIND";
      question.headers = {"Depth: 1", "Content-Type: application/xml; charset=utf-8"};
      question.body = properties_wanted;
      question.accept = {207};
    } else {
      question.accept = {200};
    }
    std::optional<Document> document;
    inquiry.attempt(question.url,
                    [&](Traffic& traffic) { document = ask(*transport_, question, traffic, inquiry.stop()); });
    return std::move(*document);
  }

  static std::vector<DirectoryEntry> entries(const Document& page, bool dav) {
    if (dav) return parse_multistatus(page.body, page.url);
    if (page.content_type == "application/json") return parse_json_index(page.body, page.url);
    if (page.content_type == html || page.content_type == "application/xhtml+xml")
      return parse_html_index(page.body, page.url);
    throw Error(FailureKind::unavailable,
                fmt::format("{} is {}, and no index of a directory", page.url.display(),
                            page.content_type.empty() ? "of no known type" : page.content_type),
                "name its files in a list, or ask whether the server speaks WebDAV: davs://host/dir/");
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

void add_web_directory(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<WebDirectory>(parts.transport), {"http", "https", "dav", "davs"});
}

}  // namespace sabath
