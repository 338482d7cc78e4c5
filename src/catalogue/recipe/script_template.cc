#include "recipe/script_template.h"

#include "recipe/command_template.h"

namespace sabath {

std::string fill_script_template(std::string_view text,
                                 const std::function<std::string(std::string_view name)>& value) {
  std::string filled;
  part_template(
      text, [&](std::string_view literal) { filled += literal; },
      [&](std::string_view name) { filled += value(name); });
  return filled;
}

}  // namespace sabath
