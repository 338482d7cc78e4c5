#include "set/known_fetchers.h"

namespace sabath {

// Every fetcher and resolver of this build; the first one that has a scheme serves it. NAME stands for the function
// add_NAME() of the fetcher's folder.
#define SABATH_FETCHERS(NAME) \
  NAME(http)                  \
  NAME(ftp)                   \
  NAME(file)                  \
  NAME(peer)                  \
  NAME(sftp)                  \
  NAME(s3)                    \
  NAME(hf)                    \
  NAME(globus)                \
  NAME(oci)                   \
  NAME(lfs)                   \
  NAME(repository)            \
  NAME(mirrors)               \
  NAME(web_directory)         \
  NAME(signposting)           \
  NAME(bag)                   \
  NAME(checksum_lists)        \
  NAME(command)

#define SABATH_DECLARE(name) void add_##name(KnownFetchers& set, const FetcherParts& parts);
SABATH_FETCHERS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::unique_ptr<FetcherSet> make_fetchers(const FetcherSettings& settings) {
  const FetcherParts parts{settings, std::make_shared<Transport>(settings)};
  auto set = std::make_unique<KnownFetchers>(settings);
#define SABATH_ADD(name) add_##name(*set, parts);
  SABATH_FETCHERS(SABATH_ADD)
#undef SABATH_ADD
  for (const auto& [scheme, name] : settings.commands.prefer) set->prefer(scheme, name == "native" ? "" : name);
  for (const auto& fetcher : settings.more) set->add_foreign(fetcher);
  return set;
}

}  // namespace sabath
