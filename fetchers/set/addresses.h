// Where programs may go that ask a URL's host: by the judgement of our own requests (base/reach.h). Any thread. Throws
// Error{unavailable} for a host that may not be asked or has no address, Error{network}, Error{interrupted}.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

// Of the host; empty: it is an address itself, or a proxy asks.
[[nodiscard]] std::vector<std::string> judged_addresses(const Url& url, const FetcherSettings& settings,
                                                        const std::stop_token& stop);
// As FetcherSet::admit_program().
void admit_program(const Url& url, const FetcherSettings& settings);

// The same just before a program asks, by the addresses that the host has now: the program looks them up again, and may
// find others. A name that is not known here is the program's matter, or its proxy's.
void admit_look_up(const Url& url, const FetcherSettings& settings, const std::stop_token& stop);

// "HOST:PORT:ADDRESS,ADDRESS", as curl and git take it; empty: there is nothing to tell.
[[nodiscard]] std::string resolve_entry(const Url& url, const std::vector<std::string>& addresses);

}  // namespace sabath
