// The role of a metric, judged by its name; and the metrics that a report shows by default, with their axis. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/run.h"

namespace sabath {

enum class Role : std::uint8_t { loss, error, score, time, other };
[[nodiscard]] Role role_of(std::string_view name);
[[nodiscard]] bool is_validation(std::string_view name);

// Of all runs, each once, in the order of appearance.
[[nodiscard]] std::vector<std::string> metric_names(std::span<const Run> runs);

struct Shown {
  std::vector<std::string> left;  // losses and errors; else what there is
  std::string right;              // time per epoch; empty: not known
  bool asked = false;             // by the user, who knows what else there is
};

// `names` if the user named some, else at most `most`: losses before errors, each with its validation, the shortest
// names first. Unknown names throw Error{not_found} with what there is.
[[nodiscard]] Shown choose_shown(std::span<const Run> runs, const std::vector<std::string>& names, std::size_t most);
// As many as a figure of these runs has room for.
[[nodiscard]] Shown shown_in_figure(std::span<const Run> runs, const std::vector<std::string>& names);

}  // namespace sabath
