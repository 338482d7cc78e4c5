#include "packing/pack_environment.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "holdings/place_note.h"
#include "packing/interpreter_tree.h"
#include "packing/mend_libraries.h"
#include "packing/mend_scripts.h"
#include "packing/mend_sysconfig.h"
#include "packing/mentions.h"
#include "packing/prefix_source.h"
#include "packing/rewritten_file.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

bool is_interpreter_name(const std::string& name) {
  return name == "python" || name == "python3" ||
         (name.starts_with("python3.") && try_whole_number(std::string_view(name).substr(8)));
}

// Of any tree: what is made anew or has no use elsewhere.
bool is_left_out_of_any(const PrefixSource& source, const std::string& path) {
  if (is_left_out_of_library(source, path) || path == "pyvenv.cfg" || path == environment_note_name) return true;
  if (path.starts_with("lib/") && path.ends_with(".a") && path.find('/', 4) == std::string::npos) return true;
  if (!path.starts_with("bin/")) return false;
  const std::string name = path.substr(4);
  return name.starts_with("activate") || name == "Activate.ps1" || name == "deactivate" || name == "deactivate.bat" ||
         name == "pydoc.bat";
}

class Packing {
 public:
  Packing(Programs& programs, const PackOrder& order)
      : programs_(programs), order_(order), source_(prefix_source(order.prefix)) {}

  PackedTree run() {
    refuse_store_inside(order_, source_);
    refuse_made_for_a_place();
    refuse_exchangeable(programs_, source_);
    PackedTree tree;
    tree.form = source_.is_venv ? "venv" : "prefix";
    std::vector<fs::path> places{source_.root, source_.given};
    if (source_.base != source_.root) places.push_back(source_.base);
    copy(places);
    finish_tree(programs_, order_, {source_, std::move(places)}, tree);
    return tree;
  }

 private:
  // A pack of what was made of conda's packages: its files name that place.
  void refuse_made_for_a_place() const {
    const std::string place =
        place_in_note(try_read_text(source_.root / environment_note_name, environment_note_max).value_or(""));
    if (!place.empty())
      throw Error(FailureKind::invalid,
                  fmt::format("{} is a packed environment that is made for {}", printable(source_.given.native(), 1000),
                              printable(place, 1000)),
                  "pack the prefix or the lock that it was made of");
  }

  // Of a caller's own tree: all but what is made anew. Of a venv: also without its link to the interpreter.
  [[nodiscard]] bool is_left_out_of_root(const std::string& path) const {
    if (!source_.is_venv) return is_left_out_of_prefix(source_, path);
    if (is_left_out_of_any(source_, path)) return true;
    if (!path.starts_with("bin/")) return path == "lib64";
    const std::string name = path.substr(4);
    return is_interpreter_name(name) || name == "pythonw" || name == "activate_this.py";
  }

  void copy(const std::vector<fs::path>& places) {
    TreeCopy copying(order_.to, places, order_.stop, order_.admit);
    if (source_.is_venv) copy_interpreter(copying, source_);
    if (try_lstat(source_.root / "lib64") && source_.is_venv && !fs::is_symlink(source_.root / "lib64"))
      throw Error(FailureKind::invalid, "the environment has both lib and lib64",
                  "make it with an interpreter that keeps all in lib");
    copying.add(source_.root, "", [this](const std::string& path) { return is_left_out_of_root(path); });
    link_interpreter_names(order_.to, source_);
    copying.finish();
  }

  Programs& programs_;
  const PackOrder& order_;
  const PrefixSource source_;
};

class Finishing {
 public:
  Finishing(Programs& programs, const PackOrder& order, const FinishOrder& finish, PackedTree& tree)
      : programs_(programs), order_(order), finish_(finish), source_(finish.source), tree_(tree) {}

  void run() {
    tree_.place = finish_.place.native();
    mend();
    const InterpreterFacts facts = ask_interpreter(programs_, order_.to, source_);
    tree_.python = facts.python;
    tree_.implementation = facts.implementation;
    tree_.abi = facts.abi;
    tree_.platform = facts.platform;
    compile();
    if (auto remark = remark_of_mentions(order_.to, source_.root)) tree_.remarks.push_back(std::move(*remark));
    write_note();
  }

 private:
  [[nodiscard]] std::string library() const { return library_of(source_); }

  void note_packages(std::vector<FoundPackage> found) {
    std::erase_if(found, [this](const FoundPackage& each) {
      return finish_.theirs.contains(std::pair(each.name, each.version));
    });
    found.insert(found.end(), finish_.packages.begin(), finish_.packages.end());
    if (!finish_.packages.empty())
      std::ranges::sort(found, {},
                        [](const FoundPackage& each) { return std::pair(to_lower(each.name), each.version); });
    tree_.packages = std::move(found);
  }

  void mend() {
    const PackagesOrder packages{order_.to, library() + "/site-packages", finish_.places, order_.accepted};
    make_directories(order_.to / packages.below);
    MendedPackages found = mend_packages(packages);
    note_packages(std::move(found.packages));
    MendedScripts scripts = mend_scripts(order_.to, finish_.place);
    write_activation(order_.to);
    write_landmark(order_.to, source_);
    MendedLibraries libraries = mend_libraries(
        programs_, {order_.to, order_.to / "bin" / source_.interpreter.filename(), finish_.places, order_.accepted});
    std::set<std::string> changed = mend_sysconfig(order_.to, source_.python);
    tree_.scripts_changed = scripts.changed.size();
    tree_.libraries_changed = libraries.changed.size();
    tree_.machine = libraries.machine;
    tree_.glibc = libraries.glibc;
    tree_.of_system = libraries.of_system;
    tree_.optional = libraries.optional;
    tree_.of_nodes = libraries.of_nodes;
    tree_.needed_by = libraries.needed_by;
    for (auto* remarks : {&found.remarks, &scripts.remarks, &libraries.remarks})
      tree_.remarks.insert(tree_.remarks.end(), remarks->begin(), remarks->end());
    changed.insert(finish_.changed.begin(), finish_.changed.end());
    changed.merge(scripts.changed);
    changed.merge(libraries.changed);
    mend_installed_records(packages, changed);
  }

  void compile() {
    std::vector<std::string> modules;
    for_each_packed_file(order_.to, [&](const std::string& path) {
      if (path.ends_with(".py") && path.starts_with(library() + "/")) modules.push_back(path);
    });
    const InterpreterFacts facts{tree_.python, tree_.implementation, tree_.abi, tree_.platform};
    const CompiledModules done =
        compile_modules(programs_, order_.to, source_, facts, modules, order_.to.parent_path() / "modules");
    tree_.compiled = done.compiled;
    tree_.not_compiled = done.not_compiled;
    if (!try_lstat(order_.to / compiled_path(library() + "/os.py", facts)))
      throw Error(FailureKind::command, "compiling failed: the library's own modules are not compiled");
  }

  void write_note() { write_new_file(order_.to / environment_note_name, note_text_of(tree_)); }

  Programs& programs_;
  const PackOrder& order_;
  const FinishOrder& finish_;
  const PrefixSource& source_;
  PackedTree& tree_;
};

}  // namespace

std::string note_text_of(const PackedTree& tree) {
  EnvironmentNote note{tree.form, tree.python, tree.implementation, tree.abi, tree.platform, tree.machine, tree.glibc};
  for (const FoundPackage& each : tree.packages) note.packages.push_back({each.name, each.version, each.build});
  note.system_libraries.assign(tree.of_system.begin(), tree.of_system.end());
  note.node_libraries.assign(tree.of_nodes.begin(), tree.of_nodes.end());
  note.optional_libraries.assign(tree.optional.begin(), tree.optional.end());
  note.needed_by = tree.needed_by;
  note.place = tree.place;
  return environment_note_text(note);
}

bool is_left_out_of_prefix(const PrefixSource& source, const std::string& path) {
  if (is_left_out_of_any(source, path)) return true;
  return path == "bin/python" || path == "bin/python3" || path.starts_with("bin/idle3");
}

void refuse_store_inside(const PackOrder& order, const PrefixSource& source) {
  for (const fs::path& place : {source.root, source.base})
    if (is_below(order.to, place))
      throw Error(FailureKind::usage, fmt::format("the store lies in {}", printable(place.native(), 1000)),
                  "take a store elsewhere");
}

void finish_tree(Programs& programs, const PackOrder& order, const FinishOrder& finish, PackedTree& tree) {
  Finishing(programs, order, finish, tree).run();
}

PackedTree pack_environment(Programs& programs, const PackOrder& order) { return Packing(programs, order).run(); }

}  // namespace sabath
