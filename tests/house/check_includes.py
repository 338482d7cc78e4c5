#!/usr/bin/python3
"""Whether each source includes what it uses, itself or by the project's headers that it includes.

Compilers forgive a standard header that another one happens to bring along, until the next version of the library does not;
a unity build forgives a header that a neighbour had included, and who builds without has an error. Of the project's own
names, types and functions at namespace scope are looked at.
Usage: check_includes.py [TREE]; check_includes.py --self-test. Each finding is one line, FILE:LINE: what to include.
"""

import functools
import pathlib
import re
import sys
import tempfile

# header: the names of namespace std that are used here and stand in no other header that the standard lets one rely on.
NAMES = {
    "algorithm": "sort stable_sort clamp find_if all_of any_of none_of max_element min_element lower_bound upper_bound"
                 " transform remove_if count_if partition reverse rotate shuffle nth_element is_sorted unique equal_range",
    "array": "array",
    "atomic": "atomic atomic_bool atomic_flag memory_order_relaxed memory_order_acquire memory_order_release",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero popcount has_single_bit endian rotl rotr",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "isnan isfinite isinf sqrt pow log log2 log10 exp ceil floor round lround llround cbrt fabs fmod",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intmax_t uintmax_t",
    "cstring": "memcpy memmove memset memcmp memchr strlen strcmp strncmp strerror strchr strrchr strstr",
    "deque": "deque",
    "exception": "exception_ptr current_exception rethrow_exception make_exception_ptr terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "forward_list": "forward_list",
    "fstream": "ifstream ofstream fstream",
    "functional": "function reference_wrapper invoke bind plus greater not_fn bind_front",
    "future": "future promise async packaged_task",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this addressof",
    "mutex": "mutex recursive_mutex lock_guard scoped_lock once_flag call_once try_to_lock",
    "numeric": "accumulate iota reduce partial_sum gcd lcm midpoint",
    "optional": "optional nullopt nullopt_t make_optional",
    "queue": "queue priority_queue",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution uniform_real_distribution minstd_rand",
    "ranges": "views",
    "regex": "regex smatch cmatch regex_search regex_match regex_replace",
    "semaphore": "counting_semaphore binary_semaphore",
    "set": "set multiset",
    "shared_mutex": "shared_mutex shared_lock",
    "span": "span as_bytes as_writable_bytes dynamic_extent",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range length_error domain_error",
    "stop_token": "stop_token stop_source stop_callback",
    "string": "string to_string stoi stol stoul stoull stod getline",
    "string_view": "string_view",
    "system_error": "error_code system_error errc generic_category system_category",
    "thread": "thread jthread this_thread",
    "tuple": "tuple make_tuple tie ignore forward_as_tuple",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "variant": "variant visit holds_alternative get_if monostate",
    "vector": "vector",
}
HEADER = {name: header for header, names in NAMES.items() for name in names.split()}
# What the standard says that a header brings along, or (string_view in string) a file that has one also has the other.
BRINGS = {"string": {"string_view"}, "filesystem": {"string", "string_view", "chrono", "system_error"}, "fstream": {"string"},
          "sstream": {"string", "string_view"}, "thread": {"stop_token"}, "condition_variable": {"mutex", "stop_token"},
          "shared_mutex": {"mutex"}, "system_error": {"stdexcept", "string"}, "regex": {"string"}}
WHOLE = {"nlohmann": "nlohmann/json.hpp"}  # what only declares is enough for a header
INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
USE = re.compile(r"\bstd::(?:ranges::)?(\w+)|\b(fmt|nlohmann)::")
# At the left edge, as clang-format has it: a type or alias, or a function (its name is the last word before the bracket).
TYPE = re.compile(r"(?:template <.*> )?(?:class|struct|enum class|enum|union|using)\s+(?:\[\[\w+\]\]\s+)?(\w+)\b(?!::)")
FUNCTION = re.compile(r"(?!#|//|namespace\b|using\b|return\b)[\w\[\]:<>,&* ]*?(?<![<,])\b([a-z]\w*)\(")
# Where a name is not the namespace's: a member, a qualified one, a word of a comment or string.
OTHERS = r"(?<![\w.:>~])"
NO_NAMES = {"sizeof", "decltype", "static_assert", "int", "void", "bool", "map", "print", "open"}  # words, and those of the system
QUOTED = re.compile(r'"(\\.|[^"\\])*"')


class Tree:
    def __init__(self, top):
        self.top = pathlib.Path(top)

    def sources(self):
        for folder in ("include", "src", "fetchers", "tests", "bench"):
            for path in sorted((self.top / folder).rglob("*")):
                if path.suffix in (".cc", ".h") and path.is_file():
                    yield path

    @functools.lru_cache(None)
    def lines(self, path):
        return path.read_text(encoding="utf-8").splitlines()

    def resolved(self, including, quoted):
        if (including.parent / quoted).is_file():
            return including.parent / quoted
        return self.by_name.get(quoted)

    @functools.cached_property
    def by_name(self):
        """A header as includes name it: below include, a wing of src, fetchers and tests."""
        tops = [self.top / "include", *sorted((self.top / "src").glob("*")), self.top / "fetchers", self.top / "tests"]
        return {path.relative_to(base).as_posix(): path for base in reversed(tops) for path in base.rglob("*.h")}

    @functools.lru_cache(None)
    def closure(self, path):
        """A file and the project's headers that it includes, by others, too."""
        seen, open_files = {path}, [path]
        while open_files:
            file = open_files.pop()
            for match in filter(None, map(INCLUDE.match, self.lines(file))):
                its = self.resolved(file, match.group(1) or match.group(2))
                if its and its not in seen:
                    seen.add(its)
                    open_files.append(its)
        return seen

    @functools.lru_cache(None)
    def words(self, path):
        """The lines without what is quoted and said in comments."""
        return [QUOTED.sub("", line).split("//")[0] for line in self.lines(path)]

    @functools.lru_cache(None)
    def declares(self, path):
        """All names that a file could declare at any depth: what it says itself is never missing."""
        text = "\n".join(self.words(path))
        return set(re.findall(r"(?:class|struct|enum|union|using|typename)\s+(?:class\s+)?(\w+)", text)) | set(
            re.findall(r"(?<!\breturn)(?<!\belse)(?<=[\w>&*\]])\s+[*&]?(\w+)\s*[({=;,)]", text))

    @functools.cached_property
    def owners(self):
        """A name at namespace scope: the headers below include, src and fetchers that declare it."""
        found = {}
        for path in self.sources():
            if path.suffix == ".h" and path.relative_to(self.top).parts[0] in ("include", "src", "fetchers"):
                for line in self.words(path):
                    for match in (TYPE.match(line), FUNCTION.match(line)):
                        if match and not line.rstrip().endswith((f"class {match[1]};", f"struct {match[1]};")):
                            found.setdefault(match[1], set()).add(path)
        return {name: paths for name, paths in found.items() if name not in NO_NAMES}

    @functools.lru_cache(None)
    def included(self, path):
        """The standard and third-party headers that a file has by itself and by the project's headers."""
        found = set()
        for file in self.closure(path):
            for match in filter(None, map(INCLUDE.match, self.lines(file))):
                if angled := match.group(2):
                    found |= {angled, angled.split("/")[0]} | BRINGS.get(angled, set())
        return found

    def own_findings(self, path):
        """By header, the first name of it that a file uses without it."""
        missing, known = {}, None
        for number, line in enumerate(self.words(path), 1):
            for name in re.findall(OTHERS + r"([A-Z]\w+)\b|" + OTHERS + r"([a-z]\w+)\(", line):
                name = name[0] or name[1]
                owners = self.owners.get(name)
                if owners and owners.isdisjoint(self.closure(path)):
                    known = known or set().union(*map(self.declares, self.closure(path)))
                    if name not in known:
                        missing.setdefault(min(owners), (number, name))
        return missing

    def findings(self):
        for path in self.sources():
            missing = {}
            for number, line in enumerate(self.words(path), 1):
                for name, library in USE.findall(line):
                    header = (WHOLE if path.suffix == ".cc" else {}).get(library, library) or HEADER.get(name)
                    if header and header not in self.included(path):
                        missing.setdefault(header, (number, f"std::{name}" if name else f"{library}::"))
            if path.relative_to(self.top).parts[0] in ("include", "src", "fetchers"):
                for owner, (number, name) in sorted(self.own_findings(path).items()):
                    yield f"{path.relative_to(self.top)}:{number}: {name}: include {owner.relative_to(self.top)}"
            for header, (number, name) in sorted(missing.items()):
                header += "/..." if header in ("fmt", "nlohmann") else ""
                yield f"{path.relative_to(self.top)}:{number}: {name}: include <{header}>"


def self_test():
    with tempfile.TemporaryDirectory() as top:
        for folder in ("src/w/a", "include/sabath"):
            (pathlib.Path(top) / folder).mkdir(parents=True)
        (pathlib.Path(top) / "include/sabath/has.h").write_text("#pragma once\n#include <vector>\n")
        (pathlib.Path(top) / "src/w/a/a.h").write_text('#pragma once\n#include "sabath/has.h"\n')
        source = pathlib.Path(top) / "src/w/a/a.cc"
        source.write_text('#include "a/a.h"\nstd::vector<int> v;  // std::map\nconst char* s = "std::set";\nstd::deque<int> d;\nfmt::x y;\n')
        assert list(Tree(top).findings()) == [
            "src/w/a/a.cc:4: std::deque: include <deque>", "src/w/a/a.cc:5: fmt::: include <fmt/...>"], list(Tree(top).findings())
        source.write_text('#include "a/a.h"\n#include <deque>\nstd::vector<int> v;\nstd::deque<int> d;\n')
        assert not list(Tree(top).findings())
        (pathlib.Path(top) / "src/w/a/b.h").write_text("#pragma once\nstruct Nail {};\n[[nodiscard]] int drive(int depth);\n")
        uses = "int x = drive(1);  // Nail\nint y = x.drive(1) + a::drive(1);\nNail n;\n"
        source.write_text('#include "a/a.h"\n' + uses)
        assert list(Tree(top).findings()) == ["src/w/a/a.cc:2: drive: include src/w/a/b.h"], list(Tree(top).findings())
        source.write_text('#include "a/a.h"\nNail* n;\n')
        assert list(Tree(top).findings()) == ["src/w/a/a.cc:2: Nail: include src/w/a/b.h"], list(Tree(top).findings())
        source.write_text('#include "a/a.h"\n#include "a/b.h"\n' + uses)
        assert not list(Tree(top).findings()), list(Tree(top).findings())


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        wrong = list(Tree(sys.argv[1] if len(sys.argv) > 1 else ".").findings())
        print("\n".join(wrong), end="\n" if wrong else "")
        sys.exit(bool(wrong))
