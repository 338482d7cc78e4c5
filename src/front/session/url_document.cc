#include "session/url_document.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/reach.h"
#include "base/text.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/resolver.h"

namespace sabath {
namespace {

constexpr std::string_view ends_of_documents[] = {".json", ".jsonld", ".html", ".htm", "readme.md"};

// The text of a document. What does not begin like one ends the transfer, as does what is too long: it is data.
class DocumentSink final : public Sink {
 public:
  struct NoDocument {};
  void begin(const ContentInfo& info) override {
    text.clear();
    if (info.size_bytes.value_or(0) > recipe_size_max) throw NoDocument();
    if (!info.final_url.empty()) final_url = info.final_url;
    reach = info.reach;
  }
  void write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::string_view front = trim(std::string_view(text).substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0, 4096));
    const bool like_one = front.empty() || std::string_view("{[<\"-").find(front.front()) != std::string_view::npos;
    if (!like_one || text.size() > recipe_size_max) throw NoDocument();
  }
  std::string text, final_url;
  std::optional<Reach> reach;
};

bool leads_on(const std::string& page) {
  const std::string front = to_lower(std::string_view(page).substr(0, 256 * 1024));
  if (!trim(front).starts_with('<')) return false;
  for (const char* const relation : {"item", "linkset", "describedby"})
    for (const char* const quote : {"\"", "'"})
      if (front.find(std::string("rel=") + quote + relation + quote) != front.npos) return true;
  return false;
}

// One try of each request: a description is no condition of a fetch.
class OneTry final : public Inquiry {
 public:
  OneTry(const RewriteRules& rewrites, std::stop_token stop) : rewrites_(rewrites), stop_(std::move(stop)) {}
  Url rewritten(const Url& url) const override { return sabath::rewritten(url, rewrites_); }
  void attempt(const Url&, const std::function<void(Traffic&)>& request) override {
    Traffic traffic;
    request(traffic);
  }
  std::optional<std::string> document(const Url&, std::size_t) override { return std::nullopt; }
  std::stop_token stop() const override { return stop_; }

 private:
  const RewriteRules& rewrites_;
  std::stop_token stop_;
};

UrlDocuments::Found described(Resolver& resolver, const Url& url, const RewriteRules& rewrites,
                              const std::stop_token& stop) {
  UrlDocuments::Found found;
  try {
    OneTry inquiry(rewrites, stop);
    const auto said = resolver.describe(url, inquiry);
    if (said && is_utf8(said->text)) found.recipe = try_read_document(said->text, {said->url.display(), said->url});
  } catch (const Error& error) {
    if (stop.stop_requested()) throw;
    found.error = error;
  }
  return found;
}

}  // namespace

bool may_describe(const Url& url) {
  const std::string& scheme = url.scheme();
  if (scheme != "https" && scheme != "http" && scheme != "file") return false;
  const std::string name = to_lower(url.file_name());
  return name.find('.') == name.npos ||
         std::ranges::any_of(ends_of_documents, [&](std::string_view end) { return name.ends_with(end); });
}

const UrlDocuments::Found& UrlDocuments::at(const Url& url, const FetcherSet& fetchers, const RewriteRules& rewrites,
                                            const std::stop_token& stop) {
  const auto [place, fresh] = read_.try_emplace(url.text());
  Found& found = place->second;
  const Url there = rewritten(url, rewrites);
  const Url& listed = there.scheme() == url.scheme() ? url : there;  // each request is led by the rules, then
  if (Resolver* resolver = fetchers.resolver_for(listed)) {
    if (fresh) found = described(*resolver, listed, rewrites, stop);
    return found;
  }
  Fetcher* fetcher = fresh ? fetchers.find(there.scheme()) : nullptr;
  if (fetcher == nullptr) return found;
  DocumentSink sink;
  try {
    Traffic traffic;
    fetcher->read({.url = there, .offset = 0, .length = std::nullopt, .expected = {}}, sink, traffic, stop);
  } catch (const DocumentSink::NoDocument&) {
    return found;
  } catch (const Error& error) {
    if (stop.stop_requested()) throw;
    found.error = error;  // the fetch of it says so
    return found;
  }
  if (!is_utf8(sink.text)) return found;
  // Where a redirect led the document's own relative URLs stand; a rewrite rule leads there without its author's word.
  const auto led = there == url ? Url::try_parse(sink.final_url) : std::nullopt;
  found.leads_on = leads_on(sink.text);
  const Url& stands = led && led->scheme() == url.scheme() ? *led : url;
  const bool local = there.scheme() == "file";
  const auto namer = local ? std::nullopt : std::optional(Namer{.reach = sink.reach.value_or(reach_of(there))});
  try {
    found.recipe = try_read_document(sink.text, {url.display(), stands.named_by(namer)});
  } catch (const Error& error) {
    // JSON that describes no asset is data, also where it is malformed.
    const bool described = sink.text.find("mlcommons.org/croissant") != sink.text.npos ||
                           sink.text.find("schema.org") != sink.text.npos ||
                           sink.text.find("\"hpc:") != sink.text.npos ||
                           sink.text.find("\"titles\"") != sink.text.npos || sink.text.starts_with("---");
    if (error.failure().kind != FailureKind::invalid || described) throw;
  }
  return found;
}

}  // namespace sabath
