#!/usr/bin/python3
"""HACKING.md says that a metric format, an exporter, a fetcher and a data format are one file and one line each, and a verb two files and
one line. Here they are, in a copy of the tree, which is built and used. The verb is called as a command, through the C door
and from Python, and gets an option more. By hand, because it builds the program: scripts/test --part extend."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]

METRIC_FORMAT = """// A line that begins with "@@": "@@ 3 loss 0.5".
#include "metrics/formats.h"
#include "metrics/words.h"

namespace sabath {
namespace {

void read_abacus(std::string_view line, Trace& /*trace*/, Reading& reading) {
  if (!take_word(line, "@@ ")) return;
  const auto epoch = take_count(line);
  skip_blanks(line);
  const std::string_view name = line.substr(0, line.find(' '));
  line.remove_prefix(name.size());
  skip_blanks(line);
  const auto value = take_number(line);
  if (!epoch || name.empty() || !value || !line.empty()) return;
  reading.epoch = epoch;
  reading.add(name, *value);
  reading.kind = Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat abacus_format{.name = "abacus", .title = "Abacus", .read = read_abacus};

}  // namespace sabath
"""

EXPORTER = """// The last value of each metric, as a list in Markdown.
#include <fmt/format.h>

#include "report/exporter.h"

namespace sabath {
namespace {

void write_markdown(std::span<const Run> runs, const ExportOptions& /*options*/, ExportSink& sink) {
  for (const Run& run : runs) {
    for (const Series& series : run.series) sink.write(fmt::format("- {}: {}\\n", series.name, series.y.back()));
  }
}

}  // namespace

extern constexpr Exporter markdown_exporter{.name = "markdown", .endings = {".md"}, .write = write_markdown};

}  // namespace sabath
"""

FETCHER = """// The letters of a name: letters://host/NAME is a file that holds NAME.
#include <algorithm>

#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

class LettersFetcher : public Fetcher {
 public:
  std::vector<Scheme> schemes() const override { return {{.name = "letters", .built = true, .ranges = true}}; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token /*stop*/) override {
    ++traffic.requests;
    const std::string text = request.url.file_name();
    if (request.offset > text.size()) throw Error(FailureKind::unavailable, request.url.display() + " ends before");
    sink.begin({.size_bytes = text.size(), .ranges = true, .validators = {}, .content_type = {}, .final_url = {}});
    const std::string piece = text.substr(request.offset, request.length.value_or(text.size()));
    traffic.bytes += piece.size();
    if (!piece.empty()) sink.write(std::as_bytes(std::span(piece)));
  }
};

}  // namespace

void add_letters(KnownFetchers& set, const FetcherParts& /*parts*/) { set.add(std::make_unique<LettersFetcher>()); }

}  // namespace sabath
"""

VERB_HEADER = """// The files of a directory, counted. Any thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/session.h"

namespace sabath {

struct TallyRequest {
  std::filesystem::path directory;
};

struct TalliedEnding {
  std::string ending;
  std::uint64_t files = 0, bytes = 0;
};

struct TallyRecord {
  std::uint64_t files = 0, bytes = 0;
  std::vector<TalliedEnding> endings;
  int exit = 0;
};

[[nodiscard]] TallyRecord tally(Session& session, const TallyRequest& request, EventSink& events,
                                std::stop_token stop = {});

}  // namespace sabath
"""

VERB = """#include "sabath/verbs/tally.h"

#include <map>
#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath {

TallyRecord tally(Session&, const TallyRequest& request, EventSink&, std::stop_token) {
  if (!std::filesystem::is_directory(request.directory)) {
    throw Error(FailureKind::storage, "there is no directory " + request.directory.string(), "");
  }
  TallyRecord record;
  std::map<std::string, TalliedEnding> endings;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(request.directory)) {
    if (!entry.is_regular_file()) continue;
    TalliedEnding& one = endings[entry.path().extension()];
    ++record.files, ++one.files;
    record.bytes += entry.file_size(), one.bytes += entry.file_size();
  }
  for (auto& [ending, one] : endings) record.endings.push_back({ending, one.files, one.bytes});
  return record;
}

template <>
struct Described<TallyRequest> {
  using Of = TallyRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "where the files are", .required = true, .argument = "DIRECTORY"),
  };
};

template <>
struct Described<TalliedEnding> {
  using Of = TalliedEnding;
  static constexpr Field table[] = {
      SABATH_FIELD(ending, .help = "of the names, with its point"),
      SABATH_FIELD(files, .help = "with this ending", .unit = "files"),
      SABATH_FIELD(bytes, .help = "of these", .unit = "bytes"),
  };
};

template <>
struct Described<TallyRecord> {
  using Of = TallyRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(files, .help = "of the directory and below", .unit = "files"),
      SABATH_FIELD(bytes, .help = "their content", .unit = "bytes"),
      SABATH_FIELD(endings, .help = "the same for each ending"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

extern constexpr LibraryVerb tally_call = described<tally>("tally", {.summary = "count the files of a directory",
                                                                     .examples = "sabath tally data   all of them"});

}  // namespace sabath
"""

INSPECT_FORMAT = """#include "formats/inspect/inspect_format.h"

namespace sabath {
namespace {

bool is_slate(const DataFile& file) { return file.begin().starts_with("SLATE"); }

void read_slate(const DataFile& file, InspectRecord& record) {
  record.metadata.emplace_back("length", std::to_string(file.bytes()));
}

}  // namespace

extern constexpr InspectFormat slate_inspected{
    .name = "slate", .endings = ".slate", .is = is_slate, .read = read_slate};

}  // namespace sabath
"""

# The new file, its text; the file with the table, the line there before which the new one stands, and the new line.
ADDITIONS = (
    ("src/runs/metrics/abacus.cc", METRIC_FORMAT, "src/runs/metrics/formats.cc", "  NAME(csv)", "  NAME(abacus) \\"),
    ("src/runs/report/markdown_export.cc", EXPORTER, "src/runs/report/exporters.cc", "  NAME(csv) ", "  NAME(markdown) \\"),
    ("fetchers/letters/letters.cc", FETCHER, "fetchers/all.cc", "  NAME(command)", "  NAME(letters) \\"),
    ("src/data/formats/inspect/slate_inspect.cc", INSPECT_FORMAT, "src/data/formats/inspect/inspect_formats.cc", "  NAME(npy)",
     "  NAME(slate) \\"),
)
VERB_FILES = (("include/sabath/verbs/tally.h", VERB_HEADER), ("src/front/verbs/care/tally.cc", VERB))
VERB_LINES = (("src/front/verbs/verb.cc", r'  (verb\("|described\()task', "  described(tally_call) \\"),)
# An option more: the member, its field, and what it does.
OPTION_LINES = (
    ("include/sabath/verbs/tally.h", r"};", "  std::uint64_t min_size = 0;"),
    ("src/front/verbs/care/tally.cc", r"  };", '      SABATH_FIELD(min_size, .help = "only files of this size", .unit = "bytes"),'),
    ("src/front/verbs/care/tally.cc", r"    TalliedEnding& one", "    if (entry.file_size() < request.min_size) continue;"),
)


def copy_of_the_tree(place):
    names = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, check=True, text=True).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        if (TREE / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, place / name)


def add_file(place, name, text):
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    assert not (place / name).exists(), name
    (place / name).write_text(text)


def add_line(place, name, before, line):
    """In front of the first line that begins as `before` says."""
    lines = (place / name).read_text().split("\n")
    found = [i for i, one in enumerate(lines) if re.match(before, one)]
    assert found, f"{name}: {before}"
    lines.insert(found[0], line)
    (place / name).write_text("\n".join(lines))


def extend(place):
    """Says what it touches."""
    for name, text, table, before, line in ADDITIONS:
        add_file(place, name, text)
        add_line(place, table, re.escape(before), line)
    for name, text in VERB_FILES:
        add_file(place, name, text)
    for name, before, line in (*VERB_LINES, *OPTION_LINES):
        add_line(place, name, before, line)
    print(f"extend: a verb: {len(VERB_FILES)} new files, {len(VERB_LINES)} line in {VERB_LINES[0][0]}")
    files = {name for name, _, _ in OPTION_LINES}
    print(f"extend: an option of it: {len(OPTION_LINES)} lines in {len(files)} files: {', '.join(sorted(files))}", flush=True)


def build(place):
    environment = dict(os.environ, CCACHE_BASEDIR=str(place), CCACHE_NOHASHDIR="1")
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    for command in (["cmake", "--preset", "release"], ["ninja", "-C", "build/release", "sabath-cli", "sabath-c"]):
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-8000:]}{done.stderr[-4000:]}")
    return place / "build/release/bin/sabath"


def use(program, home):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SABATH_CACHE": str(home / "store")}

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], cwd=home, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    # The lines of the one format, and those of another one, are read; help names both.
    (home / "train.log").write_text("@@ 1 loss 0.5\n@@ 2 loss 0.25\nEpoch: 3 | loss: 0.125\n@@ 4 loss\n")
    rows = [line.split(",") for line in run("report", "train.log", "--format", "csv").splitlines()[1:]]
    assert [(row[1], row[4], row[5]) for row in rows] == [("1", "loss", "0.5"), ("2", "loss", "0.25"), ("3", "loss", "0.125")]
    assert "Abacus" in run("report", "--help") and "markdown" in run("report", "--help")

    assert run("report", "train.log", "--format", "markdown") == "- loss: 0.125\n"
    run("report", "train.log", "-o", "run.md")
    assert (home / "run.md").read_text() == "- loss: 0.125\n"

    assert "letters" in run("fetchers")
    digest = hashlib.sha256(b"abracadabra").hexdigest()
    recipe = {"schema": 1, "kind": "dataset", "name": "magic",
              "fragments": [{"id": "main", "type": "file", "path": "word.txt", "urls": ["letters://here/abracadabra"],
                             "checksum": {"sha256": digest}}]}  # fmt: skip
    (home / "magic.json").write_text(json.dumps(recipe))
    record = json.loads(run("fetch", "--json", home / "magic.json"))
    assert (pathlib.Path(record["assets"][0]["path"]) / "word.txt").read_text() == "abracadabra", record

    (home / "a.slate").write_text("SLATE 1")
    record = json.loads(run("inspect", "--json", "a.slate"))
    assert (record["format"], record["metadata"]) == ("slate", {"length": "7"}), record

    use_verb(run, program, home, environment)


CALLS = """
import inspect, json, sabath, sys
session = sabath.Session()
made = session.tally("data", min_size="2K")
assert made == session.call("tally", directory="data", min_size=2000), made
try:
    session.call("tally", directory="data", min_sizes=1)
except sabath.UsageError as error:
    assert "min_sizes" in error.message, error
print(json.dumps([made, str(inspect.signature(session.tally)), session.tally.__doc__]))
"""


def use_verb(run, program, home, environment):
    """By the command line for people and for programs, through the C door by its name, as a method of Python."""
    for name, size in (("a.txt", 1000), ("b.txt", 3000), ("c/d.bin", 5000)):
        (home / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "data" / name).write_bytes(bytes(size))
    text = run("tally", "--help")
    assert all(part in text for part in ("count the files of a directory", "--min-size", "DIRECTORY", "sabath tally data")), text
    shown = [line.split() for line in run("tally", "data").splitlines()]
    assert ["files", "3"] in shown and ["ENDING", "FILES", "BYTES"] in shown and [".txt", "2", "4.00", "kB"] in shown, shown
    record = json.loads(run("tally", "data", "--min-size", "2K", "--json"))
    expected = {"schema": 1, "files": 2, "bytes": 8000, "endings": [{"ending": ".bin", "files": 1, "bytes": 5000},
                {"ending": ".txt", "files": 1, "bytes": 3000}], "exit": 0}  # fmt: skip
    assert record == expected and list(record) == list(expected), record
    (described,) = json.loads(run("help", "tally", "--json"))["verbs"]
    assert [field["key"] for field in described["request"]] == ["directory", "min_size"], described
    assert "--min-size" in run("help", "--complete", "--", "tally", "--m")
    library = dict(environment, PYTHONPATH=str(program.parents[3] / "python"), SABATH_PROGRAM=str(program))
    done = subprocess.run([sys.executable, "-c", CALLS], cwd=home, env=library, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    called, signature, document = json.loads(done.stdout)
    assert called == expected and signature == "(directory, *, min_size=None, progress=None)", (called, signature)
    assert "min_size: count, bytes: only files of this size" in document, document


def main():
    with tempfile.TemporaryDirectory(prefix="sabath-extend.") as name:
        place = pathlib.Path(name)
        copy_of_the_tree(place / "tree")
        extend(place / "tree")
        (place / "home").mkdir()
        use(build(place / "tree"), place / "home")
    print("extend: a metric format, an exporter, a fetcher and a data format, each one file and one line; and the verb: all of them work")


if __name__ == "__main__":
    main()
