// sabath-convert: one of the program's conversions by itself, for tests that judge its bytes with other libraries.
//   usage: sabath-convert SABATH ID INPUT OUTPUT THREADS [KEY=VALUE...]
// Prints the names that it made, a line each; a failure as "KIND: message", with its exit code.

#include <cstdlib>
#include <iostream>

#include "builtin/builtin.h"
#include "sabath/error.h"

int main(int argc, char** argv) {
  try {
    if (argc < 6) return 2;
    const sabath::Builtin* const builtin = sabath::find_builtin(argv[2]);
    if (builtin == nullptr) return 3;
    sabath::BuiltinArguments given;
    for (int i = 6; i < argc; ++i) {
      const std::string text = argv[i];
      given[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    sabath::Workbench bench(argv[1]);
    const auto threads = static_cast<unsigned>(std::atoi(argv[5]));
    const auto result =
        builtin->run({argv[3], argv[4], sabath::parse_builtin_arguments(*builtin, given), threads, {}}, bench);
    for (const std::string& name : result.files) std::cout << name << '\n';
  } catch (const sabath::Error& error) {
    std::cout << name(error.failure().kind) << ": " << error.what() << '\n';
    return exit_code(error.failure().kind);
  }
}
