// Signposting (https://signposting.org/FAIR): the links by which the page of a data set names its files, in headers, in
// the page, or in a link set (RFC 9264). The pure half, and the resolver's half that asks. Throws Error{invalid} for
// what is malformed, Error{unavailable} for a page that names no file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "curl/transport.h"
#include "http/links.h"
#include "sabath/resolver.h"

namespace sabath {

// <link rel="item" href="..." type="..."> of a page; references as they stand.
[[nodiscard]] std::vector<Link> links_of_page(std::string_view html);

// Those of a link set in JSON whose anchor is the page, or is not said.
[[nodiscard]] std::vector<Link> parse_link_set(std::string_view json, const Url& source, const Url& page);

// The files that `item` links name. Relative references stand beside `page`. Two of one name stand below "2/", "3/",
// ...
[[nodiscard]] std::vector<ListedFile> files_of_links(const std::vector<Link>& links, const Url& page,
                                                     std::string_view pattern = {});

// Asks a landing page, and a link set that it names. `pattern`: of the files' names.
[[nodiscard]] Listing read_landing_page(const Url& page, std::string_view pattern, Transport& transport,
                                        Inquiry& inquiry);

// The document in JSON that the page names by `describedby`. nullopt: it names none.
[[nodiscard]] std::optional<SourceDocument> read_description(const Url& page, Transport& transport, Inquiry& inquiry);

}  // namespace sabath
