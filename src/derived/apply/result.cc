#include "apply/result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/derivation.h"
#include "base/wording.h"
#include "comm/parcel.h"
#include "recipe/supporting.h"
#include "run/commands.h"
#include "sabath/error.h"

namespace sabath {

std::string encode_worked(const Worked& worked) {
  Parcel parcel;
  parcel.add(worked.processed).add(worked.resumed).add(encode_note(worked.outputs));
  parcel.add(std::uint64_t{worked.failures.size()});
  for (const ApplyFailure& failed : worked.failures) {
    parcel.add(failed.path).add(failed.failure).add(std::uint64_t{failed.last_lines.size()});
    for (const std::string& line : failed.last_lines) parcel.add(line);
    parcel.add(std::uint64_t{failed.exit.has_value()});
    parcel.add(static_cast<std::uint64_t>(failed.exit.value_or(0)));
    parcel.add(static_cast<std::uint64_t>(failed.signal.value_or(0)));
  }
  return parcel.take();
}

Worked decode_worked(const std::string& bytes) {
  Parcel::Reader parcel(bytes);
  Worked worked;
  worked.processed = parcel.number();
  worked.resumed = parcel.number();
  auto outputs = try_decode_note(parcel.text());
  if (!outputs) throw Error(FailureKind::internal, "a rank's part is damaged");
  worked.outputs = std::move(*outputs);
  for (std::uint64_t left = parcel.number(); left > 0; --left) {
    ApplyFailure failed;
    failed.path = parcel.text();
    failed.failure = parcel.failure().value_or(Failure{});
    for (std::uint64_t lines = parcel.number(); lines > 0; --lines) failed.last_lines.push_back(parcel.text());
    const bool ran = parcel.flag();
    const auto exit = static_cast<int>(parcel.number()), signal = static_cast<int>(parcel.number());
    if (ran) {
      failed.exit = exit;
      failed.signal = signal;
    }
    worked.failures.push_back(std::move(failed));
  }
  return worked;
}

Sha256 put_result(Store& store, const std::vector<Output>& outputs, const Manifest* under,
                  const DerivationStep& derivation) {
  ManifestBuilder builder;
  std::set<std::string> made;
  for (const Output& output : outputs) {
    if (!made.insert(output.path.text()).second) {
      throw Error(FailureKind::invalid, fmt::format("two inputs gave {}", printable(output.path.text())),
                  "let the script name its outputs after {name} or {stem}");
    }
    builder.add_file(output.path, output.tree.digest, output.tree.chunks, output.executable);
  }
  if (under != nullptr) {
    under->for_each([&](const Entry& entry) {
      if (made.contains(entry.path.text())) return;
      if (entry.type == EntryType::directory) return builder.add_directory(entry.path);
      if (entry.type == EntryType::symlink) return builder.add_symlink(entry.path, entry.target);
      builder.add_file(entry.path, entry.digest, under->chunks(entry), entry.type == EntryType::executable);
    });
  }
  builder.set_note(note_of(derivation));
  return store.put_manifest(builder);
}

std::string apply_command(const DerivationStep& derivation, const std::string& in_place) {
  std::vector<std::string> argv{"sabath", "apply", derivation.from, derivation.script};
  for (const auto& [name, value] : derivation.arguments) argv.push_back(name + "=" + value);
  return shell_line(argv) + (derivation.in_place ? " " + option_text("in_place") + " " + in_place : "");
}

std::string derived_recipe(const Recipe& input, const std::string& name, const Sha256& root,
                           const DerivationStep& derivation) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const Json recipe = {
      {"schema", 1},
      {"kind", "dataset"},
      {"name", name},
      {"title", fmt::format("{} after {}", input.title.empty() ? input.name : input.title, derivation.script)},
      {"homepage", text(input.homepage)},
      {"licence", text(input.licence)},
      {"citation", input.citation},
      {"references", input.references},
      {"access", {{"kind", "private"}, {"steps", {apply_command(derivation, "DIR")}}}},
      {"fragments", Json::array()},
      {"manifest", {{"digest", root.prefixed()}, {"urls", Json::array()}}},
      {"derived", json_of(derivation)}};
  return recipe.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sabath
