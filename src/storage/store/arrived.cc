#include "store/arrived.h"

#include <system_error>

#include "store/partials/journal.h"
#include "store/state.h"

namespace sabath {

std::vector<bool> chunks_arrived(Store& store, const Digest& file, std::span<const Sha256> chunks) {
  std::vector<bool> arrived(chunks.size());
  std::error_code error;  // most often there is no such directory
  for (std::filesystem::directory_iterator it(store.state().layout.partial(file), error), end; !error && it != end;
       it.increment(error)) {
    if (!try_parse_journal_name(it->path().filename().native())) continue;
    JournalReader journal(it->path(), file.hash, chunks.size());
    journal.read_more();
    for (const auto& done : journal.state().done()) {
      if (chunks[done.index] == done.hash) arrived[done.index] = true;
    }
  }
  return arrived;
}

}  // namespace sabath
