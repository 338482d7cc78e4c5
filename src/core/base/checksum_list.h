// Lists of checksums as sha256sum, md5sum, BSD's tools and openssl write them: what they name, with its sums. Pure; any
// thread. Lists come from servers and are hostile until read. Throws Error{invalid} as "LIST:LINE: what is wrong".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"

namespace sabath {

// Whether a URL's file is such a list by its name: SHA256SUMS, md5sum.txt, x-CHECKSUM, f.tar.gz.sha256, ...
[[nodiscard]] bool names_checksum_list(const Url& url);

// Whether a document's first line is one of such a list.
[[nodiscard]] bool is_checksum_list(std::string_view text);

// Its files, below `base`, a directory. A list of one sum without a name is of the file that its own name tells: f.h5
// of f.h5.sha256. Sums that are not computed here are noted (ListedFile::unchecked). What is said of the list itself
// does not count: such sums are made while it is written. In a text with a PGP signature around it, what is signed
// counts; the signature is not checked.
[[nodiscard]] std::vector<ListedFile> parse_checksum_list(std::string_view text, const Url& list, const Url& base);

}  // namespace sabath
