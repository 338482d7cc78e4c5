// The placeholders of run commands: {source} {dataset} {dataset.ID} {dataset.ID.dir} {model.ID}
// {model.ID.dir} {asset.NAME} {config.KEY} {nodes} {ranks} {from.path}.
// Any other {identifier} is refused, so that a typing error never reaches a command; braces that hold no identifier
// (shell, awk) and ${NAME} are literal, and {{name}} stands for a literal {name}. Plain values; any thread. Throws
// Error{invalid}.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct TemplatePiece {
  enum class Kind {
    literal,
    source,
    dataset,
    dataset_fragment,
    dataset_fragment_directory,
    model_fragment,
    model_fragment_directory,
    asset,
    config,
    nodes,
    ranks,
    from
  };
  Kind kind = Kind::literal;
  std::string text;  // literal: the text; *_fragment*: the fragment's id; config: the key; asset: its name

  friend bool operator==(const TemplatePiece&, const TemplatePiece&) = default;
};

[[nodiscard]] std::vector<TemplatePiece> parse_template(std::string_view text);

// Parts any text by the same rules: `literal` gets what stands for itself, `placeholder` each identifier, in order.
void part_template(std::string_view text, const std::function<void(std::string_view)>& literal,
                   const std::function<void(std::string_view)>& placeholder);

}  // namespace sabath
