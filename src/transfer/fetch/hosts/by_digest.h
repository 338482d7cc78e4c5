// Sources that give content by its digest alone: other stores (docs/serving.md). "sabath://host" in a recipe stands for
// all content of the asset that the store holds; here it becomes the URL of one content. Pure; any thread.
#pragma once

#include "fetch/decide/job.h"
#include "sabath/digest.h"
#include "sabath/url.h"

namespace sabath {

[[nodiscard]] bool is_store(const Url& url);  // a store as such, without a path
// The file that the job names by digest or by a published checksum; `url` itself if it is no store, or nothing names
// it.
[[nodiscard]] Url by_digest(const Url& url, const FileJob& job);
[[nodiscard]] Url manifest_at(const Url& store, const Sha256& root);

}  // namespace sabath
