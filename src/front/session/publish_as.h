// An asset of the store, in the formats of other tools: its files with SHA-256 and URLs, as a metalink has them, and a
// BagIt bag (RFC 8493) of it. Content is checked as it is read. One thread.
//
// Throws Error{offline} for content that is not here, Error{content} for damaged content, Error{usage} for an asset
// that the format cannot describe, Error{interrupted}.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/resolver.h"
#include "store/store.h"

namespace sabath {

struct Publication {
  std::vector<Url> below;  // where the files stand: each is at URL + path; all of them are mirrors
  std::string agent;       // "sabath/0.1"
  std::stop_token stop;
};

// Every file, with its size and SHA-256; its URLs are those below which it stands.
[[nodiscard]] std::vector<ListedFile> described_files(const Store& store, const Manifest& manifest,
                                                      const Publication& publication);

// Makes `directory`, which must not be there: whole, or not at all. With URLs the bag has no payload but a fetch.txt.
void write_bag(const Store& store, const Manifest& manifest, const std::filesystem::path& directory,
               const Publication& publication);

}  // namespace sabath
