#include "cli/described.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

bool is_rest(const Field& field) { return field.argument.starts_with("-- "); }

// "-n,--dry-run"
std::string names_of(const Field& field) {
  if (!field.argument.empty()) return std::string(field.argument) + (is_rest(field) ? "..." : "");
  std::string name(field.option.empty() ? field.key : field.option);
  std::ranges::replace(name, '_', '-');
  return (field.letter == 0 ? "" : std::string{'-', field.letter, ','}) + "--" + name;
}

// What stands behind the option in help: a flag has nothing there.
std::string_view value_name_of(const Field& field) {
  if (!field.argument.empty()) return "";
  if (!field.value.empty()) return field.value;
  if (!field.all_words().empty()) return field.all_words();
  const std::string_view type = field.type->name;
  if (type == "flag") return "";
  if (field.unit == "bytes") return "SIZE";
  return type == "count" ? "N" : type == "seconds" ? "TIME" : type == "path" ? "FILE" : "VALUE";
}

Option option_of(const Field& field, void* request) {
  Option option;
  option.names = names_of(field);
  option.value = value_name_of(field);
  option.help = field.help;
  option.rest = is_rest(field);
  option.repeats = (field.type->is_list || field.type->repeats) && !option.rest;
  option.required = field.required;
  option.set = [&field, names = option.names, at = field.at(request)](const std::string& text) {
    field.type->parse(field, names, text, at);
  };
  return option;
}

// As people read it; empty: there is none.
std::string text_of_value(const Field& field, const Json& value) {
  if (value.is_null() || value.is_object()) return "";
  if (value.is_array()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : ", ") + text_of_value(field, one);
    return all;
  }
  if (field.unit == "bytes" && value.is_number()) return format_bytes(value.get<std::uint64_t>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? printable(value.get<std::string>()) : value.dump();
}

std::string table_of(Fields fields, const Json& objects) {
  std::vector<std::string> head;
  std::vector<std::size_t> right;
  for (const Field& field : fields) {
    if (field.type->name == "count" || field.type->name == "number") right.push_back(head.size());
    std::ranges::transform(field.key, std::back_inserter(head.emplace_back()), ::toupper);
  }
  Table table(head);
  for (const Json& object : objects) {
    std::vector<std::string> row;
    for (const Field& field : fields)
      row.push_back(object.contains(field.key) ? text_of_value(field, object.at(std::string(field.key))) : "");
    table.add(std::move(row));
  }
  return table.text(std::move(right), 0);
}

Action action_of(const LibraryVerb& verb, OptionSet& set) {
  const std::shared_ptr<void> request = verb.make_request();
  declare_fields(set, verb.request, request.get());
  return [request, &verb](Context& context) {
    for (const Field& field : verb.request) {
      if (field.type == &type_of<Environment>)
        *static_cast<Environment*>(field.at(request.get())) = context.environment;
    }
    Session session(context.configuration.session, context.ranks);
    const auto progress = context.make_progress();
    const Json record = verb.perform(session, request.get(), *progress, context.stop);
    context.presentation.json ? context.out.record(record) : print_record(context, verb.record, record);
    return record.at("exit").get<int>();
  };
}

}  // namespace

Action Verb::options_into(OptionSet& options) const {
  return library == nullptr ? declare(options) : action_of(*library, options);
}

Fields request_fields(const std::type_info& request_type) {
  const auto of_type = [&](const LibraryVerb& verb) { return verb.request_type && *verb.request_type == request_type; };
  const auto verb = std::ranges::find_if(library_verbs(), of_type);
  if (verb == library_verbs().end()) throw std::logic_error("no verb describes this request");
  return verb->request;
}

void declare_fields(OptionSet& set, Fields fields, void* request) {
  for (const Field& field : fields) {
    if (!field.hidden && field.type->parse != nullptr) set.add(option_of(field, request));
  }
}

void print_record(Context& context, Fields fields, const Json& record) {
  std::size_t width = 0;
  for (const Field& field : fields) width = std::max(width, field.key.size());
  for (const Field& field : fields) {
    const Json& value = record.value(std::string(field.key), Json());
    const bool table = field.type->fields != nullptr && field.type->is_list;
    if (const std::string text = table || field.key == "exit" ? "" : text_of_value(field, value); !text.empty())
      context.out.print(fmt::format("{:{}}  {}\n", field.key, width, text));
    if (table && !value.empty()) context.out.print(table_of(field.type->fields(), value));
  }
}

}  // namespace sabath::cli
