#include "store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/lookup.h"
#include "store/state.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view format_name = "sabath-store";
constexpr std::uint64_t format_version = 1;
constexpr std::uint64_t pack_threshold_default = 1 << 20;
constexpr std::uint64_t format_size_max = 64 * 1024;

std::string quoted(const fs::path& path) { return printable(path.native()); }

// Returns the pack threshold.
std::uint64_t check_format(const std::string& text, const fs::path& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const bool ours = json.is_object() && json.value("format", nlohmann::json()) == format_name &&
                    json.value("version", nlohmann::json()).is_number_unsigned();
  if (!ours) {
    throw Error(FailureKind::invalid, fmt::format("{} does not describe a store", quoted(file)),
                "give another directory, or put the store's format file back");
  }
  const auto version = json["version"].get<std::uint64_t>();
  if (version > format_version) {
    throw Error(
        FailureKind::invalid,
        fmt::format("{} has the store format {}, and this program knows {}", quoted(file), version, format_version),
        "use a newer SABATH, or another store");
  }
  const auto threshold = json.value("pack_threshold_bytes", nlohmann::json());
  return threshold.is_number_unsigned() ? std::min(threshold.get<std::uint64_t>(), pack_member_max) : 0;
}

// Empty but for a format file on its way: another process may be making this store right now. Or one user's store whose
// format file is gone, as cleaners of /tmp take what was not read for long: nothing is in it but what stores have.
bool may_become_store(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    if (!name.starts_with("format.") && !Layout::has_directory(name)) return false;
  }
  if (error) throw_errno("list", directory, error.value());
  return true;
}

void make_store(const Layout& layout) {
  make_directories(layout.root());
  if (!may_become_store(layout.root())) {
    if (try_lstat(layout.format_file())) return;  // another process has just made it
    const bool git = try_lstat(layout.root() / ".git").has_value();
    throw Error(FailureKind::invalid,
                fmt::format("{} is not a store, and it is not empty{}", quoted(layout.root()),
                            git ? ": it is a git work tree" : ""),
                "give the directory of a store, or one that is empty or does not exist yet");
  }
  const nlohmann::ordered_json format{
      {"format", format_name}, {"version", format_version}, {"pack_threshold_bytes", pack_threshold_default}};
  write_text_atomically(layout.format_file(), format.dump() + "\n");
}

}  // namespace

std::unique_ptr<Store> Store::open(const fs::path& directory, bool create) {
  std::error_code error;
  const Layout layout(fs::absolute(directory, error));
  if (error) throw_errno("find", directory, error.value());
  auto text = try_read_text(layout.format_file(), format_size_max);
  if (!text && create) {
    make_store(layout);
    text = try_read_text(layout.format_file(), format_size_max);
  }
  if (!text) {
    throw Error(FailureKind::not_found, fmt::format("there is no store in {}", quoted(directory)),
                "fetch something into it first, or give another directory");
  }
  const auto pack_threshold = check_format(*text, layout.format_file());
  auto state = std::make_unique<State>(layout.root());
  state->pack_threshold = pack_threshold;
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;

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
  make_directories(state_->layout.records());
  const auto file = state_->layout.records() / fmt::format("{}.{}.jsonl", day.data(), state_->writer.text());
  const std::string line = json_line + "\n";
  Fd fd = open_file(file, O_WRONLY | O_CREAT | O_APPEND, own_file_mode);
  write_all(fd.get(), std::as_bytes(std::span(line)), file);
  sync_file(fd.get(), file);
  close_file(std::move(fd), file);
}

}  // namespace sabath
