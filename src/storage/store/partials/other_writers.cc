#include "store/partials/other_writers.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

constexpr std::size_t writers_max = 65'536;  // more journals in one partial are no work of ours

template <class Visit>
void for_each_file(const std::filesystem::path& directory, Visit&& visit) {
  std::error_code error;  // the directory may go at any moment: published, or discarded
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    visit(it->path());
  }
}

}  // namespace

OtherWriters::OtherWriters(std::filesystem::path directory, WriterId self, const Sha256& key,
                           std::vector<Sha256> expected, SteadyNow now)
    : directory_(std::move(directory)),
      self_(std::move(self)),
      self_text_(self_.text()),
      expected_(std::move(expected)),
      key_(key),
      now_(std::move(now)),
      reporter_(expected_.size(), nobody) {}

void OtherWriters::forget() {
  ever_ = false;
  writers_.clear();
  by_name_.clear();
  scratch_.clear();
  scratch_taken_.clear();
  claimants_.clear();
  std::ranges::fill(reporter_, nobody);
}

bool OtherWriters::refresh(bool at_once) {
  if (ever_ && !at_once && now_() - refreshed_ < refresh_interval) return false;
  ever_ = true;
  refreshed_ = now_();
  for (Writer& writer : writers_) writer.scratch_bytes = 0;
  for_each_file(directory_, [this](const std::filesystem::path& file) {
    const std::string name = file.filename();
    if (const auto author = try_parse_journal_name(name)) writer_named(std::string(*author));
    const auto author = try_parse_scratch_name(name);
    if (!author || *author == self_text_) return;
    if (const auto s = try_lstat(file))
      note_scratch(name, std::string(*author), static_cast<std::uint64_t>(s->st_size));
  });
  for (Writer& writer : writers_) take_news(writer);
  return true;
}

void OtherWriters::note_scratch(const std::string& name, const std::string& author, std::uint64_t size) {
  const std::uint32_t writer = writer_named(author);
  if (writer == nobody) return;
  writers_[writer].scratch_bytes += size;
  ScratchFile& file = scratch_[name];
  file.writer = writer;
  file.size = size;
}

std::uint32_t OtherWriters::writer_named(const std::string& name) {
  if (name == self_text_ || writers_.size() >= writers_max) return nobody;
  const auto [at, fresh] = by_name_.try_emplace(name, static_cast<std::uint32_t>(writers_.size()));
  if (fresh) {
    JournalReader journal(directory_ / journal_name(name), key_, expected_.size());
    writers_.push_back({at->second, name, WriterId::try_parse(name), std::move(journal)});
    Writer& writer = writers_.back();
    writer.advanced = now_();
    writer.dead = writer.id && life_of(*writer.id, self_.host) == Life::dead;
  }
  return at->second;
}

void OtherWriters::take_news(Writer& writer) {
  const std::uint32_t number = writer.number;
  if (writer.read_to_the_end) return;
  writer.dead = writer.dead || (writer.id && life_of(*writer.id, self_.host) == Life::dead);
  writer.read_to_the_end = writer.dead;  // by what follows, and nothing can come after it
  const bool grown = writer.journal.read_more();
  if (grown || writer.scratch_bytes != writer.scratch_bytes_before) writer.advanced = now_();
  writer.scratch_bytes_before = writer.scratch_bytes;
  const auto& done = writer.journal.state().done();
  for (; writer.done_seen < done.size(); ++writer.done_seen) {
    const auto& record = done[writer.done_seen];
    if (record.hash != expected_[record.index]) continue;
    reporter_[record.index] = number;
    claimants_.erase(record.index);
  }
  const JournalState& state = writer.journal.state();
  const auto& claims = state.claims();
  for (; writer.claims_seen < claims.size(); ++writer.claims_seen) {
    const std::uint64_t index = claims[writer.claims_seen];
    auto& claimants = claimants_[index];
    std::erase(claimants, number);
    if (!state.is_release(writer.claims_seen) && !reports_done(index)) claimants.push_back(number);
    if (claimants.empty()) claimants_.erase(index);
  }
}

bool OtherWriters::claims(std::uint64_t index) const {
  const auto found = claimants_.find(index);
  return found != claimants_.end() &&
         std::ranges::any_of(found->second, [this](std::uint32_t number) { return active(number); });
}

bool OtherWriters::goes_before_us(std::uint64_t index) const {
  const auto found = claimants_.find(index);
  return found != claimants_.end() && std::ranges::any_of(found->second, [this](std::uint32_t number) {
           return active(number) && writers_[number].name < self_text_;
         });
}

bool OtherWriters::active(std::uint32_t number) const {
  return !writers_[number].dead && now_() - writers_[number].advanced < quiet_max;
}

template <class Visit>
void OtherWriters::for_each_left(Visit&& visit) {
  for (auto& [name, file] : scratch_) {
    if (file.size == 0 || active(file.writer)) continue;
    if (file.size != file.size_looked_at) {
      file.parts = scratch_parts(directory_ / name);
      file.size_looked_at = file.size;
    }
    for (const ScratchPart& part : file.parts) {
      if (!scratch_taken_.contains({name, part.index})) visit(name, part);
    }
  }
}

std::map<std::uint64_t, std::uint64_t> OtherWriters::scratch_left() {
  std::map<std::uint64_t, std::uint64_t> left;
  for_each_left([&](const std::string&, const ScratchPart& part) {
    if (part.index < expected_.size() && !reports_done(part.index)) left[part.index] += part.length;
  });
  return left;
}

std::vector<ScratchBytes> OtherWriters::take_scratch(std::uint64_t index, std::uint64_t length_max) {
  std::set<std::string> names;
  for_each_left([&](const std::string& name, const ScratchPart& part) {
    if (part.index == index) names.insert(name);
  });
  std::vector<ScratchBytes> all;
  for (const auto& name : names) {
    std::ranges::move(read_scratch(directory_ / name, index, length_max), std::back_inserter(all));
    scratch_taken_.insert({name, index});
  }
  return all;
}

}  // namespace sabath
