// A packed environment as one file that sites can mount: an asset of its own. docs/environments.md, "One file". One
// thread a session. Throws Error{usage}, Error{not_found} for what is no packed environment and without mksquashfs,
// Error{offline} for files that are not here, Error{command}, Error{content} if the name means another root,
// Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

enum class ImageCompression { zstd, none };

struct EnvImageRequest {
  std::string environment;  // a name, or "sha256:<hex>"
  std::string name;         // of the asset; empty: NAME-image
  ImageCompression compression = ImageCompression::zstd;
  Environment variables;  // of the caller
};

struct EnvImageRecord {
  std::string name, manifest;  // of the asset, "sha256:<hex>"
  std::string environment;     // the root of the environment
  std::string file;            // in the asset: "numbers.squashfs"
  std::uint64_t bytes = 0, environment_bytes = 0;
  std::string made_by;         // "mksquashfs version 4.5.1 (2022/03/17)"
  std::string known_by;        // the recipe's file
  std::filesystem::path path;  // the asset's view; empty: none
  int exit = 0;
};

[[nodiscard]] EnvImageRecord env_image(Session& session, const EnvImageRequest& request, EventSink& events,
                                       std::stop_token stop = {});
[[nodiscard]] std::string to_json(const EnvImageRecord& record);

}  // namespace sabath
