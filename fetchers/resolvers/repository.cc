// Records of data repositories: zenodo:RECORD and doi:10.1234/ABC, with a pattern behind a further '/':
// zenodo:123/*.h5. Their files are read by https.
#include <fmt/format.h>

#include <algorithm>

#include "base/percent.h"
#include "http/document.h"
#include "resolvers/records.h"
#include "resolvers/signposting.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

// "10.5281/zenodo.123" and what stands behind it, "*.h5": a DOI may hold slashes, so only a pattern ends it.
struct Named {
  std::string id, pattern;
};

Named split(const Url& url) {
  std::string text = percent_decode(url.path());
  const std::size_t mark = text.find_first_of("*?[");
  const std::size_t slash = mark == text.npos ? text.npos : text.rfind('/', mark);
  if (slash == text.npos) return {text, ""};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

class Repository : public Resolver {
 public:
  explicit Repository(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  bool lists(const Url&) const override { return true; }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    const Named named = split(url);
    std::optional<Url> page;  // of what a DOI names, in a repository that has no reader here
    const std::optional<RecordPlace> found =
        url.scheme() == "zenodo" ? of_zenodo(url, named.id) : of_doi(url, named.id, inquiry, page);
    if (!found) return read_landing_page(*page, named.pattern, *transport_, inquiry);
    const RecordPlace& place = *found;
    const Document answer = get(place.api, "application/json", inquiry);
    Listing listing =
        place.kind == RecordPlace::Kind::zenodo     ? parse_zenodo_record(answer.body, place.api, named.pattern)
        : place.kind == RecordPlace::Kind::figshare ? parse_figshare_article(answer.body, place.api, named.pattern)
                                                    : parse_dataverse_version(answer.body, place.api, named.pattern);
    listing.over_tls = answer.url.scheme() == "https";
    return listing;
  }

  // DataCite's record of the DOI, or what the page describes that another registry leads to.
  std::optional<SourceDocument> describe(const Url& url, Inquiry& inquiry) override {
    const std::string id = split(url).id;
    const std::string doi = url.scheme() == "zenodo" ? "10.5281/zenodo." + id : id;
    if (auto record = ask_registry(url, doi, inquiry))
      return SourceDocument{std::move(record->body), record->names(doi_url(doi))};
    return read_description(doi_url(doi), *transport_, inquiry);
  }

 private:
  static Url doi_url(const std::string& doi) { return Url::parse("https://doi.org/" + percent_encode_path(doi)); }

  static RecordPlace of_zenodo(const Url& url, const std::string& id) {
    if (id.empty() || id.find_first_not_of("0123456789") != id.npos) {
      throw Error(FailureKind::unavailable, fmt::format("{} names no record", url.display()),
                  "write zenodo:RECORD, the number in the record's address, or doi:10.5281/zenodo.RECORD");
    }
    return {RecordPlace::Kind::zenodo, Url::parse("https://zenodo.org/api/records/" + id)};
  }

  // nullopt: it is registered elsewhere than at DataCite.
  std::optional<Document> ask_registry(const Url& url, const std::string& doi, Inquiry& inquiry) {
    if (!doi.starts_with("10.") || doi.find('/') == doi.npos) {
      throw Error(FailureKind::unavailable, fmt::format("{} is no DOI", url.display()), "write doi:10.1234/ABC");
    }
    try {
      Document answer = get(doi_url(doi), "application/vnd.datacite.datacite+json", inquiry);
      if (answer.content_type != "text/html") return answer;
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::unavailable) throw;
    }
    return std::nullopt;
  }

  // nullopt: only the page of what it names can tell its files.
  std::optional<RecordPlace> of_doi(const Url& url, const std::string& doi, Inquiry& inquiry,
                                    std::optional<Url>& page) {
    const Url question = doi_url(doi);
    const std::optional<Document> answer = ask_registry(url, doi, inquiry);
    if (!answer) {
      page = question;
      return std::nullopt;
    }
    const Url said = answer->names(parse_datacite_url(answer->body, question.display()));
    try {
      return record_place(said, doi);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::unavailable) throw;
      page = said;
      return std::nullopt;
    }
  }

  Document get(const Url& url, const char* type, Inquiry& inquiry) {
    const Question question{
        .url = inquiry.rewritten(url), .headers = {fmt::format("Accept: {}", type)}, .accept = {200}};
    std::optional<Document> document;
    inquiry.attempt(question.url,
                    [&](Traffic& traffic) { document = ask(*transport_, question, traffic, inquiry.stop()); });
    return std::move(*document);
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

void add_repository(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<Repository>(parts.transport), {"zenodo", "doi"});
}

}  // namespace sabath
