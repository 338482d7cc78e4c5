// The one way by which a value comes into the script of a batch job. Pure; any thread. Throws Error{usage}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

inline constexpr std::size_t script_word_bytes_max = 64 * 1024;

// One word of bash that stands for exactly this text: on one line, in ASCII, and never the beginning of a comment, an
// option of a scheduler or a placeholder. Refuses NUL, and a text that is too long.
[[nodiscard]] std::string script_word(std::string_view text);
[[nodiscard]] std::string script_words(const std::vector<std::string>& texts);  // with spaces between them

// A value in a line that a scheduler reads, where no quote is the same to all of them: it is refused unless it is made
// of letters, digits and _ - + = . , : / with a letter or digit in front. `what` names it for people.
[[nodiscard]] std::string directive_word(std::string_view what, std::string_view text);

// A name for a queue's list: what a directive cannot hold becomes "_".
[[nodiscard]] std::string job_label(std::string_view name);

}  // namespace sabath
