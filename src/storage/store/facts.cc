#include "store/facts.h"

#include <utility>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/facts_names.h"
#include "store/disk/listing.h"
#include "store/disk/small_file.h"
#include "store/state.h"

namespace sabath {

void keep_facts(Store& store, const Sha256& root, const std::string& text) {
  Store::State& state = store.state();
  state.layout.members().make_directories(facts_room(state.layout));
  replace_file(state.temporaries, facts_file(state.layout, root), text, false);
}

bool has_facts(const Layout& layout, const Sha256& root) { return try_lstat(facts_file(layout, root)).has_value(); }

std::optional<std::string> try_facts(const Layout& layout, const Sha256& root) {
  try {
    const auto file = facts_file(layout, root);
    const auto status = try_lstat(file);
    if (!status || !S_ISREG(status->st_mode)) return std::nullopt;
    return try_read_text(file, facts_size_max);
  } catch (const Error&) {
    return std::nullopt;  // they are hints
  }
}

std::vector<std::string> all_facts(const Layout& layout, std::size_t most) {
  std::vector<std::string> texts;
  try {
    for (const auto& file : list_directory(facts_room(layout))) {
      if (texts.size() == most) break;
      if (!Sha256::try_parse(file.filename().native())) continue;
      const auto status = try_lstat(file);
      if (!status || !S_ISREG(status->st_mode)) continue;
      if (auto text = try_read_text(file, facts_size_max)) texts.push_back(std::move(*text));
    }
  } catch (const Error&) {
    return texts;  // they are hints
  }
  return texts;
}

}  // namespace sabath
