// How near an IP address is. A redirect or a listing may lead away from us, never towards us: a public server must not
// be able to make SABATH ask this machine's own services, its site's, or a cloud's metadata address. Ranges: IANA
// special-purpose address registries (RFC 6890). Pure; throws nothing.
#pragma once

#include <string_view>

#include "sabath/url.h"

namespace sabath {

// From far to near. `link` includes the addresses of clouds' metadata services, in all ranges: their answers belong to
// this machine, and are no source.
enum class Reach { global, site, link, host };

// An IPv4 or IPv6 address as text, brackets and zone allowed. Anything else is global: a name has no reach of its own,
// except "localhost" and the names below it.
[[nodiscard]] Reach reach_of(std::string_view address);
// Of the host that the URL names; s3: may name its endpoint in the query.
[[nodiscard]] Reach reach_of(const Url& url);

}  // namespace sabath
