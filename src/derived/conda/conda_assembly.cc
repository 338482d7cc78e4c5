#include "conda/conda_assembly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "assembly/content_copy.h"
#include "assembly/unpacking.h"
#include "base/file.h"
#include "base/text.h"
#include "conda/conda_joining.h"
#include "conda/conda_package.h"
#include "conda/conda_place.h"
#include "conda/conda_tree.h"
#include "packing/interpreter_tree.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "wheels/place_claims.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// "python3.11", by the standard library that the package named python brings; empty: it has none.
std::string library_of_package(const CondaPackage& package) {
  for (const auto& [path, item] : package.items) {
    if (!path.starts_with("lib/python3.") || !path.ends_with("/os.py")) continue;
    const std::string folder = path.substr(4, path.size() - 4 - 6);
    if (folder.size() <= 12 && try_whole_number(std::string_view(folder).substr(8))) return folder;
  }
  return {};
}

class CondaAssembly {
 public:
  CondaAssembly(Store& store, Programs& programs, SpaceGuard& space, EventSink& events, const CondaAssemblyOrder& order)
      : store_(store),
        programs_(programs),
        space_(space),
        events_(events),
        order_(order),
        place_(store),
        top_(fs::canonical(place_.tree())),
        to_{top_, top_, order.accepted, order.stop} {}

  AssembledConda run() {
    done_.tree.form = "conda-lock";
    unpack_interpreter();
    CondaJoining joining(top_, source_);
    for (std::size_t i = 0; i < order_.packages.size(); ++i)
      if (order_.packages[i].manager == PackageManager::conda) join(joining, i);
    const std::vector<std::string> gone = joining.make_links();
    if (!gone.empty())
      done_.tree.remarks.push_back(fmt::format("{} symlinks lead nowhere and are left out: {}", gone.size(),
                                               printable(fmt::format("{}", fmt::join(gone, ", ")), 500)));
    find_interpreter();
    const std::set<std::string> changed = put_place(joining);
    const std::set<std::string> notes = joining.notes();
    drop_origins(top_, notes, library_of(source_));
    const auto theirs = names_of(top_, notes);
    add_wheels(joining);
    if (auto remark = remark_of_activation(top_)) done_.tree.remarks.push_back(std::move(*remark));
    const fs::path place = names_place_ ? fs::path(order_.place) : fs::path();
    std::vector<fs::path> places{top_};
    if (names_place_) places.push_back(place);
    finish_tree(programs_, to_, {source_, std::move(places), place, changed, packages_, theirs}, done_.tree);
    events_.on(event::PhaseChanged{"store"});
    done_.stored = store_environment(store_, place_, events_, order_.stop);
    return std::move(done_);
  }

 private:
  [[nodiscard]] fs::path folder_of(std::size_t i) const { return top_.parent_path() / fmt::format("package-{}", i); }

  CondaPackage unpack(std::size_t i) {
    if (order_.stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const ChosenPackage& chosen = order_.packages[i];
    const fs::path copy = folder_of(i).native() + ".copy";
    copy_proven(store_, order_.contents[i], copy, chosen.file.name, order_.stop);
    CondaPackage package =
        unpack_conda_package({copy, chosen.file.name, chosen.name, chosen.version, folder_of(i)}, order_.stop);
    fs::remove(copy);
    space_.reserve(package.bytes, package.items.size(), package.label);
    if (!package.scripts.empty()) refuse_scripts(package, chosen.name);
    packages_.push_back({package.index.name, package.index.version, package.index.build, channel_of(chosen),
                         order_.contents[i].hash.hex(), order_.contents[i].size_bytes});
    return package;
  }

  static std::string channel_of(const ChosenPackage& chosen) {
    return public_channel(chosen.file.url.substr(0, chosen.file.url.rfind('/')));
  }

  void refuse_scripts(const CondaPackage& package, const std::string& name) {
    const std::string scripts = printable(fmt::format("{}", fmt::join(package.scripts, ", ")), 500);
    if (!order_.accepted.contains(name))
      throw Error(FailureKind::invalid,
                  fmt::format("{} has a script that an installer would run: {}", package.label, scripts),
                  fmt::format("no code of a package runs here: take another build, or accept {} by its name if it "
                              "works without",
                              name));
    done_.tree.remarks.push_back(fmt::format("{} of {} was not run", scripts, package.label));
  }

  void unpack_interpreter() {
    const auto python = std::ranges::find_if(order_.packages, [](const ChosenPackage& each) {
      return each.manager == PackageManager::conda && each.name == "python";
    });
    if (python == order_.packages.end())
      throw Error(FailureKind::invalid, "the lock has no package python: an environment has its own interpreter",
                  "add python to it, and lock again");
    number_ = static_cast<std::size_t>(python - order_.packages.begin());
    python_ = unpack(number_);
    source_.python = library_of_package(*python_);
    if (source_.python.empty())
      throw Error(FailureKind::invalid, fmt::format("{} has no lib/python3.N/os.py: CPython is packed", python_->label),
                  "take a package of CPython, with the global lock");
    source_.given = source_.root = source_.base = top_;
    source_.interpreter = top_ / "bin" / source_.python;
  }

  void join(CondaJoining& joining, std::size_t i) {
    joining.add(i == number_ ? *python_ : unpack(i), folder_of(i));
    remove_tree(folder_of(i));
  }

  void find_interpreter() {
    const auto status = try_lstat(source_.interpreter);
    if (!status || !S_ISREG(status->st_mode))
      throw Error(FailureKind::invalid, fmt::format("{} has no bin/{}", python_->label, source_.python),
                  "take another build of python");
    link_interpreter_names(top_, source_);
  }

  std::set<std::string> put_place(CondaJoining& joining) {
    const PlaceNaming naming{order_.place, joining.take_naming()};
    check_room(naming, order_.name);
    std::set<std::string> changed;
    for (const NamingFile& file : naming.files)
      if (put_place_into(top_ / file.path, file, naming.place, false) > 0) changed.insert(file.path);
    names_place_ = !changed.empty();
    if (names_place_)
      done_.tree.remarks.push_back(remark_of_place(order_.place, order_.name));
    else if (!order_.place.empty())
      done_.tree.remarks.emplace_back("no file of it names a place: it works in any");
    return changed;
  }

  void add_wheels(const CondaJoining& joining) {
    std::vector<WheelToUnpack> wheels;
    for (std::size_t i = 0; i < order_.packages.size(); ++i) {
      const ChosenPackage& chosen = order_.packages[i];
      if (chosen.manager != PackageManager::python) continue;
      wheels.push_back(
          {order_.contents[i], {{}, chosen.file.name, source_.python, python_->index.version, {}, order_.accepted}});
    }
    if (wheels.empty()) return;
    make_directories(top_ / library_of(source_) / "site-packages", 0755);
    PlaceClaims claims;
    claims.claim_for_interpreter(joining.places());
    unpack_wheels(store_, space_, top_, wheels, claims, order_.stop);
  }

  Store& store_;
  Programs& programs_;
  SpaceGuard& space_;
  EventSink& events_;
  const CondaAssemblyOrder& order_;
  PackingPlace place_;
  const fs::path top_;
  const PackOrder to_;
  PrefixSource source_;
  std::optional<CondaPackage> python_;
  std::size_t number_ = 0;  // its own
  bool names_place_ = false;
  std::vector<FoundPackage> packages_;
  AssembledConda done_;
};

}  // namespace

AssembledConda assemble_conda_environment(Store& store, Programs& programs, SpaceGuard& space, EventSink& events,
                                          const CondaAssemblyOrder& order) {
  return CondaAssembly(store, programs, space, events, order).run();
}

}  // namespace sabath
