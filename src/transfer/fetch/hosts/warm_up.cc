#include "fetch/hosts/warm_up.h"

#include <exception>
#include <set>

#include "base/threads.h"
#include "fetch/hosts/host_of.h"

namespace sabath {
namespace {

constexpr std::uint64_t worth_bytes = 64 * 1024 * 1024;  // less comes while a second login is under way
constexpr std::size_t hosts_max = 4;

}  // namespace

WarmUp::WarmUp(const FetchContext& context, const std::vector<Fragment>& fragments) {
  std::set<std::string> origins;
  for (const auto& fragment : fragments) {
    if (fragment.size_bytes.value_or(0) < worth_bytes || origins.size() == hosts_max) continue;
    const Url url = rewritten(fragment.urls.front(), context.rewrites);
    Fetcher* const fetcher = context.fetchers.find(url.scheme());
    Host& host = host_of(context, url);
    if (fetcher == nullptr || !host.by_login() || !origins.insert(url.origin()).second || !host.try_connect()) continue;
    const bool begun = try_add_thread(logins_, [fetcher, &host, url, stop = context.stop](std::stop_token ended) {
      std::stop_source either;
      const std::stop_callback by_caller(stop, [&] { either.request_stop(); });
      const std::stop_callback by_end(ended, [&] { either.request_stop(); });
      try {
        fetcher->warm_up(url, either.get_token());
      } catch (const std::exception&) {}
      host.disconnect();
    });
    if (!begun) host.disconnect();
  }
}

}  // namespace sabath
