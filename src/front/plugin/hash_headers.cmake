# Writes the header OUTPUT with a hash of all headers of SOURCE, unless it is there already.
file(GLOB_RECURSE headers ${SOURCE}/include/*.h ${SOURCE}/src/*.h)
foreach(header IN LISTS headers)
  file(SHA256 ${header} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define SABATH_HEADERS_HASH \"${hash}\"\n")
