#include "store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/leases/lease_file.h"
#include "store/lookup.h"
#include "store/shared.h"
#include "store/state.h"
#include "store/store_format.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A member may have put a symlink in the place of a room before it was made: what is written and collected there would
// be files of the user who works with the store.
void check_common_rooms(const Layout& layout) {
  for (const Room& room : rooms_of_store()) {
    if (room.own_mode != 0) continue;
    const fs::path place = layout.room(room);
    const auto s = try_lstat(place);
    if (!s || S_ISDIR(s->st_mode)) continue;
    throw Error(FailureKind::storage,
                fmt::format("{} is no directory: user {} put it there", printable(place.native()), s->st_uid),
                "its owner, the store's or root removes it; then the same command works");
  }
}

}  // namespace

Store::State::State(const fs::path& directory) : Stock(layout_for_user(directory)), uses(writer) {}

const std::vector<Layout>& Store::State::as_all_see() {
  std::call_once(all_listed_, [this] {
    as_all_see_.push_back(layout);
    if (!layout.of_several_users()) return;
    as_all_see_.emplace_back(layout.root());  // as an earlier SABATH saw it
    for (const auto& room : rooms_of_all(layout, layout.aliases())) {
      const auto user = static_cast<unsigned>(std::stoul(room.extension().native().substr(1)));
      if (room != layout.aliases()) as_all_see_.push_back(layout.of_user(user));
    }
  });
  return as_all_see_;
}

std::unique_ptr<Store> Store::open(const fs::path& directory, bool create) {
  std::error_code error;
  const Layout layout(fs::absolute(directory, error));
  if (error) throw_errno("find", directory, error.value());
  auto format = try_read_format(layout);
  if (!format && create) {
    make_store(layout);
    format = try_read_format(layout);
  }
  if (!format) {
    throw Error(FailureKind::not_found, fmt::format("there is no store in {}", printable(directory.native())),
                "fetch something into it first, or give another directory");
  }
  auto state = std::make_unique<State>(layout.root());
  if (state->layout.of_several_users()) check_common_rooms(state->layout);
  state->pack_threshold = format->pack_threshold;
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;

void Store::name_sources(SourceNames names) { state_->names = std::move(names); }

const SourceNames& Store::source_names() const noexcept { return state_->names; }

const fs::path& Store::directory() const noexcept { return state_->layout.root(); }

Space Store::space() const {
  struct statvfs s {};
  if (::statvfs(directory().c_str(), &s) != 0) throw_errno("ask the free space of", directory(), errno);
  return {std::uint64_t{s.f_bavail} * s.f_frsize, s.f_files == 0 ? UINT64_MAX : std::uint64_t{s.f_favail}};
}

bool Store::present(const Digest& file) {
  if (file.kind != ContentKind::file) throw Error(FailureKind::internal, "only files are objects");
  return state_->present(file) || bring(*state_, file);
}

const Members& Store::members() const { return state_->layout.members(); }

void Store::admit(const fs::path& file, const std::string& name) const {
  if (admits(state_->layout, file)) return;
  const auto group = members().group();
  throw Error(
      FailureKind::access,
      fmt::format("{} may not go into {}: {} cannot all read it where it is", name, printable(directory().native()),
                  group ? "the members of the store's group" : "the owner of the store"),
      fmt::format(
          "give the very file with {}, if it is meant for them; or let them read it (its directories included), "
          "or use a store of your own: {} DIR",
          option_text("path"), option_text("store")));
}

Lease Store::lease(const std::vector<Sha256>& roots, const std::string& note, const LeaseOptions& options) {
  return Lease::begin(state_->layout, state_->temporaries, state_->uses, {note, state_->job, options.open, 0, roots});
}

void Store::work_for(std::string job) { state_->job = std::move(job); }

void Store::distrust(const Digest& file) {
  state_->evidence.distrust(file);
  if (state_->packs.find(file)) state_->packs.distrust(file);
}

bool Store::packed(const Manifest& manifest) const {
  const Totals totals = manifest.totals();
  if (!packs(totals.files)) return false;
  std::uint64_t packed = 0;
  manifest.for_each([&](const Entry& entry) {
    if (packed < pack_files_min && entry.is_file() && state_->packs.find(entry.digest)) ++packed;
  });
  return packed >= pack_files_min;
}

fs::path Store::object_path(const Digest& file) const { return state_->layout.object(file); }

fs::path Store::view_path(const Sha256& root) const { return state_->layout.view(root); }

fs::path Store::git_directory(const Sha256& source_key) const { return state_->layout.git(source_key); }

fs::path Store::make_temporary_directory() { return state_->temporaries.new_directory(); }

void Store::append_record(const std::string& json_line) {
  const std::time_t now = std::time(nullptr);
  struct tm utc {};
  ::gmtime_r(&now, &utc);
  std::array<char, 16> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%d", &utc);
  members().make_directories(state_->layout.records());
  const auto file = state_->layout.records() / fmt::format("{}.{}.jsonl", day.data(), state_->writer.text());
  const std::string line = json_line + "\n";
  Fd fd = members().create(file, O_WRONLY | O_CREAT | O_APPEND, own_file_mode);
  write_all(fd.get(), std::as_bytes(std::span(line)), file);
  sync_file(fd.get(), file);
  close_file(std::move(fd), file);
}

}  // namespace sabath
