#!/usr/bin/python3
"""HACKING.md says that a metric format, an exporter, a fetcher, a data format and a verb are one file and one line each. Here they are, in a copy
of the tree, which is built and used. By hand, because it builds the program: scripts/test --part extend."""

import hashlib
import json
import os
import pathlib
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

VERB = """#include <memory>

#include "cli/verbs.h"

namespace sabath::cli {
namespace {
namespace cmd_echo {

Action declare(OptionSet& set) {
  const auto word = std::make_shared<std::string>();
  set.argument("WORD", *word, "what to say");
  return [word](Context& context) {
    context.out.print(*word + "\\n");
    return 0;
  };
}

}  // namespace cmd_echo
}  // namespace

constexpr Verb echo_verb{"echo", "say a word again", "sabath echo hello   hello", "", false, cmd_echo::declare};

}  // namespace sabath::cli
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
    ("src/metrics/abacus.cc", METRIC_FORMAT, "src/metrics/formats.cc", "  NAME(csv)", "  NAME(abacus) \\"),
    ("src/report/markdown_export.cc", EXPORTER, "src/report/exporters.cc", "  NAME(csv) ", "  NAME(markdown) \\"),
    ("fetchers/letters/letters.cc", FETCHER, "fetchers/all.cc", "  NAME(command)", "  NAME(letters) \\"),
    ("src/formats/inspect/slate_inspect.cc", INSPECT_FORMAT, "src/formats/inspect/inspect_formats.cc", "  NAME(npy)",
     "  NAME(slate) \\"),
    ("src/cli/commands/care/cmd_echo.cc", VERB, "src/cli/verbs.h", "  NAME(help)", "  NAME(echo) \\"),
)


def copy_of_the_tree(place):
    names = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, check=True, text=True).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        if (TREE / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, place / name)


def extend(place):
    for name, text, table, before, line in ADDITIONS:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        assert not (place / name).exists(), name
        (place / name).write_text(text)
        lines = (place / table).read_text().split("\n")
        found = [i for i, one in enumerate(lines) if one.startswith(before)]
        assert len(found) == 1, f"{table}: {found}"
        lines.insert(found[0], line)
        (place / table).write_text("\n".join(lines))


def build(place):
    environment = dict(os.environ, CCACHE_BASEDIR=str(place), CCACHE_NOHASHDIR="1")
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    for command in (["cmake", "--preset", "release"], ["ninja", "-C", "build/release", "sabath-cli"]):
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

    assert run("echo", "hello") == "hello\n"
    assert "say a word again" in run("--help")


def main():
    with tempfile.TemporaryDirectory(prefix="sabath-extend.") as name:
        place = pathlib.Path(name)
        copy_of_the_tree(place / "tree")
        extend(place / "tree")
        (place / "home").mkdir()
        use(build(place / "tree"), place / "home")
    print("extend: a metric format, an exporter, a fetcher, a data format and a verb, each one file and one line")


if __name__ == "__main__":
    main()
