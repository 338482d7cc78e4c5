// Words of the commands in a job's script. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sabath/recipe.h"

namespace sabath {

// A name that may be a file's: the job works in another directory.
[[nodiscard]] std::string settled(const std::string& name);
[[nodiscard]] std::string absolute_list(const std::string& paths);  // separated by colons
[[nodiscard]] std::string escaped_commas(const std::string& value);

// Of the recipe's facts: "job_gpus": 4. A stranger may have written it: Error{invalid} for more than `maximum`.
[[nodiscard]] std::string job_fact(const Recipe& model, const std::string& key);
[[nodiscard]] std::optional<std::uint64_t> job_count(const Recipe& model, const std::string& key,
                                                     std::uint64_t maximum);

}  // namespace sabath
