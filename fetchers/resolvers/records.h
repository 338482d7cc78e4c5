// Records of data repositories, as files with checksums: Zenodo and other InvenioRDM, figshare, Dataverse; and the URL
// that a DOI leads to (DataCite). Pure. Throws Error{invalid} for malformed records, Error{access} for a record
// whose files are not public.
#pragma once

#include <string>
#include <string_view>

#include "sabath/resolver.h"

namespace sabath {

// GET /api/records/ID. Listing::version is the DOI of this version.
[[nodiscard]] Listing parse_zenodo_record(std::string_view body, const Url& source, std::string_view pattern = {});
// GET /v2/articles/ID
[[nodiscard]] Listing parse_figshare_article(std::string_view body, const Url& source, std::string_view pattern = {});
// GET /api/datasets/:persistentId/versions/:latest-published?persistentId=...
[[nodiscard]] Listing parse_dataverse_version(std::string_view body, const Url& source, std::string_view pattern = {});

// application/vnd.datacite.datacite+json: the page of what a DOI names.
[[nodiscard]] Url parse_datacite_url(std::string_view body, const std::string& source);

struct RecordPlace {
  enum class Kind { zenodo, figshare, dataverse } kind = Kind::zenodo;
  Url api;  // lists its files
};
// The API of the repository whose page this is. `doi`: "10.1234/abc". Throws Error{unavailable} for others.
[[nodiscard]] RecordPlace record_place(const Url& page, const std::string& doi);

}  // namespace sabath
