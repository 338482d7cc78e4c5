// The placeholders of a supporting script's command: {input} {output} {name} {stem} {dataset} {source} {num_threads}
// {arg.NAME}. What is literal, and what is refused, is as in recipe/command_template.h. Plain values; any thread.
// Throws Error{invalid}.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sabath {

// The text with each placeholder replaced by `value(name)`; `name` is what stands in the braces.
[[nodiscard]] std::string fill_script_template(std::string_view text,
                                               const std::function<std::string(std::string_view name)>& value);

}  // namespace sabath
