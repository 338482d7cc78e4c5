// Changes the text of a recipe: a value is replaced, added or taken away, and every other byte stays as its author
// wrote it. Pure; any thread. Throws Error{usage} for a change that is none, Error{invalid} for a text that is no
// object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct RecipeEdit {
  // "tags.task" is {"tags", "task"}: objects that are not there are made. In a list the object of this id:
  // {"fragments", "main", "size"}.
  std::vector<std::string> key;
  std::string value;  // as JSON; empty: the key is taken away
};

// "KEY=VALUE", where KEY may have dots. A value that is JSON is taken as it is, all else as a text; "KEY=" is null.
[[nodiscard]] RecipeEdit parse_recipe_edit(const std::string& text);

// `text`: JSON that parse_recipe() has read. `origin`: its name, for messages.
[[nodiscard]] std::string edited_recipe(std::string text, const std::string& origin, const RecipeEdit& edit);

}  // namespace sabath
