// Resolves a URL that stands for many files: repeats, counts and bounds the resolver's requests, and checks its answer.
// One thread. Throws Error; a hostile listing is Error{invalid}.
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

// The first `limit` files of the first mirror that answers. `urls`: before rewrite rules. A listing that takes longer
// than `time_max` is Error{invalid}. `giver` is set to that mirror.
[[nodiscard]] Listing resolve(FetchContext& context, const std::vector<Url>& urls, std::optional<std::uint64_t> limit,
                              std::chrono::milliseconds time_max = listing_time_max,
                              std::optional<std::size_t>* giver = nullptr);

// Refuses names that stand twice or below a file, and sources that a listing from `from` may not name: local files;
// protocols for which this user has keys of his own, unless the listing came by the same; addresses that are nearer
// than both `from` and `asked`. Pure.
void check_listing(const std::vector<ListedFile>& files, const Url& from, Reach asked = Reach::global);

void keep_first(std::vector<ListedFile>& files, std::optional<std::uint64_t> limit);

}  // namespace sabath
