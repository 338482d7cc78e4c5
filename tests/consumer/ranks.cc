// A program outside SABATH that has started MPI itself: its ranks fetch together, into one store.
// Usage: mpirun -n 2 ranks DIRECTORY (made, and left behind).
#include <sabath/mpi.h>
#include <sabath/session.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int code = 1;
  try {
    const auto comm = sabath::make_comm(MPI_COMM_WORLD);
    const std::filesystem::path work = std::filesystem::absolute(argv[1]);
    if (comm->rank() == 0) {
      std::filesystem::create_directories(work / "recipes/datasets");
      std::ofstream(work / "origin.bin") << std::string(9'000'000, 'x');
      std::ofstream(work / "recipes/datasets/xs.json")
          << R"({"schema":1,"kind":"dataset","name":"xs","fragments":[{"id":"main","type":"file","path":"x","urls":["file://)"
          << (work / "origin.bin").string() << R"("]}]})";
    }
    comm->barrier();
    sabath::SessionSettings settings;
    settings.store = work / "store";
    settings.recipe_directories = {work / "recipes"};
    sabath::Session session(settings, comm.get());
    sabath::NoEvents nobody;
    const sabath::FetchRecord record = session.fetch({.names = {"xs"}}, nobody, {});
    if (comm->rank() == 0) std::cout << "ranks: " << comm->size() << ", " << sabath::to_json(record) << '\n';
    code = record.exit == 0 && comm->size() > 1 && std::filesystem::exists(session.path("xs") / "x") ? 0 : 1;
  } catch (const sabath::Error& error) {
    std::cerr << "ranks: " << error.what() << '\n';
  }
  MPI_Finalize();
  return code;
}
