// The part of Collector that knows packs: it rewrites packs without dead members, and discards a pack that has no
// member left. The old pack goes to the trash as a whole, so that it can come back.
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "store/collect/collector.h"

namespace sabath {
namespace {

// A pack is rewritten when a quarter of it is not wanted; below that the copying costs more than the room is worth.
constexpr std::uint64_t waste_divisor = 4;
// At least this many small packs are merged; small: below a quarter of the aimed size.
constexpr std::size_t small_packs_min = 8;
constexpr std::uint64_t small_pack_bytes = pack_bytes_aim / 4;

}  // namespace

void Collector::rewrite_packs(const Survey& survey) {
  dead_.resize(survey.objects.size());
  for (std::uint32_t number = 0; number < survey.objects.packs().size(); ++number) {
    check_stop();
    rewrite_pack(survey, number);
  }
  merge_small_packs();
}

// A slow source leaves a small pack every few seconds.
void Collector::merge_small_packs() {
  std::vector<std::shared_ptr<const Pack>> small;
  for (const auto& pack : store_.packs.all()) {
    if (pack->name.size_bytes < small_pack_bytes) small.push_back(pack);
  }
  if (small.size() < small_packs_min) return;
  for (std::size_t begin = 0; begin < small.size();) {
    check_stop();
    std::vector<std::shared_ptr<const Pack>> group;
    std::uint64_t bytes = 0, members = 0;
    for (; begin < small.size() && bytes + small[begin]->name.size_bytes <= pack_bytes_aim; ++begin) {
      bytes += small[begin]->name.size_bytes;
      members += small[begin]->footer.members;
      if (members > pack_members_max) break;
      group.push_back(small[begin]);
    }
    const auto merged = group.size() < 2 ? std::nullopt : store_.packs.merge(group);
    if (!merged) continue;
    for (const auto& pack : group) {
      if (pack->name == *merged) continue;  // it had all that the others have
      store_.trash.discard(batch(), pack->file);
      store_.packs.moved(*pack);
    }
  }
}

void Collector::rewrite_pack(const Survey& survey, std::uint32_t number) {
  const Pack& pack = *survey.objects.packs()[number];
  const auto placed = [&](const std::filesystem::path& file) {
    const auto s = try_lstat(file);
    return s ? nanoseconds(s->st_ctim) : INT64_MAX;
  };
  const std::int64_t old = now_ns_ - std::chrono::nanoseconds(policy_.grace).count();
  const bool pack_is_old = placed(pack.file) <= old;
  // A member that also stands elsewhere is not wanted. All collections must see both places, and keep the same one.
  const auto is_wanted = [&](const PackMember& member) {
    const auto index = survey.objects.find(member.digest);
    if (!index) return true;
    if (dead_[*index]) return false;
    if (survey.objects.pack(*index) == number || !pack_is_old) return true;
    return placed(survey.objects.file(*index, store_.layout)) > old;
  };
  std::uint64_t bytes = 0, waste = 0, dead = 0, dead_bytes = 0, members = 0;
  for (const PackMember& member : store_.packs.members_of(pack)) {
    ++members;
    bytes += member.stored_bytes;
    if (is_wanted(member)) continue;
    waste += member.stored_bytes;
    const auto index = survey.objects.find(member.digest);
    if (survey.objects.pack(*index) != number) continue;
    ++dead;
    dead_bytes += member.stored_bytes;
  }
  if (members == 0 || (waste == 0 && dead == 0)) return;
  if (policy_.whole_packs ? waste < bytes / waste_divisor && !policy_.size_max : dead == 0) return;
  const auto discard = [&] { store_.trash.discard(batch(), pack.file); };
  const auto bad = store_.packs.rewrite(pack, is_wanted, discard);
  if (!bad.empty())
    report_.notes.push_back(
        fmt::format("a pack held damaged files: `{} {}` tells which", verb_text("verify"), option_text("repair")));
  report_.collected_objects += dead;
  report_.collected_bytes += dead_bytes;
}

}  // namespace sabath
