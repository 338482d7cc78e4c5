#include "session/fetch_log.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "session/asset_fields.h"
#include "store/store.h"

namespace sabath {

void append_to_log(Store& store, const AssetRecord& record) {
  Json line = {{"time", unix_time<std::chrono::seconds>()}};
  write_fields(Described<AssetRecord>::table, &record, line);
  store.append_record(text_of(line));
}

}  // namespace sabath
