#include "metadata/documents.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

// One line a format, in the order of the help text.
#define SABATH_METADATA_FORMATS(format)                                                                         \
  format(jsonld) format(hpc) format(schema_org) format(croissant) format(datacite) format(crate) format(bibtex) \
      format(cff)

namespace sabath {

#define SABATH_DECLARE(name) extern const MetadataFormat name##_format;
SABATH_METADATA_FORMATS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::span<const MetadataFormat> metadata_formats() {
#define SABATH_ENTRY(name) name##_format,
  static const MetadataFormat all[] = {SABATH_METADATA_FORMATS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  return all;
}

const MetadataFormat& find_metadata_format(std::string_view name) {
  std::vector<std::string> names;
  for (const MetadataFormat& format : metadata_formats()) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const auto near = nearest(name, names);
  throw Error(FailureKind::usage,
              fmt::format("no metadata format is called \"{}\"{}", printable(name),
                          near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""),
              fmt::format("take one of {}", fmt::join(names, ", ")));
}

}  // namespace sabath
