#include "cli/described.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/text.h"

namespace sabath::cli {
namespace {

// "-n,--dry-run"
std::string names_of(const Field& field) {
  if (!field.argument.empty()) return std::string(field.argument);
  std::string name(field.option.empty() ? field.key : field.option);
  std::ranges::replace(name, '_', '-');
  return (field.letter == 0 ? "" : std::string{'-', field.letter, ','}) + "--" + name;
}

Option option_of(const Field& field, void* request) {
  Option option;
  option.names = names_of(field);
  if (field.argument.empty()) option.value = field.words.empty() ? field.value : field.words;
  option.help = field.help;
  option.repeats = field.type->is_list;
  option.required = field.required;
  option.set = [&field, names = option.names, at = field.at(request)](const std::string& text) {
    field.type->parse(field, names, text, at);
  };
  return option;
}

}  // namespace

void declare_fields(OptionSet& set, const std::type_info& request_type, void* request) {
  const auto of_type = [&](const LibraryVerb& verb) { return verb.request_type && *verb.request_type == request_type; };
  const auto verb = std::ranges::find_if(library_verbs(), of_type);
  if (verb == library_verbs().end()) throw std::logic_error("no verb describes this request");
  for (const Field& field : verb->request) {
    if (!field.hidden) set.add(option_of(field, request));
  }
}

}  // namespace sabath::cli
