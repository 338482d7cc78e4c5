#include "apply/work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "apply/script_process.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "store/take.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t outputs_max = 1'000'000;

// A directory below the store's temporary ones, removed with all that a script left in it.
class Scratch {
 public:
  explicit Scratch(Store& store) : directory_(store.make_temporary_directory()) { fs::create_directory(output()); }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] fs::path output() const { return directory_ / "output"; }

 private:
  fs::path directory_;
};

// A failure of the script itself, with what it said.
struct ScriptFailed {
  Failure failure;
  ScriptEnd end;
};

std::string stem_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

bool is_wanted(const SupportingScript& script, const std::string& path) {
  return std::ranges::any_of(script.outputs, [&](const auto& pattern) { return glob_matches(pattern, path); });
}

class OneWork {
 public:
  // `threads`: for this file.
  OneWork(const StepWork& work, const Entry* file, Workbench& bench, unsigned threads)
      : work_(work), file_(file), bench_(bench), threads_(threads), scratch_(work.store) {}

  std::vector<Output> run() {
    if (work_.built_in != nullptr) {
      const ScriptArguments& given = work_.step.arguments;
      work_.built_in->run(
          {input(), scratch_.output(), BuiltinArguments(given.begin(), given.end()), threads_, work_.stop}, bench_);
    } else {
      run_foreign();
    }
    return take_outputs();
  }

 private:
  [[nodiscard]] std::string name() const { return file_ == nullptr ? "" : std::string(file_->path.name()); }
  [[nodiscard]] fs::path input() const { return file_ == nullptr ? work_.dataset : work_.dataset / file_->path.text(); }

  void run_foreign() {
    ScriptPlaces places;
    places.input = input().native();
    places.output = scratch_.output().native();
    places.dataset = work_.dataset.native();
    places.source = work_.source.native();
    places.name = name();
    places.stem = stem_of(places.name);
    places.threads = work_.threads;
    std::vector<std::string> argv = filled(work_.step, places);
    if (!work_.program.empty()) argv.front() = work_.program;
    const ScriptEnd end = run_script(
        {std::move(argv), work_.environment, scratch_.output(), work_.companion, work_.memory_bytes, work_.time},
        work_.stop);
    if (end.exit == 0 && !end.timed_out) return;
    const std::string how = end.timed_out     ? fmt::format("had not ended after {} s", work_.time.count())
                            : end.signal != 0 ? fmt::format("was ended by signal {}", end.signal)
                                              : fmt::format("ended with exit code {}", end.exit);
    throw ScriptFailed{
        {FailureKind::command, fmt::format("{} {}", work_.step.script.id, how),
         end.last_lines.empty() ? "it printed nothing" : "its last line: " + end.last_lines.back(), std::nullopt},
        end};
  }

  std::vector<Output> take_outputs() {
    const fs::path top = scratch_.output();
    std::vector<fs::path> found;
    std::error_code error;
    fs::recursive_directory_iterator at(top, error);
    for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
      if (at->symlink_status(error).type() == fs::file_type::directory) continue;
      if (found.size() >= outputs_max)
        throw Error(FailureKind::invalid,
                    fmt::format("{} wrote more than {} files", work_.step.script.id, outputs_max));
      found.push_back(at->path());
    }
    if (error) {
      throw Error(FailureKind::invalid,
                  fmt::format("what {} wrote cannot be listed: {}", work_.step.script.id, error.message()));
    }
    std::ranges::sort(found);
    std::vector<Output> outputs;
    for (const fs::path& file : found) {
      const std::string below = file.native().substr(top.native().size() + 1);
      if (!is_wanted(work_.step.script, below)) continue;
      const auto path = RelativePath::parse(prefix() + below);
      const auto status = try_lstat(file);
      const bool executable = status && S_ISREG(status->st_mode) && (status->st_mode & S_IXUSR) != 0;
      outputs.push_back({path, take_file(work_.store, file), executable});
    }
    if (outputs.empty()) {
      throw Error(FailureKind::command, fmt::format("{} wrote no output", work_.step.script.id),
                  "what it writes into {output} and its \"outputs\" names belongs to the new asset");
    }
    return outputs;
  }

  [[nodiscard]] std::string prefix() const {
    const std::string_view parent = file_ == nullptr ? "" : file_->path.parent();
    return parent.empty() ? "" : std::string(parent) + "/";
  }

  const StepWork& work_;
  const Entry* const file_;
  Workbench& bench_;
  const unsigned threads_;
  const Scratch scratch_;
};

class Workers {
 public:
  Workers(const StepWork& work, const std::vector<Entry>& files)
      : work_(work), files_(files), step_(sha256(step_text(work.step))) {}

  Worked run() {
    {
      const auto count = std::clamp<std::size_t>(work_.threads, 1, std::max<std::size_t>(1, files_.size()));
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < count; ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (thrown_) std::rethrow_exception(thrown_);
    if (work_.stop.stop_requested())
      throw Error(FailureKind::interrupted, "the work was stopped",
                  fmt::format("`{}` goes on where it was", verb_text("apply")));
    for (auto& outputs : made_) std::ranges::move(outputs, std::back_inserter(worked_.outputs));
    return std::move(worked_);
  }

 private:
  void work() noexcept {
    Workbench bench(work_.companion);
    for (std::size_t i = 0; (i = next_++) < files_.size() && !halted_ && !work_.stop.stop_requested();) {
      try {
        do_one(i, bench);
      } catch (...) {  // the store, or a stop: nothing of this is one file's
        const std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        halted_ = true;
      }
    }
  }

  void do_one(std::size_t i, Workbench& bench) {
    const Entry& file = files_[i];
    const Sha256 key = file_key(step_, file, more_ ? std::optional(work_.input) : std::nullopt);
    if (auto known = work_.force ? std::nullopt : known_outputs(key)) {
      made_[i] = std::move(*known);
      const std::lock_guard lock(mutex_);
      ++worked_.resumed;
      work_.events.on(event::BytesReused{file.digest.size_bytes, Reuse::partial, false});
    } else {
      std::optional<ApplyFailure> failure;
      try {
        made_[i] = OneWork(work_, &file, bench, threads_of_one()).run();
        check_input(file);
        work_.store.put_index(key, encode_note(made_[i]));
      } catch (const ScriptFailed& failed) {
        failure =
            ApplyFailure{file.path.text(), failed.failure, failed.end.last_lines, failed.end.exit, failed.end.signal};
      } catch (const Error& error) {
        const FailureKind kind = error.failure().kind;
        if (kind != FailureKind::invalid && kind != FailureKind::command && kind != FailureKind::content) throw;
        failure = ApplyFailure{file.path.text(), error.failure(), {}, std::nullopt, std::nullopt};
      }
      const std::lock_guard lock(mutex_);
      if (failure) {
        made_[i].clear();
        worked_.failures.push_back(std::move(*failure));
      } else {
        ++worked_.processed;
      }
      work_.events.on(event::BytesReceived{0, file.digest.size_bytes});
    }
    work_.events.on(event::FileDone{file.path.text(), file.digest.size_bytes});
  }

  // Of fewer files than threads each gets several.
  [[nodiscard]] unsigned threads_of_one() const {
    return std::max(1U, work_.threads / static_cast<unsigned>(std::min<std::size_t>(work_.threads, files_.size())));
  }

  std::optional<std::vector<Output>> known_outputs(const Sha256& key) {
    const auto bytes = work_.store.index(key, note_bytes_max);
    auto outputs = bytes ? try_decode_note(*bytes) : std::nullopt;
    if (!outputs) return std::nullopt;
    const bool all = std::ranges::all_of(*outputs, [&](const Output& o) { return work_.store.present(o.tree.digest); });
    return all ? std::move(outputs) : std::nullopt;
  }

  // A script that has the right to could have written to it.
  void check_input(const Entry& file) {
    if (work_.built_in != nullptr || work_.store.present(file.digest)) return;
    throw Error(FailureKind::content,
                fmt::format("{} changed {}, which it may only read", work_.step.script.id, printable(file.path.text())),
                "the file was put aside; fetch the asset again, and mend the script");
  }

  const StepWork& work_;
  const std::vector<Entry>& files_;
  const Sha256 step_;
  const bool more_ = reads_more(work_.step.script) || (work_.built_in != nullptr && work_.built_in->takes != nullptr);
  std::vector<std::vector<Output>> made_ = std::vector<std::vector<Output>>(files_.size());
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> halted_{false};
  std::mutex mutex_;  // of what follows
  Worked worked_;
  std::exception_ptr thrown_;
};

}  // namespace

Worked work_on(const StepWork& work, const std::vector<Entry>& files) { return Workers(work, files).run(); }

Worked work_on_all(const StepWork& work, const Manifest& manifest, const std::vector<Entry>& files) {
  Worked worked;
  try {
    Workbench bench(work.companion);
    worked.outputs = OneWork(work, nullptr, bench, work.threads).run();
    worked.processed = files.size();
    manifest.for_each([&](const Entry& entry) {
      if (!entry.is_file() || work.store.present(entry.digest)) return;
      throw Error(
          FailureKind::content,
          fmt::format("{} changed {}, which it may only read", work.step.script.id, printable(entry.path.text())),
          "the file was put aside; fetch the asset again, and mend the script");
    });
  } catch (const ScriptFailed& failed) {
    worked.outputs.clear();
    worked.failures.push_back({"", failed.failure, failed.end.last_lines, failed.end.exit, failed.end.signal});
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid && error.failure().kind != FailureKind::command) throw;
    worked.failures.push_back({"", error.failure(), {}, std::nullopt, std::nullopt});
  }
  return worked;
}

}  // namespace sabath
