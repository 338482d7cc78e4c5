#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/hdf5.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_inspect {

using Extents = std::vector<std::optional<std::uint64_t>>;

std::string tuple(const Extents& extents) {
  std::string text;
  for (const auto& extent : extents)
    text += (text.empty() ? "" : ", ") + (extent ? fmt::to_string(*extent) : std::string("unlimited"));
  return "(" + text + ")";
}

std::string tuple(const std::vector<std::uint64_t>& extents) { return tuple(Extents(extents.begin(), extents.end())); }

std::string filters_text(const std::vector<Hdf5Filter>& filters) {
  std::string text;
  for (const Hdf5Filter& filter : filters) {
    text += fmt::format("  {}({}{}{})", filter.name.empty() ? "filter" : filter.name, filter.id,
                        filter.values.empty() ? "" : ": ", fmt::join(filter.values, ","));
    if (!filter.available) text += " MISSING";
  }
  return text;
}

std::string dataset_text(const Hdf5Object& object) {
  const bool is_virtual = object.layout == "virtual";
  std::string text = object.type;
  if (!is_virtual) {
    text += object.shape ? " " + tuple(*object.shape) : " empty";
    if (object.shape_max && object.shape && *object.shape_max != Extents(object.shape->begin(), object.shape->end()))
      text += " up to " + tuple(*object.shape_max);
  }
  text += "  " + object.layout;
  if (object.layout == "chunked") text += " " + tuple(object.chunk);
  if (!is_virtual) text += "  " + format_bytes(object.bytes);
  if (!object.filters.empty())
    text += filters_text(object.filters) + fmt::format("  stored as {}", format_bytes(object.stored_bytes));
  if (object.fill != "null") text += "  fill " + object.fill;
  if (!is_virtual && object.layout != "external") return text;
  text += "  NOT FOLLOWED:";
  for (const Hdf5Source& source : object.sources) text += " " + source.file;
  return text;
}

std::string object_text(const Hdf5Object& object) {
  if (object.kind == "dataset") return dataset_text(object);
  if (object.kind == "type") return "type " + object.type;
  if (object.kind == "alias") return "= " + object.target;
  if (object.kind == "soft_link") return "-> " + object.target;
  if (object.kind == "external_link") return fmt::format("-> {}:{}  NOT FOLLOWED", object.file, object.target);
  return object.target.empty() ? object.kind : object.target;
}

std::string attribute_text(const Hdf5Attribute& attribute) {
  const bool is_list = attribute.shape && !attribute.shape->empty();
  return fmt::format("    @{}  {}{}  {}{}", attribute.name, attribute.type,
                     is_list ? " " + tuple(*attribute.shape) : "", attribute.value, attribute.cut ? " ..." : "");
}

void print(Context& context, const Hdf5InspectRecord& record) {
  for (const Hdf5Object& object : record.objects) {
    context.out.print(printable(fmt::format("{}  {}", object.path, object_text(object)), 8192) + "\n");
    for (const Hdf5Attribute& attribute : object.attributes)
      context.out.print(printable(attribute_text(attribute), 8192) + "\n");
    if (const std::uint64_t hidden = object.attributes_total - object.attributes.size(); hidden > 0)
      context.out.print(fmt::format("    and {}\n", counted(hidden, "more attribute")));
  }
  if (const std::uint64_t hidden = record.objects_total - record.objects.size(); hidden > 0)
    context.out.print(fmt::format("and {}\n", counted(hidden, "more object")));
}

}  // namespace cmd_hdf5_inspect
}  // namespace

constexpr Verb hdf5_inspect_verb{
    .name = "hdf5 inspect",
    .summary = "show what is in an HDF5 file",
    .examples =
        "sabath hdf5 inspect univ.hdf5          groups, datasets, types, chunks, filters, attributes\n"
        "sabath hdf5 inspect univ.hdf5 --json | jq '.objects[] | select(.kind == \"dataset\") | .path'",
    .details =
        "Metadata and attributes are read, data are not. Links are shown; nothing outside FILE is opened: no external "
        "link, no external or virtual data. The file may be hostile: it is read by a process of its own with bounds on "
        "memory and time. Exit code 12 if it is damaged or no HDF5 file, 7 if it is cut off.",
    .declare = declare<hdf5_inspect, cmd_hdf5_inspect::print>,
};

}  // namespace sabath::cli
