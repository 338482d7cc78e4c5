// Hugging Face's hub, and others that speak like it: models and datasets by hf://, listed at one commit, read by the
// hub's own URLs. A token goes to the hub, and to no host that it redirects to.
#include <fmt/format.h>
#include <sys/stat.h>

#include <mutex>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/glob.h"
#include "base/text.h"
#include "hf/place.h"
#include "http/document.h"
#include "http/links.h"
#include "http/read.h"
#include "resolvers/pages.h"
#include "sabath/error.h"
#include "sabath/resolver.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr const char* hub_login_hint =
    "set HF_TOKEN, or log in by `hf auth login`; where the publisher asks for it, accept the terms on the hub's page "
    "first";

// The directory that a pattern stands in: "a/b/*.h5" -> "a/b"; of "a/b/" it is "a/b".
std::string fixed_part(const std::string& path) {
  const std::size_t mark = std::min(path.find_first_of("*?["), path.size());
  const std::size_t slash = path.rfind('/', mark);
  return slash == path.npos ? "" : path.substr(0, slash);
}

class HfFetcher : public Fetcher, public Resolver {
 public:
  HfFetcher(HubSettings settings, std::shared_ptr<Transport> transport)
      : settings_(std::move(settings)),
        hub_(Url::parse(settings_.endpoint.empty() ? "https://huggingface.co" : settings_.endpoint)),
        transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override { return {{.name = "hf", .built = true, .ranges = true}}; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    WebPlace place{.url = Url::parse(hub_.origin() + hf::place_of(request.url).content_path()),
                   .access_hint = hub_login_hint,
                   .hub = true};
    add_token(place.private_headers);
    read_web(*transport_, place, request, sink, traffic, stop);
  }

  std::string place(const Url&) const override { return hub_.text(); }

  bool lists(const Url& url) const override {
    const auto place = hf::try_place_of(url);
    // resolve() refuses a URL that names nothing, with the reason.
    return !place || place->path.empty() || place->path.ends_with('/') || is_glob(place->path);
  }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    const hf::Place place = hf::place_of(url);
    Listing listing;
    listing.version = commit_of(place, inquiry);
    listing.over_tls = hub_.scheme() == "https";
    const std::string top = fixed_part(place.path);
    const std::string pattern = place.path.substr(top.empty() ? 0 : top.size() + 1);
    std::optional<Url> page =
        Url::parse(hub_.origin() + place.tree_path(listing.version, top) + "?recursive=true&expand=false");
    Pages pages(url);
    while (page) {
      const Document answer = get(*page, inquiry);
      const auto files = hf::parse_tree(answer.body, page->display());
      for (const auto& file : files) add(listing, place, top, pattern, file);
      page = next_page(answer, *page);
      if (page) pages.turn(page->text(), files.empty() ? "" : files.front().path);
    }
    listing.hub = HubRevision{.kind = place.kind,
                              .repository = place.repository,
                              .commit = listing.version,
                              .revision = place.revision.empty() ? "main" : place.revision,
                              .top = top,
                              .below = {},
                              .whole = place.path.empty(),
                              .open = !sends_credentials(inquiry)};
    return listing;
  }

  // The card of the repository.
  std::optional<SourceDocument> describe(const Url& url, Inquiry& inquiry) override {
    hf::Place place = hf::place_of(url);
    place.path = "README.md";
    const Url card = Url::parse(hub_.origin() + place.content_path());
    Document document = get(card, inquiry);
    return SourceDocument{std::move(document.body), document.names(card)};
  }

 private:
  std::string commit_of(const hf::Place& place, Inquiry& inquiry) {
    if (hf::is_commit(place.revision)) return place.revision;
    const Url url = Url::parse(hub_.origin() + place.revision_path());
    return hf::parse_commit(get(url, inquiry).body, url.display());
  }

  Document get(const Url& url, Inquiry& inquiry) {
    Question question{.url = inquiry.rewritten(url), .accept = {200}, .access_hint = hub_login_hint};
    if (question.url.origin() == hub_.origin()) add_token(question.private_headers);
    std::optional<Document> document;
    inquiry.attempt(question.url,
                    [&](Traffic& traffic) { document = ask(*transport_, question, traffic, inquiry.stop()); });
    return std::move(*document);
  }

  void add(Listing& listing, const hf::Place& place, const std::string& top, const std::string& pattern,
           const hf::TreeFile& file) const {
    const auto refuse = [&](const char* why) {
      throw Error(FailureKind::invalid,
                  fmt::format("the listing of {} is refused: \"{}\" {}", place.repository, printable(file.path), why));
    };
    const bool inside = top.empty() || file.path.starts_with(top + "/");
    if (!inside) refuse("is not where it was looked for");
    const std::string below = top.empty() ? file.path : file.path.substr(top.size() + 1);
    if (!pattern.empty() && !glob_matches(pattern, below)) return;
    auto path = RelativePath::try_parse(below);
    if (!path) refuse("is no path of a file");
    if (listing.files.size() >= listed_files_max) refuse("is one too many");
    listing.files.push_back({std::move(*path),
                             {place.url_of(listing.version, file.path)},
                             file.size_bytes,
                             {.sha256 = file.sha256, .git = file.git}});
  }

  // A page that stands elsewhere would be asked with our token, or tell us of another repository: it is not believed.
  std::optional<Url> next_page(const Document& answer, const Url& page) const {
    for (const auto& value : answer.links) {
      for (const Link& link : parse_links(value)) {
        if (!link.is("next")) continue;
        Url next = page.resolve(link.target);
        if (next.origin() != page.origin() || next.path() != page.path() || next == page) {
          throw Error(FailureKind::invalid,
                      fmt::format("the listing of {} is refused: its next page is {}", page.display(), next.display()));
        }
        return next;
      }
    }
    return std::nullopt;
  }

  void add_token(std::vector<std::string>& headers) {
    const std::lock_guard lock(mutex_);
    if (!token_) token_ = read_token();
    if (!token_->empty()) headers.push_back(fmt::format("Authorization: Bearer {}", token_->reveal()));
  }

  // The token, or what the user has for the place that a rewrite rule leads to.
  bool sends_credentials(const Inquiry& inquiry) {
    std::vector<std::string> headers;
    add_token(headers);
    return !headers.empty() || transport_->authorization(inquiry.rewritten(hub_)).has_value();
  }

  // The environment's, or the one that a login left in its file.
  Secret read_token() const {
    const Secret token = settings_.token.empty() && !settings_.token_file.empty() ? token_in_file() : settings_.token;
    const std::string_view text = token.reveal();
    if (text.size() > 4096 || text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                     "-._~+/=") != text.npos) {
      throw Error(FailureKind::access, "the token for the hub cannot be one: it holds characters that no token has",
                  "see HF_TOKEN and the file that HF_TOKEN_PATH names");
    }
    return token;
  }

  Secret token_in_file() const {
    const auto facts = try_stat(settings_.token_file);
    if (!facts) return {};
    if ((facts->st_mode & 077) != 0 && facts->st_uid == ::getuid()) {
      throw Error(FailureKind::access, fmt::format("{} is not used: others may read it", settings_.token_file.string()),
                  fmt::format("chmod 600 {}", shell_word(settings_.token_file.string())));
    }
    return Secret(std::string(trim(try_read_text(settings_.token_file, 64UL * 1024).value_or(""))));
  }

  const HubSettings settings_;
  const Url hub_;
  const std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::optional<Secret> token_;  // read when it is first needed
};

}  // namespace

void add_hf(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<HfFetcher>(parts.settings.hub, parts.transport));
}

}  // namespace sabath
