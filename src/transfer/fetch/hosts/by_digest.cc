#include "fetch/hosts/by_digest.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sabath {
namespace {

Url at(const Url& store, const std::string& path) {
  std::string text = store.text();
  if (text.ends_with('/')) text.pop_back();
  return Url::parse(text + path).named_by(store.namer());
}

}  // namespace

bool is_store(const Url& url) {
  const bool ours = url.scheme() == "sabath" || url.scheme() == "sabath+tls";
  return ours && url.path().size() <= 1 && url.text().find_first_of("?#") == std::string::npos;
}

Url by_digest(const Url& url, const FileJob& job) {
  if (!is_store(url) || job.offset > 0) return url;  // a file inside an archive is no content of its own there
  if (job.known) {
    const Digest& digest = job.known->digest;
    return at(url, fmt::format("/v1/objects/{}.{}", digest.hash.hex(), digest.size_bytes));
  }
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = job.checksum.*algorithm.value;
    if (algorithm.finds && !hex.empty())
      return at(url, fmt::format("/v1/checksums/{}/{}", algorithm.name, to_lower(hex)));
  }
  return url;
}

Url manifest_at(const Url& store, const Sha256& root) { return at(store, fmt::format("/v1/manifests/{}", root.hex())); }

}  // namespace sabath
