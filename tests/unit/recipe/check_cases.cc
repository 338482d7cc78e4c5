#include "recipe_cases.h"

namespace sabath::test {
namespace {

std::string checks_with(const std::string& checks) {
  return model_with(R"("requirements":{"checks":[)" + checks + "]}");
}

std::string many(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

const std::vector<RecipeCase>& check_cases() {
  static const std::vector<RecipeCase> cases{
      {checks_with(R"("mpi.cuda_aware","ucx.gdrcopy","horovod","torch.cuda","nccl","disk.local","memory")"), ""},
      {checks_with(R"("mpi.ranks_per_node>=4","memory >= 64GB","disk.local>100GiB","nccl<2.18","torch.cuda==12.1")"),
       ""},
      {checks_with(R"({"name":"a","argv":["b","{source}","{ranks}"],"expect":"[X] MPI","parallel":true,"seconds":60})"),
       ""},
      {checks_with(""), ""},
      {checks_with(R"("mpi.cuda")"), "no check that is built in"},
      {checks_with(R"("")"), "no check that is built in"},
      {checks_with(R"("\u001b[31m")"), "control character"},
      {checks_with(R"("mpi.cuda_aware>=1")"), "compared with nothing"},
      {checks_with(R"("memory>=")"), "no bound"},
      {checks_with(R"("memory>=-1GB")"), "no bound"},
      {checks_with(R"("memory>=99999999999999999999GB")"), "no bound", false},
      {checks_with(R"("memory>==1GB")"), "no bound"},
      {checks_with(R"("memory=1GB")"), "no bound"},
      {checks_with(R"("mpi.ranks_per_node>=1048577")"), "no bound", false},
      {checks_with(R"x("nccl>=$(id)")x"), "no bound"},
      {checks_with(R"("nccl","nccl")"), "twice"},
      {checks_with(R"({"name":"nccl","argv":["a"]})"), "built in", false},
      {checks_with(R"({"name":"a"})"), "must say what is started"},
      {checks_with(R"({"name":"a","argv":[]})"), "names no command"},
      {checks_with(R"({"name":"a","argv":[""]})"), "names no command"},
      {checks_with(R"({"name":"a b","argv":["a"]})"), "is no name"},
      {checks_with(R"({"name":"a","argv":["{sorce}"]})"), "unknown placeholder"},
      {checks_with(R"({"name":"a","argv":["a"],"shell":"b"})"), "unknown key \"shell\""},
      {checks_with(R"({"name":"a","argv":["a"],"seconds":61})"), "must be 1 to 60"},
      {checks_with(R"({"name":"a","argv":["a"],"seconds":0})"), "must be 1 to 60"},
      {checks_with(R"({"name":"a","argv":["a"],"expect":"b\nc"})"), "one line"},
      {checks_with(R"({"name":"a","argv":["a"],"expect":")" + many("x", 1001) + "\"}"), "more than 1000 bytes"},
      {checks_with(many(R"({"name":"a","argv":["a"]},)", 32) + R"("nccl")"), "more than 32"},
      {checks_with(R"({"name":"a","argv":[)" + many("\"x\",", 256) + "\"x\"]}"), "more than 256"},
      {checks_with("1"), "must be an object"},
  };
  return cases;
}

}  // namespace sabath::test
