// A URL that stands for many files, asked what they are: the resolver's requests repeated, counted and bounded, its
// answer checked. One thread. Throws Error: what is hostile in a listing is Error{invalid}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/reach.h"
#include "fetch/hosts/context.h"
#include "sabath/resolver.h"

namespace sabath {

inline constexpr std::chrono::minutes listing_time_max(60);

// The first `limit` files that the first mirror which answers has. `urls`: before rewrite rules. A listing that takes
// longer than `time_max` is Error{invalid}. `giver`: is told which mirror that was.
[[nodiscard]] Listing resolve(FetchContext& context, const std::vector<Url>& urls, std::optional<std::uint64_t> limit,
                              std::chrono::milliseconds time_max = listing_time_max,
                              std::optional<std::size_t>* giver = nullptr);

// Refuses names that stand twice or below a file, and sources that a listing from `from` may not name: local files,
// protocols for which this user has keys of his own, unless the listing came by the same, and addresses that are nearer
// than `from` and whoever was asked for it. Pure.
void check_listing(const std::vector<ListedFile>& files, const Url& from, Reach asked = Reach::global);

void keep_first(std::vector<ListedFile>& files, std::optional<std::uint64_t> limit);

}  // namespace sabath
