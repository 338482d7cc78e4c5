#include "recipe/command_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Kind = TemplatePiece::Kind;

bool starts_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool continues_identifier(char c) {
  return starts_identifier(c) || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}

// The identifier of "{identifier}" at the front of `text`; empty if there is none.
std::string_view braced_identifier(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || !starts_identifier(text[1])) return {};
  const auto end = std::find_if_not(text.begin() + 1, text.end(), continues_identifier);
  if (end == text.end() || *end != '}') return {};
  return text.substr(1, static_cast<std::size_t>(end - text.begin()) - 1);
}

// "dataset.ID", "dataset.ID.dir"
std::optional<TemplatePiece> try_fragment(std::string_view name, std::string_view head, Kind file, Kind directory) {
  constexpr std::string_view ending = ".dir";
  if (!name.starts_with(head) || name.size() == head.size()) return std::nullopt;
  name.remove_prefix(head.size());
  if (name.size() <= ending.size() || !name.ends_with(ending)) return TemplatePiece{file, std::string(name)};
  return TemplatePiece{directory, std::string(name.substr(0, name.size() - ending.size()))};
}

TemplatePiece parse_placeholder(std::string_view name) {
  constexpr std::string_view config = "config.", asset = "asset.";
  if (name == "source") return {Kind::source, {}};
  if (name == "dataset") return {Kind::dataset, {}};
  if (name == "nodes") return {Kind::nodes, {}};
  if (name == "ranks") return {Kind::ranks, {}};
  if (name == "from.path") return {Kind::from, {}};
  if (name.starts_with(config) && name.size() > config.size()) {
    return {Kind::config, std::string(name.substr(config.size()))};
  }
  if (name.starts_with(asset) && name.size() > asset.size())
    return {Kind::asset, std::string(name.substr(asset.size()))};
  if (auto piece = try_fragment(name, "dataset.", Kind::dataset_fragment, Kind::dataset_fragment_directory))
    return std::move(*piece);
  if (auto piece = try_fragment(name, "model.", Kind::model_fragment, Kind::model_fragment_directory))
    return std::move(*piece);
  static const std::array<std::string, 8> known{"source", "dataset", "nodes", "ranks",
                                                "config", "from",    "model", "asset"};
  const std::string_view head = name.substr(0, name.find('.'));
  const auto meant = nearest(head, known);
  throw Error(FailureKind::invalid,
              fmt::format("unknown placeholder {{{}}}{}", printable(name),
                          meant && *meant != head ? fmt::format(" (did you mean {{{}}}?)", *meant) : ""),
              "known are {source} {dataset} {dataset.ID} {dataset.ID.dir} {model.ID} {model.ID.dir} {asset.NAME} "
              "{config.KEY} {nodes} "
              "{ranks} {from.path}; write {{name}} for a literal {name}");
}

}  // namespace

void part_template(std::string_view text, const std::function<void(std::string_view)>& literal,
                   const std::function<void(std::string_view)>& placeholder) {
  char before = '\0';
  while (!text.empty()) {
    std::size_t taken = 1;
    const std::string_view doubled = text.starts_with("{{") ? braced_identifier(text.substr(1)) : std::string_view{};
    const std::string_view name = before == '$' ? std::string_view{} : braced_identifier(text);
    if (!doubled.empty() && text.substr(doubled.size() + 3).starts_with('}')) {
      literal(text.substr(1, doubled.size() + 2));
      taken = doubled.size() + 4;
    } else if (!name.empty()) {
      placeholder(name);
      taken = name.size() + 2;
    } else {
      literal(text.substr(0, 1));
    }
    before = text[taken - 1];
    text.remove_prefix(taken);
  }
}

std::vector<TemplatePiece> parse_template(std::string_view text) {
  std::vector<TemplatePiece> pieces;
  const auto add_literal = [&](std::string_view literal) {
    if (pieces.empty() || pieces.back().kind != Kind::literal) pieces.push_back({});
    pieces.back().text += literal;
  };
  part_template(text, add_literal, [&](std::string_view name) { pieces.push_back(parse_placeholder(name)); });
  return pieces;
}

}  // namespace sabath
