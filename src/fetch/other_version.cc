#include "fetch/other_version.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {

void refuse_unless_part(const std::string& asset, const Manifest& whole, const Manifest& part) {
  part.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory) return;
    const auto same = whole.find(entry.path);
    if (same && same->type == entry.type && same->digest == entry.digest && same->target == entry.target) return;
    throw Error(FailureKind::content,
                fmt::format("the sources of {} give {}, and the manifest names {}", asset, printable(entry.path.text()),
                            same ? "something else there" : "no such file"),
                "the sources hold another version than the manifest");
  });
}

void refuse_other_root(const Store& store, const std::string& asset, const Manifest& expected, const Sha256& got) {
  std::string first;
  std::size_t count = 0;
  if (const auto manifest = store.manifest(got)) {
    diff(expected, *manifest, [&](const Difference& difference) {
      const Entry& entry = difference.before ? *difference.before : *difference.after;
      if (count++ < 5) first += (first.empty() ? "" : ", ") + entry.path.text();
    });
  }
  throw Error(FailureKind::content,
              fmt::format("the sources of {} do not give what its manifest names: {} entries differ ({}{})", asset,
                          count, first, count > 5 ? ", ..." : ""),
              "the sources hold another version; --refresh learns it anew where nothing is pinned");
}

}  // namespace sabath
