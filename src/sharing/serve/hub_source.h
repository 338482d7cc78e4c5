// A store as a read-only hub of Hugging Face's kind: what it holds of repositories, and nothing that it would have to
// fetch. docs/huggingface.md, "Serve". Any thread. Throws Error{storage}.
//
// Served are the repositories that were fetched without credentials, and those that are allowed by name. All others are
// as absent as what is not here: an answer does not tell which of the two.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hub/blob_names.h"
#include "hub/holdings.h"
#include "hub/hub_target.h"
#include "serve/content.h"
#include "store/store.h"

namespace sabath {

struct HubQuery {
  bool recursive = false;
  std::uint64_t begin = 0;  // of a page: entries before it
  std::string origin;       // "http://HOST:PORT", as the client sees this server; empty: unknown
};

struct HubAnswer {
  int status = 200;
  std::string body;                                         // JSON, unless there is content
  std::optional<ServedContent> content;                     // a file
  std::vector<std::pair<const char*, std::string>> fields;  // of the head
  bool lasting = false;                                     // a commit's: it never changes
};

class HubSource {
 public:
  // `allowed`: "[datasets/]OWNER/NAME". Throws Error{usage} for one that names no repository.
  HubSource(Store& store, const std::vector<std::string>& allowed);
  [[nodiscard]] HubAnswer answer(const HubTarget& target, const HubQuery& query);
  [[nodiscard]] std::size_t repositories();  // that are served now

 private:
  // What a repository has at a commit: one tree, or parts of it.
  struct Held;
  [[nodiscard]] std::vector<HubAsset> assets_of(const HubTarget& target);  // served ones, the newest first
  [[nodiscard]] bool served(const HubAsset& asset) const;
  [[nodiscard]] std::shared_ptr<const Held> held(const Sha256& root);
  [[nodiscard]] HubAnswer give(const HubTarget& target, const std::vector<HubAsset>& assets);
  [[nodiscard]] HubAnswer describe(const HubTarget& target, const std::vector<HubAsset>& assets);
  [[nodiscard]] HubAnswer list(const HubTarget& target, const std::vector<HubAsset>& assets, const HubQuery& query);

  Store& store_;
  std::vector<std::string> allowed_;
  BlobNames names_;
  std::mutex mutex_;  // of the following
  HubHoldings holdings_;
  std::list<std::shared_ptr<const Held>> held_;  // the last ones asked for, the latest first
};

}  // namespace sabath
