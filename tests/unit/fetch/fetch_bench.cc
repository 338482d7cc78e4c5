#include "fetch_bench.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "store/disk/writer.h"

namespace sabath::test {

void EventLog::on(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto* received = std::get_if<event::BytesReceived>(&event)) received_ += received->bytes;
  if (const auto* reused = std::get_if<event::BytesReused>(&event)) reused_ += reused->bytes;
  if (std::holds_alternative<event::FileDone>(event)) ++files_done_;
  if (const auto* warning = std::get_if<event::Warning>(&event)) warnings_.push_back(warning->text);
}

std::vector<std::string> EventLog::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

std::uint64_t EventLog::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

std::uint64_t EventLog::reused() const {
  const std::lock_guard lock(mutex_);
  return reused_;
}

std::uint64_t EventLog::files_done() const {
  const std::lock_guard lock(mutex_);
  return files_done_;
}

FetchBench::FetchBench(std::uint64_t bytes_free)
    : store(Store::open(directory / "store", true)), space({bytes_free, UINT64_MAX}, "the store") {
  begin();
}

FetchContext FetchBench::context() {
  hosts = std::make_unique<Hosts>(lanes);
  return {
      .store = *store,
      .fetchers = origin,
      .events = *events,
      .ledger = *ledger,
      .space = space,
      .limiter = limiter,
      .hosts = *hosts,
      .rewrites = rewrites,
      .lanes = lanes,
      .force = force,
      .stop = stop.get_token(),
  };
}

void FetchBench::begin() {
  ledger.reset();
  events = std::make_unique<EventLog>();
  ledger = std::make_unique<Ledger>(*events);
}

namespace {

// Names that this process wrote become those of one with its number that began at another time: it is dead.
void bury_writers(const std::filesystem::path& partials) {
  const WriterId self = WriterId::of_this_process();
  const std::string ours = fmt::format(".{}.{}.", self.pid, self.start_time);
  const std::string theirs = fmt::format(".{}.{}.", self.pid, self.start_time + 1);
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(partials)) all.push_back(entry.path());
  std::sort(all.rbegin(), all.rend());  // what is in a directory before the directory
  for (const auto& path : all) {
    std::string name = path.filename();
    if (const auto at = name.find(ours); at != std::string::npos) {
      std::filesystem::rename(path, path.parent_path() / name.replace(at, ours.size(), theirs));
    }
  }
}

}  // namespace

void FetchBench::reopen() {
  store.reset();
  if (std::filesystem::exists(directory / "store" / "partial")) bury_writers(directory / "store" / "partial");
  store = Store::open(directory / "store", false);
  begin();
}

SourceRecord FetchBench::record(const std::string& url) const {
  for (const auto& record : ledger->records()) {
    if (record.url == url) return record;
  }
  return {};
}

std::string FetchBench::content(const Digest& digest) const {
  std::ifstream file(store->object_path(digest), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : "no such object";
}

bool FetchBench::partials_left() const {
  const auto partials = store->directory() / "partial";
  return std::filesystem::exists(partials) && !std::filesystem::is_empty(partials);
}

void rot(const std::filesystem::path& file, std::uint64_t at) {
  const auto time = std::filesystem::last_write_time(file);
  const auto before = std::filesystem::status(file).permissions();
  std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(stream.peek() ^ 1);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
  }
  std::filesystem::permissions(file, before);
  std::filesystem::last_write_time(file, time);
}

void expect_moved_once(std::uint64_t moved, std::uint64_t size) {
  EXPECT_GE(moved, size);
  EXPECT_LE(moved, size + size / 4 + (4U << 20));
}

FileTree tree_of(const std::string& bytes) {
  FileHasher hasher;
  hasher.update(std::as_bytes(std::span(bytes)));
  return hasher.finish();
}

FileJob job_for(const std::vector<std::string>& urls) {
  FileJob job;
  job.name = "f";
  for (const auto& url : urls) job.urls.push_back(Url::parse(url));
  return job;
}

FileJob known_job(const std::vector<std::string>& urls, const std::string& bytes) {
  FileJob job = job_for(urls);
  job.known = tree_of(bytes);
  job.size_bytes = bytes.size();
  return job;
}

FileJob summed_job(const std::vector<std::string>& urls, const std::string& bytes) {
  FileJob job = job_for(urls);
  job.size_bytes = bytes.size();
  job.checksum.sha256 = sha256(bytes).hex();
  return job;
}

}  // namespace sabath::test
