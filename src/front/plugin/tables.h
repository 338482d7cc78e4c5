// The functions of a plugin that the program calls: one table for each plugin, exported under one name. Program and
// plugin are built together, from the same headers; `headers` is their hash, and shows if they were not.
#pragma once

#include "fetch/archives/archive.h"
#include "fetch/archives/archive_visit.h"
#include "fetch/archives/bundle.h"
#include "formats/unpack_stream.h"
#include "hdf5/arrays.h"
#include "hdf5/extract.h"
#include "hdf5/inspect.h"
#include "hdf5/library.h"
#include "hdf5/logical_hash.h"
#include "hdf5/select.h"
#include "plugin/headers_hash.h"
#include "sabath/fetcher.h"
#include "serve/server.h"

namespace sabath {

inline constexpr const char* plugin_table_name = "sabath_plugin_table";

struct IoTable {
  const char* headers;
  decltype(&make_fetchers) fetchers;
  decltype(&make_server) server;
  decltype(&unpack_archive) unpack;
  decltype(&write_bundle) bundle_write;
  decltype(&read_bundle) bundle_read;
  decltype(&hdf5_library) hdf5_version;
  decltype(&inspect_hdf5) hdf5_inspect;
  decltype(&logical_hash) hdf5_hash;
  decltype(&select_into) hdf5_select;
  decltype(&extract_into) hdf5_extract;
  decltype(&write_hdf5) hdf5_write;
  decltype(&unpack_stream) unpacked;
  decltype(&visit_archive) visited;
};

}  // namespace sabath
