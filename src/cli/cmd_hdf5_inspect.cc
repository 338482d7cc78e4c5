#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "hdf5/own_process.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_inspect {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
};

std::string tuple(const Json& extents) {
  std::string text;
  for (const Json& extent : extents) {
    text += (text.empty() ? "" : ", ") + (extent.is_null() ? std::string("unlimited") : extent.dump());
  }
  return "(" + text + ")";
}

std::string filters_text(const Json& filters) {
  std::string text;
  for (const Json& filter : filters) {
    std::string name = filter["name"];
    if (name.empty()) name = "filter";
    text += fmt::format("  {}({}{}{})", name, filter["id"].get<int>(), filter["values"].empty() ? "" : ": ",
                        fmt::join(filter["values"].get<std::vector<unsigned>>(), ","));
    if (!filter["available"]) text += " MISSING";
  }
  return text;
}

std::string dataset_text(const Json& object) {
  std::string text = object.at("type").get<std::string>();
  if (object.contains("shape")) {
    text += object["shape"].is_null() ? " empty" : " " + tuple(object["shape"]);
    if (!object["shape_max"].is_null() && object["shape_max"] != object["shape"]) {
      text += " up to " + tuple(object["shape_max"]);
    }
  }
  text += "  " + object["layout"].get<std::string>();
  if (object.contains("chunk")) text += " " + tuple(object["chunk"]);
  if (object.contains("bytes")) text += "  " + format_bytes(object["bytes"].get<std::uint64_t>());
  if (object.contains("filters") && !object["filters"].empty()) {
    text += filters_text(object["filters"]) + fmt::format("  stored as {}", format_bytes(object["stored_bytes"]));
  }
  if (object.contains("fill") && !object["fill"].is_null()) text += "  fill " + object["fill"].dump();
  if (!object.contains("sources")) return text;
  text += "  NOT FOLLOWED:";
  for (const Json& source : object["sources"]) text += " " + source["file"].get<std::string>();
  return text;
}

std::string object_text(const Json& object) {
  const std::string kind = object["kind"];
  if (kind == "dataset") return dataset_text(object);
  if (kind == "type") return "type " + object["type"].get<std::string>();
  const std::string target = object.value("target", "");
  if (kind == "alias") return "= " + target;
  if (kind == "soft_link") return "-> " + target;
  if (kind == "external_link") return fmt::format("-> {}:{}  NOT FOLLOWED", object.value("file", ""), target);
  return target.empty() ? kind : target;
}

void print_text(Context& context, const Json& record) {
  for (const Json& object : record["objects"]) {
    context.out.print(printable(fmt::format("{}  {}", object["path"].get<std::string>(), object_text(object)), 8192) +
                      "\n");
    if (!object.contains("attributes")) continue;
    for (const Json& attribute : object["attributes"]) {
      const std::string value = attribute["value"].dump();
      const std::string shape =
          attribute["shape"].is_null() || attribute["shape"].empty() ? "" : " " + tuple(attribute["shape"]);
      context.out.print(
          printable(fmt::format("    @{}  {}{}  {}{}", attribute["name"].get<std::string>(),
                                attribute["type"].get<std::string>(), shape, value, attribute["cut"] ? " ..." : ""),
                    8192) +
          "\n");
    }
    const std::uint64_t hidden = object["attributes_total"].get<std::uint64_t>() - object["attributes"].size();
    if (hidden > 0) context.out.print(fmt::format("    and {} more attributes\n", hidden));
  }
  const std::uint64_t hidden = record["objects_total"].get<std::uint64_t>() - record["objects"].size();
  if (hidden > 0) context.out.print(fmt::format("and {} more objects\n", hidden));
}

int run(Context& context, const Options& options) {
  const Json record = Hdf5(context.configuration.session.program).inspect(options.file, context.stop);
  if (!context.presentation.json) {
    print_text(context, record);
    return 0;
  }
  Json whole{{"schema", 1}};
  whole.update(record);
  whole["exit"] = 0;
  context.out.record(whole);
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("FILE", options->file, "an HDF5 file");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_hdf5_inspect
}  // namespace

constexpr Verb hdf5_inspect_verb{
    "hdf5 inspect",
    "show what is in an HDF5 file",
    "sabath hdf5 inspect univ.hdf5          groups, datasets, types, chunks, filters, attributes\n"
    "sabath hdf5 inspect univ.hdf5 --json | jq '.objects[] | select(.kind == \"dataset\") | .path'",
    "Metadata and attributes are read, data are not. Links are shown; nothing outside FILE is opened: no external "
    "link, no "
    "external or virtual data. The file may be hostile: it is read by a process of its own with bounds on memory and "
    "time. Exit code 12 if it is damaged or no HDF5 file, 7 if it is cut off.",
    false,
    cmd_hdf5_inspect::declare,
};

}  // namespace sabath::cli
