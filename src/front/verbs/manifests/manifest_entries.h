// The entries of manifests, and the differences of two, as the plain values of sabath/verbs/manifest.h. Any thread.
#pragma once

#include "manifest/manifest.h"
#include "sabath/verbs/manifest.h"

namespace sabath {

[[nodiscard]] ManifestTotals totals_of(const Manifest& manifest);
[[nodiscard]] ManifestEntry entry_of(const Entry& entry);  // without chunks
[[nodiscard]] ManifestDifference difference_of(const Difference& difference);
// Throws Error{invalid} for more entries than one JSON record may have: the record is held in memory.
inline constexpr std::uint64_t entries_in_record_max = 1'000'000;  // and chunks, where they are asked for
void check_fits_record(const ManifestTotals& totals, bool chunks);
// Without path and exit. What differs is named by chunks where lengths are equal.
[[nodiscard]] ManifestVerifyRecord compare_manifests(const Manifest& expected, const Manifest& found);

}  // namespace sabath
