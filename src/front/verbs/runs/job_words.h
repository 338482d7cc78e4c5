// Words of the commands in a job's script. Any thread.
#pragma once

#include <string>

namespace sabath {

// A name that may be a file's: the job works in another directory.
[[nodiscard]] std::string settled(const std::string& name);
[[nodiscard]] std::string absolute_list(const std::string& paths);  // separated by colons
[[nodiscard]] std::string escaped_commas(const std::string& value);

}  // namespace sabath
