#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"
#include "report/exporter.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

// Every exporter, in the order of the help text. NAME stands for the constant NAME_exporter of the exporter's file.
#define SABATH_EXPORTERS(NAME) \
  NAME(text)                   \
  NAME(svg)                    \
  NAME(png)                    \
  NAME(html)                   \
  NAME(json)                   \
  NAME(csv)                    \
  NAME(mlperf)                 \
  NAME(mlflow)                 \
  NAME(tensorboard)            \
  NAME(ro_crate)

#define SABATH_DECLARE(name) extern const Exporter name##_exporter;
SABATH_EXPORTERS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::span<const Exporter* const> exporters() {
#define SABATH_ENTRY(name) &name##_exporter,
  static constexpr std::array all{SABATH_EXPORTERS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  return all;
}

const Exporter& exporter_named(std::string_view name) {
  std::string names;
  for (const Exporter* const one : exporters()) {
    if (one->name == name) return *one;
    names.append(names.empty() ? "" : ", ").append(one->name);
  }
  throw Error(FailureKind::usage, fmt::format("no report is written as {}", printable(name)), "there are: " + names);
}

const Exporter& exporter_for(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending.empty()) return *exporters().front();
  std::string names;
  for (const Exporter* const one : exporters()) {
    if (std::ranges::find(one->endings, ending) != one->endings.end()) return *one;
    names.append(names.empty() ? "" : ", ").append(one->name);
  }
  throw Error(FailureKind::usage, fmt::format("no report is written as {}", printable(ending)),
              fmt::format("say by {} what is to be written: {}", option_text("format"), names));
}

}  // namespace sabath
