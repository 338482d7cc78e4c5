#include "fetch/hosts/host_of.h"

#include <algorithm>

namespace sabath {

Host& host_of(const FetchContext& context, const Url& url) {
  const Fetcher* fetcher = context.fetchers.find(url.scheme());
  const bool by_program = fetcher != nullptr && std::ranges::any_of(fetcher->schemes(), [&](const Scheme& scheme) {
                            return scheme.command && scheme.name == url.scheme();
                          });
  return context.hosts.of(url.origin(), by_program);
}

}  // namespace sabath
