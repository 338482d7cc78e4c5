// How near an IP address is. A redirect or a listing may lead away from us, never towards us: a public server must not
// be able to make SABATH ask this machine's own services, its site's, or a cloud's metadata address. Ranges: IANA
// special-purpose address registries (RFC 6890). Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sabath/url.h"

namespace sabath {

// An IPv4 or IPv6 address as text, brackets and zone allowed. Anything else is global: a name has no reach of its own,
// except "localhost" and the names below it.
[[nodiscard]] Reach reach_of(std::string_view address);
// Of the host that the URL names; s3: may name its endpoint in the query.
[[nodiscard]] Reach reach_of(const Url& url);

// The one judgement of every request, made before a packet is sent: by the address to which a socket is about to be
// connected, and by the host's own words. `address` is empty where it is not known: before the look-up, and behind a
// proxy. Returns how near the host is. Throws Error{unavailable} for an address of this machine's own services, and for
// one that is nearer than those who named the URL. `near_hosts`: WebSettings; they may be asked all the same.
Reach check_reach(const Url& url, std::string_view address, std::span<const std::string> near_hosts);
[[nodiscard]] bool is_near_host(std::string_view host, std::span<const std::string> near_hosts);

}  // namespace sabath
