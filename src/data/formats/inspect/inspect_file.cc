#include "formats/inspect/inspect_file.h"

#include "formats/find_code.h"
#include "formats/inspect/inspect_format.h"

namespace sabath {
namespace {

void take_code(InspectRecord& record, const DataFile& file) {
  for (CodeInFile& code : find_code(file.path(), file.on_progress())) {
    if (record.format == "unknown") record.format = code.form;
    PickleFacts& facts = code.facts;
    record.code.push_back({code.form, code.where, std::move(facts.imports), facts.executes, facts.calls,
                           facts.persistent_ids, facts.protocol, std::move(facts.trouble)});
  }
}

}  // namespace

InspectRecord inspect_file(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  const DataFile data(file, on_progress);
  InspectRecord record;
  record.file = file;
  record.bytes = data.bytes();
  record.format = "unknown";
  if (data.is_packed()) record.packed = "gzip";
  for (const InspectFormat* const format : inspect_formats()) {
    if (format->is == nullptr || (data.is_packed() && !format->in_gzip) || !format->is(data)) continue;
    record.format = format->name;
    if (format->read != nullptr) format->read(data, record);
    break;
  }
  take_code(record, data);
  return record;
}

}  // namespace sabath
