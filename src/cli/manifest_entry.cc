#include "cli/manifest_entry.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sabath/path.h"

namespace sabath::cli {
namespace {

char letter(EntryType type) {
  switch (type) {
    case EntryType::file:
      return 'f';
    case EntryType::executable:
      return 'x';
    case EntryType::directory:
      return 'd';
    case EntryType::symlink:
      break;
  }
  return 'l';
}

const char* type_name(EntryType type) {
  switch (type) {
    case EntryType::file:
      return "file";
    case EntryType::executable:
      return "executable";
    case EntryType::directory:
      return "directory";
    case EntryType::symlink:
      break;
  }
  return "symlink";
}

}  // namespace

std::string entry_line(const Entry& entry) {
  const std::string path = printable(entry.path.text(), 4096);
  if (entry.type == EntryType::symlink) {
    return fmt::format("l {:>14}  {:<64}  {} -> {}", "", "", path, printable(entry.target, 4096));
  }
  return fmt::format("{} {:>14}  {}  {}{}", letter(entry.type), entry.digest.size_bytes, entry.digest.hash.hex(), path,
                     entry.type == EntryType::directory ? "/" : "");
}

nlohmann::ordered_json entry_record(const Entry& entry) {
  nlohmann::ordered_json record{{"path", entry.path.text()}, {"type", type_name(entry.type)}};
  if (entry.type == EntryType::symlink) {
    record["target"] = entry.target;
  } else {
    record["size"] = entry.digest.size_bytes;
    record["digest"] = entry.digest.hash.prefixed();
  }
  return record;
}

}  // namespace sabath::cli
