// Directories of web servers: http(s)://host/dir/ and patterns below it, by their index pages; dav(s)://host/dir/ by
// WebDAV, whose files are then read by http(s).
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/resolver.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Resolver> make_web_directory_resolver(std::shared_ptr<Transport> transport);

}  // namespace sabath
