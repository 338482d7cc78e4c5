// A report as one HTML file: figure, results, tables, what each run was. No script, no network, light and dark. Pure;
// any thread.
#pragma once

#include <span>
#include <string>

#include "report/roles.h"
#include "report/run.h"

namespace sabath {

[[nodiscard]] std::string html_report(std::span<const Run> runs, const Shown& shown);

}  // namespace sabath
