// Paths that clients of a hub ask for, notes of refs, and names of folders in a cache: nothing comes out that the
// grammar does not allow, and a note has one spelling.
#include <cstdlib>
#include <string_view>

#include "hub/hub_target.h"
#include "hub/revision.h"
#include "sabath/path.h"

using namespace sabath;

namespace {
void check(bool holds) {
  if (!holds) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = try_parse_hub_target(text)) {
    check(is_hub_kind(target->kind) && is_hub_repository(target->repository) && is_hub_revision(target->revision));
    check(target->path.empty() || RelativePath::try_parse(target->path).has_value());
  }
  if (const auto hub = try_decode_hub_note(text)) check(is_sound(*hub) && encode_hub_note(*hub) == text);
  if (const auto hub = try_parse_hub_folder(text)) check(hub_folder(*hub) == text);
  return 0;
}
