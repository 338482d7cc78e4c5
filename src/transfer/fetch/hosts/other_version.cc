#include "fetch/hosts/other_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/counted.h"
#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {

void refuse_unprovable_part(const std::string& name) {
  throw Error(FailureKind::usage,
              fmt::format("the manifest that pins {} is not here, and without it no part can be checked", name),
              fmt::format("give it with {}, or fetch the whole, without {} and {}", option_text("manifest"),
                          option_text("sample"), option_text("select")));
}

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

namespace {

// Whether the same content stands under other names, none of them in ASCII.
class OtherNames {
 public:
  void add(const Difference& difference) {
    const bool is_name = difference.before.has_value() != difference.after.has_value();
    const Entry& entry = difference.before ? *difference.before : *difference.after;
    const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    none_else_ = none_else_ && is_name && std::ranges::any_of(entry.path.text(), beyond_ascii);
    if (entry.is_file()) balance_[entry.digest] += difference.before ? 1 : -1;
  }
  [[nodiscard]] bool only() const {
    return none_else_ && !balance_.empty() &&
           std::ranges::all_of(balance_, [](const auto& one) { return one.second == 0; });
  }

 private:
  bool none_else_ = true;
  std::unordered_map<Digest, std::int64_t> balance_;
};

}  // namespace

void refuse_other_root(const Store& store, const std::string& asset, const Manifest& expected, const Sha256& got) {
  std::string first;
  std::size_t count = 0;
  OtherNames names;
  if (const auto manifest = store.manifest(got)) {
    diff(expected, *manifest, [&](const Difference& difference) {
      const Entry& entry = difference.before ? *difference.before : *difference.after;
      if (count++ < 5) first += (first.empty() ? "" : ", ") + entry.path.text();
      names.add(difference);
    });
  }
  if (names.only()) {
    throw Error(
        FailureKind::content,
        fmt::format("the sources of {} give what its manifest names, under other names ({}{}): SABATH 0.1 "
                    "changed names in archives to composed letters (NFC), and they are the archive's own now",
                    asset, first, count > 5 ? ", ..." : ""),
        fmt::format("pin {} in its place, or {} where nothing is pinned; stores that hold the old one stay valid",
                    got.prefixed(), option_text("refresh")));
  }
  throw Error(FailureKind::content,
              fmt::format("the sources of {} do not give what its manifest names: {} ({}{})", asset,
                          counted(count, "entry differs", "entries differ"), first, count > 5 ? ", ..." : ""),
              fmt::format("the sources hold another version; {} learns it anew where nothing is pinned",
                          option_text("refresh")));
}

}  // namespace sabath
