#include "metrics/formats.h"

#include <array>

namespace sabath {

// Every format, in the order in which they are tried. NAME stands for the constant NAME_format of the format's file.
#define SABATH_LOG_FORMATS(NAME) \
  NAME(mlperf)                   \
  NAME(sabath)                   \
  NAME(json)                     \
  NAME(table)                    \
  NAME(keras)                    \
  NAME(tqdm)                     \
  NAME(sciml)                    \
  NAME(shapes)                   \
  NAME(prints)                   \
  NAME(csv)

#define SABATH_DECLARE(name) extern const LogFormat name##_format;
SABATH_LOG_FORMATS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::span<const LogFormat* const> log_formats() {
#define SABATH_ENTRY(name) &name##_format,
  static constexpr std::array all{SABATH_LOG_FORMATS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  return all;
}

std::string log_format_titles() {
  std::string titles;
  for (const LogFormat* const format : log_formats()) {
    if (!format->title.empty()) titles.append(titles.empty() ? "" : ", ").append(format->title);
  }
  return titles;
}

}  // namespace sabath
