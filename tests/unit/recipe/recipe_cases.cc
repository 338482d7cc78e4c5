#include "recipe_cases.h"

namespace sabath::test {
namespace {

const std::string fragment_head = R"({"id":"main","type":"file","urls":["https://a.example/f.bin"])";

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string run_with(const std::string& step) { return model_with(R"("run":{"one":[)" + step + "]}"); }

std::string git_with(const std::string& members) { return model_with(R"("git":{)" + members + "}"); }

std::string url(const std::string& text) {
  return dataset_with(R"("fragments":[{"id":"main","type":"file","path":"f","urls":[")" + text + R"("]}])");
}

// A dataset with a fragment and these members.
std::string described(const std::string& members) {
  return dataset_with(R"("fragments":[)" + fragment_head + "}]," + members);
}

const std::string one_fragment = R"("fragments":[)" + fragment_head + "}]";

std::string script_with(const std::string& members) {
  return dataset_with(one_fragment + R"(,"supporting":[{"id":"s",)" + members + "}]");
}

std::string derived(const std::string& root, const std::string& more) {
  return R"({"from":"one","input":")" + root + R"(","script":"gzip","key":")" + root + '"' + more + "}";
}

std::string path(const std::string& text) { return fragment_with(R"("path":")" + text + '"'); }

}  // namespace

std::string dataset_with(const std::string& members) {
  return R"({"schema":1,"kind":"dataset","name":"one",)" + members + "}";
}

std::string fragment_with(const std::string& members) {
  return dataset_with(R"("fragments":[)" + fragment_head + (members.empty() ? "" : ",") + members + "}]");
}

std::string model_with(const std::string& members) {
  return R"({"schema":1,"kind":"model","name":"m",)" + members + "}";
}

const std::vector<RecipeCase>& schema_1_cases() {
  static const std::vector<RecipeCase> cases{
      // Metadata.
      {described(
           R"("id":"https://doi.org/10.5281/zenodo.5904188","doi":"10.5281/zenodo.5904188","published":"2022-01-25")"),
       ""},
      {described(R"("id":"urn:uuid:2c9d9c3e-5a3f-5c0e-9b0b-2a8f4f3f0a11","published":"2022-01")"), ""},
      {described(R"("id":null,"doi":null,"published":null,"creators":null,"submitter":null,"tags":null,"keywords":null,
        "related":null,"format":null,"model":null,"experiment":null,"unknown":null,"read_from":null)"),
       ""},
      {described(R"("id":"one")"), "is no URI"},
      {described(R"("id":"http://a b")"), "is no URI"},
      {described(R"("id":7)"), "must be a string"},
      {described(R"("doi":"https://doi.org/10.1234/a")"), "is no DOI"},
      {described(R"("doi":"10.12/a")"), "is no DOI"},
      {described(R"("doi":"10.1234/")"), "is no DOI"},
      {described(R"("published":"2022-13")"), "is no date"},
      {described(R"("published":"2022-02-30")"), "is no date", false},
      {described(R"("published":"22")"), "is no date"},
      {described(
           R"("creators":[{"name":"Carberry, Josiah","orcid":"0000-0002-1825-0097","affiliation":"Brown University"},
        {"name":"ExaLearn","type":"organization"},{"name":"Hawking, Stephen","orcid":"0000-0002-9079-593X"}],
        "submitter":{"name":"A"})"),
       ""},
      {described(R"("creators":[{"name":"A","orcid":"0000-0002-1825-0098"}])"), "is no ORCID", false},
      {described(R"("creators":[{"name":"A","orcid":"https://orcid.org/0000-0002-1825-0097"}])"), "is no ORCID"},
      {described(R"("creators":[{"name":"A","type":"organization","orcid":"0000-0002-1825-0097"}])"),
       "only for persons"},
      {described(R"("creators":[{"orcid":"0000-0002-1825-0097"}])"), "needs the key \"name\""},
      {described(R"("creators":[{"name":"A","mail":"a@b"}])"), "unknown key \"mail\""},
      {described(R"("creators":["A"])"), "must be an object"},
      {described(R"("tags":{"task":"regression","cubes":4,"public":true,"none":null},"keywords":["cosmology"])"), ""},
      {described(R"("tags":{"a b":"x"})"), "must be a name"},
      {described(R"("tags":{"a":["x"]})"), "must be"},
      {described(R"("keywords":["a\tb"])"), "one line"},
      {described(
           R"("related":[{"relation":"IsDerivedFrom","target":"two"},{"relation":"IsDocumentedBy","target":"https://a.example/p"}])"),
       ""},
      {described(R"("related":[{"relation":"IsDerivedfrom","target":"two"}])"), "did you mean \"IsDerivedFrom\""},
      {described(R"("related":[{"relation":"Cites","target":"a b"}])"), "neither a URI nor the name"},
      {described(
           R"("format":{"names":["HDF5"],"media_types":["application/x-hdf5"],"conforms_to":["https://cfconventions.org/"],
        "variables":[{"name":"full","dtype":"int16","unit":null,"shape":[512,512,512,4]},{"name":"x","shape":[null,4]}]})"),
       ""},
      {described(R"("format":{"media_types":["hdf5"]})"), "is no media type"},
      {described(R"("format":{"variables":[{"dtype":"int16"}]})"), "needs the key \"name\""},
      {described(R"("format":{"variables":[{"name":"x","shape":[-1]}]})"), "must hold lengths"},
      {described(R"("format":{"variables":[{"name":"x","shape":[)" + repeat("1,", 32) + R"(1]}]})"),
       "more than 32 axes"},
      {model_with(R"("model":{"format":"onnx","framework":"PyTorch","type":"ConvolutionalNeuralNetwork","tunable":false,
        "hyper_parameters":{"epochs":3},"metrics":["latency"],"accelerators":["CUDA"]})"),
       ""},
      {model_with(R"("model":{"tunable":"false"})"), "must be"},
      {described(R"("model":{"format":"onnx"})"), "only for models"},
      {R"({"schema":1,"kind":"workflow","name":"w","experiment":{"workflow":"w2","software":["gcc"],"hardware":["GPU"],
        "system":{"OMP_NUM_THREADS":4},"datasets":["one"],"models":["https://a.example/m"]}})",
       ""},
      {model_with(R"("experiment":{"software":["gcc"]})"), "only for workflows"},
      {described(R"("licence":null,"unknown":{"licence":"the publisher states none"},"read_from":{"fragments.main.size":
        "https://a.example/","homepage":["https://a.example/","http://b.example/"]},"homepage":"https://a.example/")"),
       ""},
      {described(R"("licence":"MIT","unknown":{"licence":"?"})"), "but line", false},
      {described(R"("read_from":{"licence":"https://a.example/"})"), "which the recipe does not have", false},
      {described(R"("read_from":{"fragments":"ftp://a.example/"})"), "https or http"},
      {described(R"("keywords":[")" + repeat("x", 4097) + R"("])"), "more than 4096 bytes"},
      {described(R"("keywords":[)" + repeat(R"("x",)", 1000) + R"("x"])"), "more than 1000 entries"},
      // The recipe of the design, and the least of each kind.
      {R"({"schema":1,"kind":"dataset","name":"one","version":"1","fragments":[{"id":"main","type":"file","path":"f.bin",
        "urls":["https://a.example/f.bin","sftp://b.example/f.bin"],"size":123,"checksum":{"sha256":")" +
           repeat("ab", 32) + R"("}}],
        "manifest":{"digest":"sha256:)" +
           repeat("0", 64) + R"(","urls":["https://a.example/one.manifest"]}})",
       ""},
      {fragment_with(""), ""},
      {R"({"schema":1,"kind":"model","name":"m"})", ""},
      {R"({"schema":1,"kind":"workflow","name":"w"})", ""},
      {fragment_with(R"("path":null,"size":null,"limit":null,"checksum":null)"), ""},
      {dataset_with(
           R"("version":null,"title":null,"abstract":null,"description":null,"homepage":null,"licence":null,"citation":null,
        "references":null,"access":null,"manifest":null,"git":null,"forks":null,"default_dataset":null,"requirements":null,
        "env_vars":null,"run":null,"metadata":null,"fragments":[)" +
           fragment_head + "}]"),
       ""},
      {dataset_with(R"("access":{"kind":"login","steps":["log in"]},"fragments":[])"), ""},
      {dataset_with(R"("access":{"kind":"private","steps":["ask"]})"), ""},

      // Top level.
      {R"([])", "must be an object", false},
      {R"({"schema":1,"kind":"model"})", "needs the key \"name\""},
      {R"({"schema":1,"name":"m"})", "needs the key \"kind\""},
      {R"({"schema":1,"kind":"program","name":"m"})", "must be one of \"dataset\", \"model\""},
      {model_with(R"("licens":"MIT")"), "unknown key \"licens\" (did you mean \"licence\"?)"},
      {model_with(R"("license":"MIT")"), "did you mean \"licence\"?"},
      {model_with(R"("licence":"MIT AND BSD-3-Clause")"), ""},
      {model_with(R"("licence":"MIT\u001b")"), "control character"},
      {model_with(R"("licence":"see the file!")"), "no SPDX expression"},
      {model_with(R"("version":"../1")"), "is no name"},
      {model_with(R"("title":"two\nlines")"), "one line"},
      {model_with(R"("description":"two\nlines")"), ""},
      {model_with(R"("description":"\u0007")"), "control character"},
      {model_with(R"("homepage":"not a url")"), "malformed URL"},
      {model_with(R"("references":"one")"), "must be an array"},
      {model_with(R"("references":[""])"), "is empty"},
      {model_with(R"("citation":["@misc{a,\n title={b}}"])"), ""},
      {R"({"schema":1,"kind":"library","name":"l","git":{"origin":"https://a.example/r"}})", ""},
      {R"({"schema":1,"kind":"executable","name":"e"})", "must not be empty"},
      {R"({"schema":1,"kind":"object","name":"o","fragments":[{"id":"a","type":"file","urls":["https://a.example/f.o"]}]})",
       ""},
      {R"({"schema":1,"kind":"object","name":"o","fragments":[{"id":"a","type":"file","urls":["https://a.example/f.o"]}],
       "run":{"d":[{"argv":["x"]}]}})",
       "only for models and workflows"},
      {R"({"schema":1,"kind":"model","name":"-m"})", "is no name"},
      {R"({"schema":1,"kind":"model","name":"a/b"})", "is no name"},
      {R"({"schema":1,"kind":"model","name":")" + repeat("x", 129) + "\"}", "is no name"},

      // Fragments.
      {dataset_with(R"("fragments":[])"), "must not be empty"},
      {dataset_with(R"("version":"1")"), "must not be empty"},
      {dataset_with(R"("access":{"kind":"login","steps":[]},"fragments":[])"), "must not be empty"},
      {dataset_with(R"("access":{"kind":"public","steps":["x"]},"fragments":[])"), "must not be empty"},
      {dataset_with(R"("access":{"steps":["x"]},"fragments":[])"), "needs the key \"kind\""},
      {dataset_with(R"("fragments":[{"id":"a","type":"file"}])"), "at least one URL"},
      {dataset_with(R"("fragments":[{"id":"a","type":"file","urls":[]}])"), "at least one URL"},
      {dataset_with(R"("fragments":[{"id":"a","type":"folder","urls":["https://a.example/f"]}])"), "must be \"file\""},
      {dataset_with(R"("fragments":[{"id":"a.dir","type":"file","urls":["https://a.example/f"]}])"), "\".dir\""},
      {dataset_with(R"("fragments":[{"id":"a","type":"file","urls":["https://a.example/"]}])"), "no usable file name"},
      {dataset_with(R"("fragments":[{"id":"a","type":"file","urls":["https://a.example/%2e%2e"]}])"),
       "no usable file name", false},
      {dataset_with(R"("fragments":[{"id":"a","type":"archive","urls":["https://a.example/"]}])"), ""},
      {dataset_with(R"("fragments":[{"id":"a","type":"file_list","urls":["https://a.example/l"],"limit":100}])"), ""},
      {dataset_with(R"("fragments":[{"id":"a","type":"file_list","urls":["https://a.example/l"],"limit":0}])"),
       "at least 1"},
      {fragment_with(R"("limit":3)"), "only for type \"file_list\""},
      {fragment_with(R"("checksun":{"md5":null})"), "unknown key \"checksun\" (did you mean \"checksum\"?)"},
      {fragment_with(R"("size":-1)"), "at least 0"},
      {fragment_with(R"("size":"5 GB")"), "must be a whole number"},
      {fragment_with(R"("size":1.5)"), "must be a whole number"},
      {fragment_with(R"("size":18446744073709551615)"), ""},
      {fragment_with(R"("size":18446744073709551616)"), "must be a whole number"},
      {fragment_with(R"("checksum":{"sha256":"abc"})"), "64 hexadecimal digits"},
      {fragment_with(R"("checksum":{"md5":")" + repeat("g", 32) + R"("})"), "32 hexadecimal digits"},
      {fragment_with(R"("checksum":{"sha1":")" + repeat("A", 40) + R"("})"), ""},
      {fragment_with(R"("checksum":{"sha512":")" + repeat("A", 128) + R"("})"), ""},
      {fragment_with(R"("checksum":{"sha384":")" + repeat("A", 128) + R"("})"), "96 hexadecimal digits"},
      {fragment_with(R"("checksum":{"sha224":")" + repeat("a", 56) + R"("})"), ""},
      {fragment_with(R"("checksum":{"blake3":"00"})"), "unknown key \"blake3\""},
      {fragment_with(R"("checksum":"00")"), "must be an object"},
      {path("d/f.bin"), ""},
      {path(""), "is empty"},
      {path("/etc/passwd"), "no relative path"},
      {path("../f"), "no relative path"},
      {path("a/../f"), "no relative path"},
      {path("a/./f"), "no relative path"},
      {path("a//f"), "no relative path"},
      {path("a/"), "no relative path"},
      {path("a\\u0000b"), "control character"},
      {path("a\\nb"), "no relative path"},
      {path("..."), ""},
      {path(repeat("x", 256)), "no relative path", false},
      {dataset_with("\"fragments\":[" + fragment_head + "}," + fragment_head + "}]"), "appears twice", false},
      {dataset_with("\"fragments\":[" + fragment_head +
                    R"(},{"id":"b","type":"file","urls":["https://b.example/d/f.bin"]}])"),
       "the same path \"f.bin\"", false},
      {dataset_with("\"fragments\":[" + fragment_head +
                    R"(},{"id":"b","type":"archive","path":"f.bin/x","urls":["https://b.example/a.tar"]}])"),
       "below the file of \"main\"", false},
      {dataset_with("\"fragments\":[" + fragment_head +
                    R"(},{"id":"b","type":"archive","path":"d","urls":["https://b.example/a.tar"]},
        {"id":"c","type":"file","path":"d/c","urls":["https://b.example/c"]}])"),
       ""},

      // URLs.
      {url("s3://bucket/prefix/"), ""},
      {url("globus://0b226e2c-4de0-11ea-971a-021304b0cca7/All-Hist/"), ""},
      {url("file:///data/f"), ""},
      {url("https://user:secret@a.example/f"), "user name or password"},
      {url("https:///f"), "names no host"},
      {url("a.example/f"), "no scheme"},
      {url("https://a.example/a b"), "a space"},
      {url("https://a.example/a\\u0007"), "control character"},
      {url("https://a.example:0/"), "host or port", false},

      // Manifest.
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"manifest":{"digest":"sha256:00"}})",
       "64 hexadecimal digits"},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"manifest":{"digest":")" + repeat("0", 64) +
           R"("}})",
       "\"sha256:\""},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"manifest":{"digest":"sha256:)" +
           repeat("0", 64) + R"("}})",
       ""},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"manifest":{"urls":[]}})",
       "needs the key \"digest\""},

      // Git.
      {git_with(R"("origin":"https://a.example/r","commit":"559eafb")"), ""},
      {git_with(R"("origin":"ssh://git@a.example/r.git","tag":"v1.0")"), ""},
      {git_with(R"("origin":"file:///r.git","branch":"feature/x")"), ""},
      {git_with(R"("branch":"main")"), "needs the key \"origin\""},
      {git_with(R"("origin":"git@a.example:r")"), "no git origin"},
      {git_with(R"("origin":"https://user@a.example/r")"), "no git origin"},
      {git_with(R"("origin":"ssh://u:secret@a.example/r")"), "no git origin"},
      {git_with(R"("origin":"ext::sh -c id")"), "no git origin"},
      {git_with(R"("origin":"--upload-pack=id")"), "no git origin"},
      {git_with(R"("origin":"https://a.example/r","branch":"main","tag":"v1")"), "more than one of"},
      {git_with(R"("origin":"https://a.example/r","branch":"--exec=id")"), "no name of a branch"},
      {git_with(R"("origin":"https://a.example/r","tag":"../x")"), "no name of a tag"},
      {git_with(R"("origin":"https://a.example/r","commit":"master")"), "7 to 64 hexadecimal digits"},
      {git_with(R"("origin":"https://a.example/r","commit":null)"), ""},
      {model_with(R"("forks":[{"origin":"https://a.example/r"}])"), ""},
      {model_with(R"("forks":["https://a.example/r"])"), "must be an object"},

      // Requirements and environment.
      {model_with(R"("requirements":{"python":">=3.8","pip":["a==1"],"conda":["b"],"system_modules":["gcc/11"]})"), ""},
      {model_with(R"("requirements":{"pip":["--index-url=http://evil.example"]})"), "holds an option"},
      {model_with(R"("requirements":{"pip":["a\nb"]})"), "one line"},
      {model_with(R"("requirements":{"apt":["a"]})"), "unknown key \"apt\""},
      {model_with(R"("requirements":{"environment":"numbers"})"), ""},
      {model_with(
           R"("requirements":{"environment":"numbers@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"})"),
       ""},
      {model_with(
           R"("requirements":{"environment":"numbers@sha256:0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF"})"),
       "names no environment"},
      {model_with(R"("requirements":{"environment":"numbers@1.0"})"), "names no environment"},
      {model_with(R"("requirements":{"environment":"../numbers"})"), "names no environment"},
      {model_with(R"("requirements":{"environment":"numbers.json"})"), "names no environment"},
      {model_with(R"("requirements":{"environment":["numbers"]})"), "must be a string"},
      {model_with(R"("env_vars":{"A_1":"x=y z"})"), ""},
      {model_with(R"("env_vars":{"1A":"x"})"), "no name of an environment variable"},
      {model_with(R"("env_vars":{"A=B":"x"})"), "no name of an environment variable"},
      {model_with(R"("env_vars":{"A":1})"), "must be a string"},

      // Run.
      {run_with(
           R"({"argv":["mpirun","-n","{ranks}","a","{source}/b","{dataset}","{dataset.main}","{dataset.main.dir}","{config.lr}","{nodes}"]})"),
       ""},
      {run_with(R"({"shell":"a | b > c; echo ${HOME} {a,b} '{print $1}' {}"})"), ""},
      {run_with(R"({"argv":["echo","{{name}}"]})"), ""},
      {run_with(R"({"argv":["a","{sorce}"]})"), "unknown placeholder {sorce} (did you mean {source}?)"},
      {run_with(R"({"argv":["a","{dataset.}"]})"), "unknown placeholder {dataset.}"},
      {run_with(R"({"shell":"awk {print}"})"), "unknown placeholder {print}"},
      {run_with(R"({"argv":[]})"), "names no command"},
      {run_with(R"({"argv":[""]})"), "names no command"},
      {run_with(R"({"argv":["a",""]})"), ""},
      {run_with(R"({"argv":["a"],"shell":"a"})"), "either \"argv\" or \"shell\""},
      {run_with(R"({})"), "either \"argv\" or \"shell\""},
      {run_with(R"({"shell":""})"), "is empty"},
      {run_with(R"("a b")"), "must be an object"},
      {run_with(R"({"argv":"a b"})"), "must be an array"},
      {run_with(""), "not empty"},
      {run_with(R"({"argv":["a"],"cwd":"/"})"), "unknown key \"cwd\""},
      {model_with(R"("run":{"a b":[{"argv":["a"]}]})"), "name of a dataset"},
      {model_with(R"("run":{"one":[{"argv":["a"]}]},"default_dataset":"two")"), "is no key of \"run\"", false},
      {model_with(R"("run":{"one":[{"argv":["a"]}]},"default_dataset":"one")"), ""},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"run":{"one":[{"argv":["a"]}]}})",
       "only for models"},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"default_dataset":"one"})", "only for models"},

      {run_with(R"({"argv":["a"],"parallel":true})"), ""},
      {run_with(R"({"argv":["a"],"parallel":"yes"})"), "must be true or false"},
      {model_with(R"("infer":{"one":[{"argv":["a","{config.lr}"]}]})"), ""},
      {model_with(R"("infer":{"one":[]})"), "not empty"},
      {model_with(R"("config":{"epochs":10,"lr":1e-3,"augment":true,"must.be.given":null})"), ""},
      {model_with(R"("config":{"lr":[0.1,0.2]})"), "must be a string"},
      {model_with(R"("config":{"a b":1})"), "must be a name"},
      {script_with(
           R"("argv":["python3","{source}/a.py","{input}","{output}/{stem}","{arg.n}","{num_threads}","{{x}}"],"source":"code",
         "arguments":[{"name":"n","type":"int","default":3,"choices":["1","3"],"help":"h"},{"name":"t"},
                      {"name":"f","type":"float","default":0.5},{"name":"b","type":"bool","default":true}],
         "description":"d","per":"file","inputs":["**/*.h5"],"outputs":["*.npy"])"),
       ""},
      {script_with(
           R"("argv":["a","{dataset}"],"per":"asset","arguments":null,"inputs":null,"outputs":[],"source":null)"),
       ""},
      {script_with(R"("argv":["a","{arg.n}"])"), "has none of this name", false},
      {script_with(R"("argv":["a","{inputs}"])"), "did you mean {input}"},
      {script_with(R"("argv":["a","{name}"],"per":"asset")"), "only a script \"per\" file", false},
      {script_with(R"("argv":["a","{source}"])"), "no \"source\"", false},
      {script_with(R"("argv":[])"), "list of 1 to"},
      {script_with(R"("argv":[""])"), "names no command", false},
      {script_with(R"("argv":"a")"), "argv"},
      {script_with(R"("argv":["a"],"per":"files")"), "\"file\" or \"asset\""},
      {script_with(R"("argv":["a"],"inputs":["/etc/*"])"), "no path in an asset"},
      {script_with(R"("argv":["a"],"source":"../up")"), "no relative path"},
      {script_with(R"("argv":["a"],"argument":[])"), "did you mean \"arguments\""},
      {script_with(R"("argv":["a"],"arguments":[{"name":"n","type":"number"}])"), "must be \"text\""},
      {script_with(R"("argv":["a"],"arguments":[{"name":"n","type":"int","default":"x"}])"), "is no int", false},
      {script_with(R"("argv":["a"],"arguments":[{"name":"n","default":"c","choices":["a","b"]}])"), "of the choices",
       false},
      {script_with(R"("argv":["a"],"arguments":[{"name":"num_threads"}])"), "which every script has"},
      {script_with(R"("argv":["a"],"arguments":[{"name":"n"},{"name":"n"}])"), "two arguments", false},
      {dataset_with(one_fragment + R"(,"supporting":[{"id":"a","argv":["a"]},{"id":"a","argv":["b"]}])"),
       "two supporting", false},
      {dataset_with(one_fragment + R"(,"supporting":[{"argv":["a"]}])"), "id"},
      {dataset_with(one_fragment + ",\"derived\":" +
                    derived("sha256:" + repeat("0", 64),
                            R"(,"arguments":{"n":1,"t":"x"},"tools":{"gzip":"1"},"in_place":true)")),
       ""},
      {dataset_with(one_fragment + ",\"derived\":" + derived("sha256:" + repeat("0", 63), "")), "64 hexadecimal"},
      {dataset_with(one_fragment + ",\"derived\":" + derived("sha256:" + repeat("0", 64), R"(,"by":1)")), "by"},
      {model_with(R"x("metrics":["step (?<step>\\d+): loss (?<loss>\\S+)"])x"), ""},
      {model_with(R"("metrics":[""])"), "is empty"},
      {model_with("\"metrics\":[\"" + repeat("x", 1001) + "\"]"), "more than 1000 bytes"},
      {model_with(R"("source":"m/code")"), ""},
      {model_with(R"("source":"../code")"), "no relative path"},
      {model_with(R"("source":"/etc")"), "no relative path"},
      {model_with(R"("source":"code","git":{"origin":"https://a.example/r"})"), "appears with \"git\"", false},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"source":"code"})", "only for models"},
      {fragment_with("").substr(0, fragment_with("").size() - 1) + R"(,"infer":{"one":[{"argv":["a"]}]}})",
       "only for models"},

      // Metadata.
      {model_with(R"("metadata":{"samples.train":1024,"target":0.124,"gzip":true,"unknown":null,"text":"x","low":-1})"),
       ""},
      {model_with(R"("metadata":{"a":[1]})"), "must be a string"},
      {model_with(R"("metadata":{"a b":1})"), "must be a name"},
  };
  return cases;
}

const std::vector<RecipeCase>& schema_0_cases() {
  static const std::vector<RecipeCase> cases{
      {R"({"name":"a","fragments":[{"id":"main","url":"https://a.example/f","type":"file"}]})", ""},
      {R"({"schema":0,"name":"a","fragments":[{"id":"main","url":["https://a.example/f","https://b.example/f"],"type":"archive","size":1}]})",
       ""},
      {R"({"name":"a","fragments":[{"id":"main","url":[],"type":"file"}]})", "is an empty list"},
      {R"({"name":"a","fragments":[{"id":"main","urls":["https://a.example/f"],"type":"file"}]})",
       "unknown key \"urls\" (did you mean \"url\"?)"},
      {R"({"name":"a","fragments":[{"id":"main","url":"https://a.example/f"}]})", "needs the key \"type\""},
      {R"({"name":"a","fragments":[{"id":"main","url":"https://a.example/f","type":"file","path":"x"}]})",
       "unknown key \"path\""},
      {R"({"name":"a","fragments":[{"id":"main","url":"https://a.example/f","type":"file","limit":0}]})", "at least 1"},
      {R"({"name":"a","fragments":[]})", "is empty"},
      {R"({"fragments":[{"id":"main","url":"https://a.example/f","type":"file"}]})", "needs the key \"name\""},
      {R"({"name":"a","version":"1","fragments":[{"id":"main","url":"https://a.example/f","type":"file"}]})",
       "\"version\" is of schema 1, and the recipe does not say \"schema\": 1"},
      {R"({"name":"a","fragments":[{"id":"m","url":"https://a.example/f","type":"file"},{"id":"m","url":"https://a.example/g","type":"file"}]})",
       "appears twice", false},
      {R"({"name":"a"})", "needs the key \"fragments\"", false},
  };
  return cases;
}

}  // namespace sabath::test
