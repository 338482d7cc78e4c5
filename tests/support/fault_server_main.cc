// sabath-fault-server: the fault server for tests in other languages. Prints its port, serves until its standard input
// ends, then prints the requests and body bytes that it counted, as one JSON record.
//   usage: sabath-fault-server [PORT]

#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>

#include "support/fault_server.h"

int main(int argc, char** argv) {
  try {
    const sabath::test::FaultServer server(argc > 1 ? static_cast<std::uint16_t>(std::atoi(argv[1]))
                                                    : std::uint16_t{0});
    std::cout << server.port() << std::endl;
    std::cin.ignore(std::numeric_limits<std::streamsize>::max());
    const auto total = server.total();
    std::cout << "{\"requests\":" << total.requests << ",\"body_bytes\":" << total.body_bytes << "}" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "sabath-fault-server: " << error.what() << '\n';
    return 1;
  }
}
