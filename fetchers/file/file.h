// The file fetcher: regular files of this machine, by pread in pieces. Its version is inode, length and modification
// time, compared at the start and again at the end.
#pragma once

#include <memory>

#include "sabath/fetcher.h"

namespace sabath {

// `admit`: FetcherSettings::admit; may be empty.
[[nodiscard]] std::unique_ptr<Fetcher> make_file_fetcher(decltype(FetcherSettings::admit) admit = {});

}  // namespace sabath
