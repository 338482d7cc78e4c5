// Resolves a URL that stands for many files: repeats, counts and bounds the resolver's requests, and checks its answer.
// One thread. Throws Error; a hostile listing is Error{invalid}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "fetch/hosts/context.h"
#include "sabath/resolver.h"

namespace sabath {

inline constexpr std::chrono::minutes listing_time_max(60);

// The first `limit` files of the first mirror that answers. `urls`: before rewrite rules. A listing that takes longer
// than `time_max` is Error{invalid}. `giver` is set to that mirror.
[[nodiscard]] Listing resolve(FetchContext& context, const std::vector<Url>& urls, std::optional<std::uint64_t> limit,
                              std::chrono::milliseconds time_max = listing_time_max,
                              std::optional<std::size_t>* giver = nullptr);

// Refuses names that stand twice or below a file, and sources that a listing from `from` may not name: local files, and
// protocols for which this user has keys of his own, unless the listing came by the same. Pure.
void check_listing(const std::vector<ListedFile>& files, const Url& from);

// Notes in each URL of a listing from `from` who names it. `heard`: how near the farthest host stands that the listing
// came from; nullopt: not known. Files of this user's own file are as if he named them himself.
void name_listing(std::vector<ListedFile>& files, const Url& from, std::optional<Reach> heard);

void keep_first(std::vector<ListedFile>& files, std::optional<std::uint64_t> limit);

}  // namespace sabath
