#include "resolvers/signposting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/glob.h"
#include "base/json_reader.h"
#include "base/percent.h"
#include "base/text.h"
#include "http/document.h"
#include "resolvers/html_tags.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::string_view landing_prefix = "landing+";
constexpr std::size_t page_links_max = 100'000, page_bytes_max = 16UL << 20;
constexpr std::array<std::string_view, 5> relations = {"item", "linkset", "describedby", "cite-as", "license"};

std::optional<Url> try_resolve_link(const Url& page, const std::string& target) {
  try {
    Url url = page.resolve(percent_encode_raw(target));
    if (url.scheme() == "https" || url.scheme() == "http") return url;
  } catch (const Error&) {
    return std::nullopt;  // a link is a hint
  }
  return std::nullopt;
}

Document ask_for(const Url& url, const char* type, Transport& transport, Inquiry& inquiry) {
  const Question question{.url = inquiry.rewritten(url),
                          .headers = {fmt::format("Accept: {}", type)},
                          .size_max = page_bytes_max,
                          .accept = {200}};
  std::optional<Document> document;
  inquiry.attempt(question.url,
                  [&](Traffic& traffic) { document = ask(transport, question, traffic, inquiry.stop()); });
  return std::move(*document);
}

bool is_page(const Document& document) {
  return document.content_type == "text/html" || document.content_type == "application/xhtml+xml";
}

void add_some(std::vector<Link>& all, std::vector<Link> more) {
  for (Link& link : more)
    if (all.size() < page_links_max) all.push_back(std::move(link));
}

// The document in JSON by which the page says to be described.
std::optional<Url> try_describing(const Url& page, const std::vector<Link>& links) {
  for (const Link& link : links) {
    if (!link.is("describedby") || link.type.find("json") == link.type.npos) continue;
    if (auto url = try_resolve_link(page, link.target)) return url;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_without_items(const Url& page, const std::vector<Link>& links) {
  std::string hint = "name its files by their URLs, or a document that describes it: Croissant, DataCite";
  if (const auto url = try_describing(page, links))
    hint = fmt::format("it says that {} describes it: name that", printable(url->display(), 1000));
  throw Error(FailureKind::unavailable,
              fmt::format("the page {} names no files by links (rel=\"item\")", page.display()), hint);
}

struct LandingPage {
  Url where;  // that its author means: rewrite rules come into it again when what it names is read
  std::vector<Link> links;
  bool over_tls = false;
};

LandingPage ask_page(const Url& page, Transport& transport, Inquiry& inquiry) {
  const Document head = ask_for(page, "text/html, */*;q=0.5", transport, inquiry);
  LandingPage landing{.where = head.names(head.url == inquiry.rewritten(page) ? page : head.url),
                      .links = {},
                      .over_tls = head.url.scheme() == "https"};
  for (const std::string& value : head.links) add_some(landing.links, parse_links(value));
  if (is_page(head)) add_some(landing.links, links_of_page(head.body));
  return landing;
}

// Asks the link set that the page names, where the page itself has no link of this relation.
void add_link_set(LandingPage& landing, std::string_view relation, Transport& transport, Inquiry& inquiry) {
  const auto& links = landing.links;
  if (std::ranges::any_of(links, [&](const Link& link) { return link.is(relation); })) return;
  const auto set = std::ranges::find_if(
      links, [](const Link& link) { return link.is("linkset") && link.type.find("json") != link.type.npos; });
  const auto url = set == links.end() ? std::nullopt : try_resolve_link(landing.where, set->target);
  if (!url) return;
  const Document more = ask_for(*url, "application/linkset+json", transport, inquiry);
  landing.over_tls = landing.over_tls && more.url.scheme() == "https";
  add_some(landing.links, parse_link_set(more.body, *url, landing.where));
  landing.where = more.names(landing.where);
}

Url page_of(const Url& url) { return Url::parse(url.text().substr(landing_prefix.size())).named_by(url.namer()); }

class LandingPages : public Resolver {
 public:
  explicit LandingPages(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  bool lists(const Url&) const override { return true; }
  Listing resolve(const Url& url, Inquiry& inquiry) override {
    return read_landing_page(page_of(url), {}, *transport_, inquiry);
  }
  std::optional<SourceDocument> describe(const Url& url, Inquiry& inquiry) override {
    return read_description(page_of(url), *transport_, inquiry);
  }

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace

std::vector<Link> links_of_page(std::string_view html) {
  std::vector<Link> links;
  HtmlTags tags(html);
  for (std::string_view tag; tags.next(tag) && links.size() < page_links_max;) {
    const auto rel = attribute_of(tag, "link", "rel"), href = attribute_of(tag, "link", "href");
    if (!rel || !href) continue;
    const auto type = attribute_of(tag, "link", "type");
    links.push_back({without_references(trim(*href)), to_lower(trim(*rel)), std::string(type.value_or(""))});
  }
  return links;
}

std::vector<Link> parse_link_set(std::string_view json, const Url& source, const Url& page) {
  const std::string origin = source.display();
  const JsonValue document = parse_json(json, origin, {page_bytes_max, 16, 1'000'000});
  JsonObject top(document, origin, "a link set");
  const JsonValue::Array* sets = top.try_array("linkset");
  if (sets == nullptr) top.fail("linkset", "is missing");
  std::vector<Link> links;
  for (const JsonValue& value : *sets) {
    JsonObject set(value, origin, "a set of links");
    const std::string anchor = set.try_text("anchor").value_or("");
    const auto of = anchor.empty() ? std::optional(page) : try_resolve_link(page, anchor);
    if (!of || *of != page) continue;
    for (const std::string_view relation : relations) {
      const JsonValue::Array* targets = set.try_array(relation);
      if (targets == nullptr) continue;
      for (const JsonValue& each : *targets) {
        JsonObject target(each, origin, "a link");
        if (links.size() < page_links_max)
          links.push_back({target.text("href"), std::string(relation), target.try_text("type").value_or("")});
      }
    }
  }
  return links;
}

std::vector<ListedFile> files_of_links(const std::vector<Link>& links, const Url& page, std::string_view pattern) {
  std::vector<ListedFile> files;
  std::set<std::string> urls, paths;
  for (const Link& link : links) {
    const auto url = link.is("item") ? try_resolve_link(page, link.target) : std::nullopt;
    if (!url || !urls.insert(url->text()).second) continue;
    const std::string name = url->file_name();
    if (!pattern.empty() && !glob_matches(pattern, name)) continue;
    auto path = name.find('/') == name.npos ? RelativePath::try_parse(name) : std::nullopt;
    if (!path)
      throw Error(FailureKind::invalid, fmt::format("the page {} names a file {}, which ends in no name of a file",
                                                    page.display(), printable(url->display())));
    for (std::size_t n = 2; !paths.insert(path->text()).second; ++n)
      path = RelativePath::parse(fmt::format("{}/{}", n, name));
    files.push_back({std::move(*path), {*url}, std::nullopt, {}});
  }
  return files;
}

Listing read_landing_page(const Url& page, std::string_view pattern, Transport& transport, Inquiry& inquiry) {
  LandingPage landing = ask_page(page, transport, inquiry);
  Listing listing;
  add_link_set(landing, "item", transport, inquiry);
  listing.over_tls = landing.over_tls;
  listing.files = files_of_links(landing.links, landing.where, pattern);
  if (listing.files.empty()) refuse_without_items(page, landing.links);
  return listing;
}

std::optional<SourceDocument> read_description(const Url& page, Transport& transport, Inquiry& inquiry) {
  LandingPage landing = ask_page(page, transport, inquiry);
  add_link_set(landing, "describedby", transport, inquiry);
  const auto url = try_describing(landing.where, landing.links);
  if (!url) return std::nullopt;
  Document document = ask_for(*url, "application/ld+json, application/json;q=0.9", transport, inquiry);
  return SourceDocument{std::move(document.body), document.names(*url)};
}

void add_signposting(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<LandingPages>(parts.transport), {"landing+http", "landing+https"});
}

}  // namespace sabath
