// How objects, lists and objects of names are read from a request and written into a record. Included by fields.h.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fields/field_types.h"

namespace sabath {

void read_object(const Field& field, JsonObject& request, void* at);
void read_objects(const Field& field, JsonObject& request, void* list, void* (*append_to)(void* list));

template <IsDescribed T>
struct TypeOf<T> {
  static Fields fields() { return Described<T>::table; }
  static void read(const Field& field, JsonObject& request, void* at) { read_object(field, request, at); }
  static void write(const Field&, const void* at, Json& into) { write_fields(fields(), at, into); }
  static constexpr FieldType type{.name = "object", .fields = fields, .read = read, .write = write};
};

std::vector<std::string> read_texts(const Field& field, JsonObject& request);

template <typename T>
struct TypeOf<std::vector<T>> {  // a request may have a list of texts, paths or objects only
  static constexpr const FieldType& one = type_of<T>;
  static std::vector<T>& list(void* at) { return *static_cast<std::vector<T>*>(at); }
  static void read(const Field& field, JsonObject& request, void* at) {
    if constexpr (IsDescribed<T>) {  // first: a struct of texts may be made of one text, too
      if constexpr (std::is_default_constructible_v<T>)
        read_objects(field, request, at, [](void* all) -> void* { return &list(all).emplace_back(); });
    } else if constexpr (std::is_constructible_v<T, std::string>) {
      for (std::string& text : read_texts(field, request)) list(at).emplace_back(std::move(text));
    }
  }
  static void parse(const Field& field, const std::string& option, const std::string& text, void* at) {
    if constexpr (std::is_default_constructible_v<T>) one.parse(field, option, text, &list(at).emplace_back());
  }
  static void write(const Field& field, const void* at, Json& into) {
    if (field.null_if_empty && static_cast<const std::vector<T>*>(at)->empty()) return;
    make_list(into);
    for (const T& value : *static_cast<const std::vector<T>*>(at)) one.write(field, &value, append_to(into));
  }
  static constexpr FieldType type{.name = one.name,
                                  .fields = one.fields,
                                  .read = read,
                                  .parse = one.parse == nullptr ? nullptr : parse,
                                  .write = write,
                                  .is_list = true,
                                  .words = one.words};
};

// An object whose keys are names. A request may have texts only: {"lr": "0.1"}, on the command line lr=0.1.
std::map<std::string, std::string> read_pairs(const Field& field, JsonObject& request);
std::map<std::string, std::string> parse_pair(const std::string& option, const std::string& text);

template <typename Pairs>
struct TypeOfPairs {
  using T = typename Pairs::value_type::second_type;
  static constexpr const FieldType& one = type_of<T>;
  static void write(const Field& field, const void* at, Json& into) {
    const auto& pairs = *static_cast<const Pairs*>(at);
    if (field.null_if_empty && pairs.empty()) return;
    make_object(into);
    for (const auto& [name, value] : pairs) one.write(field, &value, member_of(into, shown_text(field, name)));
  }
  static constexpr FieldType type{.name = "object of names", .fields = one.fields, .write = write};
};
template <typename T>
struct TypeOf<std::map<std::string, T>> : TypeOfPairs<std::map<std::string, T>> {};
template <typename T>
struct TypeOf<std::vector<std::pair<std::string, T>>> : TypeOfPairs<std::vector<std::pair<std::string, T>>> {};

template <typename T>
requires std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>
struct TypeOf<std::map<std::string, T>> {
  using Pairs = std::map<std::string, T>;
  static void add(const std::map<std::string, std::string>& texts, void* at) {
    for (const auto& [name, text] : texts) (*static_cast<Pairs*>(at))[name] = text;
  }
  static void read(const Field& field, JsonObject& request, void* at) { add(read_pairs(field, request), at); }
  static void parse(const Field&, const std::string& option, const std::string& text, void* at) {
    add(parse_pair(option, text), at);
  }
  static constexpr FieldType type{
      .name = "object of texts", .read = read, .parse = parse, .write = TypeOfPairs<Pairs>::write, .repeats = true};
};

// Of what SABATH_VALUE gives: a value that the record has; nullptr: there is none.
template <typename T>
struct TypeOf<const T*> {
  static constexpr const FieldType& one = type_of<T>;
  static void write(const Field& field, const void* at, Json& into) {
    if (const T* const value = *static_cast<const T* const*>(at); value != nullptr) one.write(field, value, into);
  }
  static constexpr FieldType type{.name = one.name,
                                  .fields = one.fields,
                                  .write = write,
                                  .is_list = one.is_list,
                                  .words = one.words,
                                  .may_lack = true};
};

}  // namespace sabath
