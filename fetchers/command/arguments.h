// The argv of an external program, from its description and a URL. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/description.h"
#include "sabath/fetcher.h"

namespace sabath {

// The value of each "{name}"; a name without a value is absent.
using Placeholders = std::map<std::string, std::string, std::less<>>;

// url, origin, host, port, authority, path (decoded, with its '/'), name (without), offset, length, last, file, and
// what the settings say: ssh_config, s3_endpoint, ca_file. `resolve`: where the host is (set/addresses.h). Throws
// Error{invalid} for a path with control characters or a host that begins with '-': no program gets to see them.
[[nodiscard]] Placeholders placeholders_of(const ReadRequest& request, const FetcherSettings& settings,
                                           const std::string& file, const std::string& resolve = {});

// Throws Error{invalid} if a value would become an option after all, or a required placeholder has no value.
[[nodiscard]] std::vector<std::string> expand(const std::vector<ArgumentGroup>& argv, const Placeholders& values,
                                              const std::string& name);

// Why these argv must not be used: an unknown placeholder, a program that is not named literally, or a value from a URL
// that could be taken for an option. Empty: nothing.
[[nodiscard]] std::string fault_of(const std::vector<ArgumentGroup>& argv);

}  // namespace sabath
