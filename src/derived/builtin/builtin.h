// The conversions that are part of the program: what `sabath apply` runs without foreign code. Each reads one file and
// writes one or several; the same input, arguments and versions give the same bytes. docs/formats.md.
//
// A conversion streams: its memory is bounded for a file of any size. It writes below `output` only, and gives a
// file its name when it is whole. Any thread, but a Workbench belongs to one. Throws Error: {usage} for an argument
// that does not fit the file, {invalid} and {content} for a file that is damaged, {space}, {storage}, {interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/own_process.h"

namespace sabath {

struct BuiltinArgument {
  enum class Type { text, number, flag };  // flag: "true" or "false"
  std::string_view name;
  Type type = Type::text;
  std::string_view fallback;  // its value where none is given, as text; "" is a value, too
  std::string_view help;
  std::string_view choices = {};               // of a text: "file|row"; empty: any
  std::uint64_t least = 0, most = UINT64_MAX;  // of a number
};

// Values as texts, by name; after parse_builtin_arguments each argument of the conversion has one.
using BuiltinArguments = std::map<std::string, std::string, std::less<>>;

// What a thread keeps from file to file: the process that reads HDF5.
struct Workbench {
  explicit Workbench(std::filesystem::path program) : hdf5(std::move(program)) {}  // empty: `sabath` is found
  Hdf5 hdf5;
};

struct BuiltinCall {
  std::filesystem::path input;   // a file
  std::filesystem::path output;  // a directory that exists; what is made stands directly in it
  BuiltinArguments arguments;    // of parse_builtin_arguments
  unsigned threads = 1;          // that one file may use; the bytes are the same for any number
  std::stop_token stop;
};

struct BuiltinResult {
  std::vector<std::string> files;  // names in `output`, in order
  std::uint64_t bytes_read = 0, bytes_written = 0;
};

struct Builtin {
  std::string_view id, description;
  std::string_view inputs;  // the files it takes, as a glob: "**/*.npy"
  unsigned version = 1;     // another number: other bytes for the same input and arguments
  std::span<const BuiltinArgument> arguments;
  BuiltinResult (*run)(const BuiltinCall& call, Workbench& bench) = nullptr;
  // False: a file that `inputs` matches and that belongs to another one, such as the labels of an array. Nullptr: none.
  bool (*takes)(std::string_view name, const BuiltinArguments& arguments) = nullptr;
};

// A file for each: its head shows what it does, its end has the table's entry.
extern const Builtin gzip_builtin, hdf5_blocks_builtin, hdf5_to_npy_builtin, hdf5_to_tfrecord_builtin,
    npy_to_tfrecord_builtin;

[[nodiscard]] std::span<const Builtin* const> builtins();        // by id
[[nodiscard]] const Builtin* find_builtin(std::string_view id);  // nullptr: there is none
// All arguments of `builtin` with their values. Throws Error{usage} for an unknown name or a value of another type.
[[nodiscard]] BuiltinArguments parse_builtin_arguments(const Builtin& builtin, const BuiltinArguments& given);

}  // namespace sabath
