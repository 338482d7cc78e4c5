// uv.lock: the packages of a project for all platforms, as a graph:
// https://docs.astral.sh/uv/concepts/projects/layout/. It is walked from the project's own dependencies on; groups and
// extras that are not asked for stay out.
#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "environments/lock_entries.h"
#include "environments/marker.h"
#include "environments/package_name.h"
#include "environments/readers.h"
#include "environments/toml.h"
#include "environments/wheel_name.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t same_name_max = 100, extras_walked_max = 200;

struct UvNode {
  LockedPackage package;
  const JsonValue* value = nullptr;
  bool is_project = false;
  std::set<std::string> extras;  // those that were walked
  bool is_walked = false;
};

LockedFile uv_file(JsonObject& entry, std::string_view origin, const std::string& url) {
  LockedFile file = web_file(url, origin, entry.line());
  file.size_bytes = entry.try_uint("size");
  if (const auto hash = entry.try_text("hash"); hash && !take_digest(*hash, file))
    entry.fail("hash", fmt::format("is no digest: {}", printable(*hash, 80)));
  return file;
}

void read_uv_source(JsonObject& object, UvNode& node) {
  auto source = object.try_object("source", "a source");
  if (!source) object.fail("source", "is missing");
  if (source->find("virtual") != nullptr || source->find("editable") != nullptr) {
    node.is_project = true;
  } else if (source->find("git") != nullptr) {
    node.package.instead = "a repository, whose build would run code";
  } else if (source->find("path") != nullptr || source->find("directory") != nullptr) {
    node.package.instead = "a local path";
  } else if (const JsonValue* registry = source->find("registry")) {
    const auto* const text = registry->get<std::string>();
    if (text == nullptr || !(text->starts_with("https://") || text->starts_with("http://")))
      node.package.instead = "a directory of wheels on the machine where it was locked";
  } else if (const auto url = source->try_text("url")) {
    if (!try_wheel_name(web_file(*url, object.origin(), source->line()).name))
      node.package.instead = "an archive, whose build would run code";
  }
}

UvNode uv_node(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a package");
  UvNode node;
  node.value = &value;
  node.package = python_package(object, origin);
  read_uv_source(object, node);
  if (object.find("sdist") != nullptr && node.package.instead.empty())
    node.package.instead = "an sdist, whose build would run code";
  if (const JsonValue::Array* const wheels = object.try_array("wheels")) {
    for (const JsonValue& wheel : *wheels) {
      JsonObject entry(wheel, origin, "a wheel");
      if (const auto url = entry.try_text("url")) {
        node.package.files.push_back(uv_file(entry, origin, *url));
      } else if (const auto name = entry.try_text("filename")) {
        auto source = object.try_object("source", "a source");
        const auto at = source->try_text("url");
        if (at) node.package.files.push_back(uv_file(entry, origin, *at));
      }
    }
  }
  return node;
}

class UvGraph {
 public:
  UvGraph(const JsonValue& root, const std::string& origin, const WheelTarget& target)
      : origin_(origin), target_(target) {
    JsonObject object(root, origin, "a lock");
    if (const auto version = object.try_uint("version"); version != 1)
      object.fail("version", "is not 1, the one that is read", "lock it with a uv that writes version 1");
    lock_.origin = origin;
    lock_.requires_python = object.try_text("requires-python").value_or("");
    const JsonValue::Array* const packages = object.try_array("package");
    if (packages == nullptr) return;
    check_package_count(packages->size(), 0, origin);
    std::size_t files = 0;
    for (const JsonValue& value : *packages) {
      nodes_.push_back(uv_node(value, origin));
      check_package_count(0, files += nodes_.back().package.files.size(), origin);
      auto& same = by_name_[nodes_.back().package.name];
      same.push_back(nodes_.size() - 1);
      if (same.size() > same_name_max)
        throw_at(origin, value.line,
                 fmt::format("more than {} packages named {}", same_name_max, nodes_.back().package.name));
    }
  }

  EnvironmentLock walk() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].is_project) visit(i, {});
    if (open_.empty()) throw_at(origin_, 1, "has no project, from which its packages are needed");
    while (!open_.empty()) {
      const auto [index, extra] = open_.front();
      open_.pop_front();
      follow(index, extra);
    }
    for (UvNode& node : nodes_) {
      if (!node.is_walked) continue;
      if (node.is_project)
        lock_.remarks.push_back(
            fmt::format("{}: the project {} itself is not locked, its dependencies are", origin_, node.package.name));
      else
        lock_.packages.push_back(std::move(node.package));
    }
    return std::move(lock_);
  }

 private:
  void visit(std::size_t index, const std::string& extra) {
    UvNode& node = nodes_[index];
    if (node.extras.size() > extras_walked_max) throw_at(origin_, 1, "too many extras of " + node.package.name);
    const bool is_new = extra.empty() ? !std::exchange(node.is_walked, true) : node.extras.insert(extra).second;
    if (is_new) open_.emplace_back(index, extra);
  }

  void follow(std::size_t index, const std::string& extra) {
    JsonObject object(*nodes_[index].value, origin_, "a package");
    const JsonValue::Array* dependencies = nullptr;
    std::optional<JsonObject> optional;
    if (extra.empty()) {
      dependencies = object.try_array("dependencies");
    } else if ((optional = object.try_object("optional-dependencies", "dependencies"))) {
      dependencies = optional->try_array(extra);
    }
    if (dependencies == nullptr) return;
    for (const JsonValue& value : *dependencies) {
      JsonObject entry(value, origin_, "a dependency");
      follow_one(entry);
    }
  }

  void follow_one(JsonObject& entry) {
    const LockedPackage wanted = python_package(entry, origin_);
    const MarkerValues values{.target = &target_, .extra = {}, .extras = {}, .groups = {}};
    if (!holds(entry.try_text("marker").value_or(""), values, wanted.place + ": the marker")) return;
    const auto found = by_name_.find(wanted.name);
    if (found == by_name_.end()) entry.fail("name", fmt::format("{} has no entry in the lock", wanted.name));
    std::vector<std::size_t> fits;
    for (const std::size_t index : found->second)
      if ((wanted.version.empty() || nodes_[index].package.version == wanted.version) && of_same_source(entry, index))
        fits.push_back(index);
    if (fits.size() != 1)
      entry.fail("name", fmt::format("{} of the lock's packages are {} {}: one is wanted", fits.size(), wanted.name,
                                     wanted.version));
    visit(fits[0], {});
    for (const std::string& extra : entry.texts("extra")) visit(fits[0], extra);
  }

  // Two packages of one name and version may come from two indexes.
  bool of_same_source(JsonObject& entry, std::size_t index) const {
    const JsonValue* const wanted = entry.find("source");
    JsonObject object(*nodes_[index].value, origin_, "a package");
    const JsonValue* const there = object.find("source");
    return wanted == nullptr || there == nullptr || same_source(*wanted, *there);
  }
  static bool same_source(const JsonValue& a, const JsonValue& b) {
    const auto* const one = a.get<JsonValue::Object>();
    const auto* const other = b.get<JsonValue::Object>();
    if (one == nullptr || other == nullptr || one->empty() || other->empty()) return false;
    const auto* const text = one->front().value.get<std::string>();
    const auto* const second = other->front().value.get<std::string>();
    return one->front().key == other->front().key && text != nullptr && second != nullptr && *text == *second;
  }

  const std::string& origin_;
  const WheelTarget& target_;
  EnvironmentLock lock_;
  std::vector<UvNode> nodes_;
  std::map<std::string, std::vector<std::size_t>> by_name_;
  std::deque<std::pair<std::size_t, std::string>> open_;
};

}  // namespace

EnvironmentLock read_uv_lock(std::string_view text, const std::string& origin, const WheelTarget& target) {
  const JsonValue root = parse_toml(text, origin, {.size_max = lock_text_max});
  return UvGraph(root, origin, target).walk();
}

}  // namespace sabath
