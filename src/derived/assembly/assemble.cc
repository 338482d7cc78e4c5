#include "assembly/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "assembly/packed_part.h"
#include "assembly/unpacking.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "environments/package_name.h"
#include "manifest/manifest.h"
#include "packing/compile_modules.h"
#include "packing/interpreter_tree.h"
#include "packing/mend_libraries.h"
#include "packing/mend_scripts.h"
#include "packing/mend_sysconfig.h"
#include "packing/mentions.h"
#include "packing/rewritten_file.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "wheels/place_claims.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// What the parts of environments are made by: another number for each change of their bytes.
constexpr std::string_view part_form = "a part of an environment, form 1";

// PEP 610: of what came by a URL, and not from an index.
std::string origin_note_of(const ChosenPackage& package) {
  if (!package.file.is_direct) return {};
  const nlohmann::ordered_json note = {{"url", package.file.url},
                                       {"archive_info", {{"hashes", {{"sha256", package.file.sha256}}}}}};
  return note.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class Assembly {
 public:
  Assembly(Store& store, Programs& programs, SpaceGuard& space, EventSink& events, const AssemblyOrder& order)
      : store_(store),
        programs_(programs),
        space_(space),
        events_(events),
        order_(order),
        source_(order.interpreter),
        place_(store),
        top_(place_.tree()),
        site_(library_of(source_) + "/site-packages"),
        parts_(order.packages.size()) {}

  AssembledEnvironment run() {
    bring_interpreter();
    find_known();
    unpack_others();
    mend_others();
    compile();
    write_environment_note();
    store_all();
    return std::move(done_);
  }

 private:
  PackedTree& tree() { return done_.tree; }

  void bring_interpreter() {
    if (is_below(top_, source_.base))
      throw Error(FailureKind::usage, fmt::format("the store lies in {}", printable(source_.base.native(), 1000)),
                  "take a store elsewhere");
    const std::vector<fs::path> places{source_.root, source_.given};
    TreeCopy copying(top_, places, order_.stop, admits_of(store_));
    copy_interpreter(copying, source_);
    link_interpreter_names(top_, source_);
    copying.finish();
    make_directories(top_ / site_);
    changed_scripts_ = mend_scripts(top_).changed.size();
    write_activation(top_);
    write_landmark(top_, source_);
    const MendedLibraries mended = mend_libraries(programs_, {top_, interpreter_file(), places, order_.accepted});
    changed_libraries_ = mended.changed.size();
    static_cast<void>(mend_sysconfig(top_, source_.python));
    facts_ = ask_interpreter(programs_, top_, source_);
    if (auto remark = remark_of_mentions(top_, source_.root)) remarks_.push_back(std::move(*remark));
    for_each_packed_file(top_, [&](const std::string& path) { interpreter_files_.push_back(path); });
    claims_.claim_for_interpreter(interpreter_files_);
    add_directories_and_links(builder_, top_);
    ManifestBuilder alone;
    add_directory_tree(alone, top_, 0, {});
    interpreter_key_ =
        sha256(fmt::format("{}\n{}\n{}\n", part_form, Manifest::parse(alone.bytes()).root().hex(), compile_program()));
  }

  [[nodiscard]] fs::path interpreter_file() const { return top_ / "bin" / source_.interpreter.filename(); }

  [[nodiscard]] Sha256 key_of(std::size_t i) const {
    const ChosenPackage& package = order_.packages[i];
    return sha256(fmt::format("{}\n{}\n{}\n{}\n", interpreter_key_.hex(), package.file.sha256, package.file.name,
                              origin_note_of(package)));
  }

  void find_known() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto part = find_part(store_, key_of(i));
      if (!part || !std::ranges::includes(order_.accepted, part->accepted)) continue;
      std::vector<std::string> places;
      for (const PackedFile& file : part->files) places.push_back(file.path);
      claims_.claim(part->label, places);
      known_libraries_.insert(part->libraries.begin(), part->libraries.end());
      parts_[i] = std::move(part);
      ++done_.known_packages;
    }
  }

  void unpack_others() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i]) continue;
      const ChosenPackage& package = order_.packages[i];
      WheelOrder order{{}, package.file.name, source_.python, facts_.python, origin_note_of(package), order_.accepted};
      others_.push_back({order_.wheels[i], std::move(order)});
      numbers_.push_back(i);
    }
    unpack_wheels(store_, space_, top_, others_, claims_, order_.stop);
    for (std::size_t n = 0; n < others_.size(); ++n) {
      PackedPart part;
      part.label = others_[n].label;
      for (const std::string& place : others_[n].places) part_of_[place] = numbers_[n];
      parts_[numbers_[n]] = std::move(part);
    }
  }

  // The package that brings this file; nullptr: it is none of those that were unpacked now.
  PackedPart* owner_of(const std::string& place) {
    const auto number = part_of_.find(place);
    return number == part_of_.end() ? nullptr : &*parts_[number->second];
  }

  // Messages begin with a file, by its path or by its name among the packages.
  PackedPart* owner_by_message(std::string_view message) {
    const std::string word(message.substr(0, message.find(' ')));
    PackedPart* const part = owner_of(word);
    return part != nullptr ? part : owner_of(site_ + "/" + word);
  }

  template <class Mend>
  auto named(const Mend& mend) {
    try {
      return mend();
    } catch (const Error& error) {
      const PackedPart* const part = owner_by_message(error.what());
      if (part == nullptr || error.failure().kind != FailureKind::invalid) throw;
      Failure failure = error.failure();
      failure.message = fmt::format("{}: {}", part->label, failure.message);
      throw Error(failure);
    }
  }

  void mend_others() {
    const PackagesOrder order{top_, site_, {}, order_.accepted};
    const MendedPackages packages = named([&] { return mend_packages(order); });
    for (const FoundPackage& each : packages.packages) note_package(each);
    const MendedScripts scripts = named([&] { return mend_scripts(top_); });
    for (const std::string& path : scripts.changed)
      if (PackedPart* const part = owner_of(path)) ++part->scripts_changed;
    for (const std::string& remark : scripts.remarks)
      if (PackedPart* const part = owner_by_message(remark)) part->remarks.push_back(remark);
    // What a package's file gets must not depend on the other packages.
    const auto may_lead = [&](const std::string& path, const std::string& library) {
      return claims_.owner_of(library).empty() || claims_.owner_of(library) == claims_.owner_of(path);
    };
    MendedLibraries libraries = named([&] {
      return mend_libraries(programs_, {top_, interpreter_file(), {}, order_.accepted, known_libraries_, may_lead});
    });
    for (auto& [path, view] : libraries.views)
      if (PackedPart* const part = owner_of(path)) part->libraries.emplace(path, std::move(view));
    for (const std::string& path : libraries.changed)
      if (PackedPart* const part = owner_of(path)) ++part->libraries_changed;
    std::set<std::string> changed = scripts.changed;
    changed.insert(libraries.changed.begin(), libraries.changed.end());
    mend_installed_records(order, changed);
    tree().machine = libraries.machine;
    tree().glibc = libraries.glibc;
    tree().of_system = std::move(libraries.of_system);
    tree().optional = std::move(libraries.optional);
    tree().of_nodes = std::move(libraries.of_nodes);
    tree().needed_by = std::move(libraries.needed_by);
    library_remarks_ = std::move(libraries.remarks);
    for (WheelToUnpack& wheel : others_)  // notes of other installers may be gone
      std::erase_if(wheel.places, [&](const std::string& path) { return !try_lstat(top_ / path); });
    for (const std::string& name : order_.accepted)
      for (const std::string& folder : {site_, std::string("lib"), std::string("bin")})
        if (PackedPart* const part = owner_of(folder + "/" + name)) part->accepted.insert(name);
  }

  void note_package(const FoundPackage& package) {
    const auto wanted = normal_name(package.name);
    for (const std::size_t i : numbers_)
      if (wanted == order_.packages[i].name) parts_[i]->package = package;
  }

  void compile() {
    const auto modules_of = [&](const std::vector<std::string>& files, std::vector<std::string>& modules) {
      for (const std::string& path : files)
        if (path.ends_with(".py") && path.starts_with(library_of(source_) + "/")) modules.push_back(path);
    };
    std::vector<std::string> modules;
    interpreter_modules_ = find_part(store_, interpreter_key_);
    if (!interpreter_modules_) modules_of(interpreter_files_, modules);
    for (const WheelToUnpack& wheel : others_) modules_of(wheel.places, modules);
    static_cast<void>(compile_modules(programs_, top_, source_, facts_, modules, top_.parent_path() / "modules"));
    for (const std::string& module : modules) {
      const bool is_done = try_lstat(top_ / compiled_path(module, facts_)).has_value();
      if (PackedPart* const part = owner_of(module))
        ++(is_done ? part->compiled : part->not_compiled);
      else
        ++(is_done ? library_compiled_ : library_not_compiled_);
      if (is_done) compiled_.push_back(module);
    }
    if (!interpreter_modules_ && library_compiled_ == 0)
      throw Error(FailureKind::command, "compiling failed: the library's own modules are not compiled");
  }

  void write_environment_note() {
    PackedTree& tree = this->tree();
    tree.form = "lock";
    tree.python = facts_.python;
    tree.implementation = facts_.implementation;
    tree.abi = facts_.abi;
    tree.platform = facts_.platform;
    tree.libraries_changed = changed_libraries_;
    tree.scripts_changed = changed_scripts_;
    tree.compiled = interpreter_modules_ ? interpreter_modules_->compiled : library_compiled_;
    tree.not_compiled = interpreter_modules_ ? interpreter_modules_->not_compiled : library_not_compiled_;
    tree.remarks = std::move(remarks_);
    for (const auto& part : parts_) {
      tree.packages.push_back(part->package);
      tree.libraries_changed += part->libraries_changed;
      tree.scripts_changed += part->scripts_changed;
      tree.compiled += part->compiled;
      tree.not_compiled += part->not_compiled;
      tree.remarks.insert(tree.remarks.end(), part->remarks.begin(), part->remarks.end());
    }
    tree.remarks.insert(tree.remarks.end(), library_remarks_.begin(), library_remarks_.end());
    std::ranges::sort(tree.packages, {},
                      [](const FoundPackage& each) { return std::pair(to_lower(each.name), each.version); });
    write_new_file(top_ / environment_note_name, note_text_of(tree));
  }

  void store_all() {
    std::vector<std::string> files = interpreter_files_;
    files.emplace_back(environment_note_name);
    for (const WheelToUnpack& wheel : others_) files.insert(files.end(), wheel.places.begin(), wheel.places.end());
    for (const std::string& module : compiled_) files.push_back(compiled_path(module, facts_));
    events_.on(event::PhaseChanged{"store"});
    std::vector<TakenFile> taken = place_.takes().take(
        top_, files,
        [&](std::uint64_t bytes) {
          events_.on(event::BytesReceived{0, bytes});
        },
        order_.stop);
    std::map<std::string, std::string> module_of;
    for (const std::string& module : compiled_) module_of.emplace(compiled_path(module, facts_), module);
    PackedPart interpreter, modules;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto module = module_of.find(files[i]);
      PackedPart* part = owner_of(module == module_of.end() ? files[i] : module->second);
      if (part == nullptr) part = module == module_of.end() ? &interpreter : &modules;
      part->files.push_back({files[i], std::move(taken[i].tree), taken[i].executable});
    }
    modules.compiled = library_compiled_;
    modules.not_compiled = library_not_compiled_;
    if (!interpreter_modules_) keep_part(store_, interpreter_key_, modules);
    add(interpreter);
    add(interpreter_modules_ ? *interpreter_modules_ : modules);
    for (const std::size_t i : numbers_) keep_part(store_, key_of(i), *parts_[i]);
    for (const auto& part : parts_) add(*part);
    done_.stored.root = store_.put_manifest(builder_);
  }

  void add(const PackedPart& part) {
    add_part(builder_, part);
    done_.stored.files += part.files.size();
    for (const PackedFile& file : part.files) done_.stored.bytes += file.tree.digest.size_bytes;
  }

  Store& store_;
  Programs& programs_;
  SpaceGuard& space_;
  EventSink& events_;
  const AssemblyOrder& order_;
  const PrefixSource& source_;
  PackingPlace place_;
  const fs::path top_;
  const std::string site_;
  InterpreterFacts facts_;
  std::vector<std::string> interpreter_files_;
  Sha256 interpreter_key_;
  std::optional<PackedPart> interpreter_modules_;   // its .pyc; nullopt: they are compiled now
  std::vector<std::optional<PackedPart>> parts_;    // in the order of the packages
  std::map<std::string, ElfView> known_libraries_;  // of parts that are known
  std::vector<WheelToUnpack> others_;               // those that are not
  std::vector<std::size_t> numbers_;                // their parts
  std::map<std::string, std::size_t> part_of_;      // their files
  PlaceClaims claims_;
  std::vector<std::string> compiled_, remarks_, library_remarks_;
  std::uint64_t changed_libraries_ = 0, changed_scripts_ = 0, library_compiled_ = 0, library_not_compiled_ = 0;
  ManifestBuilder builder_;
  AssembledEnvironment done_;
};

}  // namespace

AssembledEnvironment assemble_environment(Store& store, Programs& programs, SpaceGuard& space, EventSink& events,
                                          const AssemblyOrder& order) {
  return Assembly(store, programs, space, events, order).run();
}

}  // namespace sabath
