timestampFn = {
  false,
}
mrcT = {
  alias2modT = {},
  hiddenT = {},
  version2modT = {},
}

mrcMpathT = {}
spiderT = {
  ["/sw/Compiler/gcc/12.3"] = {
    openmpi = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["openmpi/4.1.6"] = {
          Name = "openmpi",
          Version = "4.1.6",
          canonical = "4.1.6",
          family = "mpi",
          fn = "/sw/Compiler/gcc/12.3/openmpi/4.1.6.lua",
          luaExt = 6,
          mpath = "/sw/Compiler/gcc/12.3",
          pV = "000000004.000000001.000000006.*zfinal",
          wV = "000000004.000000001.000000006.*zfinal",
          whatis = {
            "Name: openmpi", "Keywords: cuda, ucx",
          },
        },
      },
    },
  },
  ["/sw/Compiler/gcc/13.2"] = {
    fftw = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["fftw/3.3.10"] = {
          Name = "fftw",
          Version = "3.3.10",
          canonical = "3.3.10",
          fn = "/sw/Compiler/gcc/13.2/fftw/3.3.10.lua",
          luaExt = 7,
          mpath = "/sw/Compiler/gcc/13.2",
          pV = "000000003.000000003.000000010.*zfinal",
          wV = "000000003.000000003.000000010.*zfinal",
          whatis = {
            "Name: fftw",
          },
        },
      },
    },
    openmpi = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["openmpi/5.0.1"] = {
          Name = "openmpi",
          Version = "5.0.1",
          canonical = "5.0.1",
          family = "mpi",
          fn = "/sw/Compiler/gcc/13.2/openmpi/5.0.1.lua",
          luaExt = 6,
          mpath = "/sw/Compiler/gcc/13.2",
          pV = "000000005.000000000.000000001.*zfinal",
          wV = "000000005.000000000.000000001.*zfinal",
          whatis = {
            "Name: openmpi",
          },
        },
      },
    },
  },
  ["/sw/Core"] = {
    cuda = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["cuda/11.8"] = {
          Name = "cuda",
          Version = "11.8",
          canonical = "11.8",
          fn = "/sw/Core/cuda/11.8.lua",
          luaExt = 5,
          mpath = "/sw/Core",
          pV = "000000011.000000008.*zfinal",
          wV = "000000011.000000008.*zfinal",
          whatis = {
            "Name: cuda",
          },
        },
        ["cuda/12.2"] = {
          Name = "cuda",
          Version = "12.2",
          canonical = "12.2",
          fn = "/sw/Core/cuda/12.2.lua",
          luaExt = 5,
          mpath = "/sw/Core",
          pV = "000000012.000000002.*zfinal",
          wV = "000000012.000000002.*zfinal",
          whatis = {
            "Name: cuda",
          },
        },
      },
    },
    gcc = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["gcc/12.3"] = {
          Name = "gcc",
          Version = "12.3",
          canonical = "12.3",
          family = "compiler",
          fn = "/sw/Core/gcc/12.3.lua",
          luaExt = 5,
          mpath = "/sw/Core",
          pV = "000000012.000000003.*zfinal",
          wV = "000000012.000000003.*zfinal",
          whatis = {
            "Name: gcc",
          },
        },
        ["gcc/13.2"] = {
          Name = "gcc",
          Version = "13.2",
          canonical = "13.2",
          family = "compiler",
          fn = "/sw/Core/gcc/13.2.lua",
          luaExt = 5,
          mpath = "/sw/Core",
          pV = "000000013.000000002.*zfinal",
          wV = "000000013.000000002.*zfinal",
          whatis = {
            "Name: gcc",
          },
        },
      },
    },
    tclmod = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["tclmod/1.0"] = {
          Version = "1.0",
          canonical = "1.0",
          fn = "/sw/Core/tclmod/1.0",
          mpath = "/sw/Core",
          pV = "000000001.*zfinal",
          wV = "000000001.*zfinal",
          whatis = {
            "a Tcl one",
          },
        },
      },
    },
  },
  ["/sw/MPI/gcc/12.3/openmpi/4.1.6"] = {
    hdf5 = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["hdf5/1.14"] = {
          Name = "hdf5",
          Version = "1.14",
          canonical = "1.14",
          fn = "/sw/MPI/gcc/12.3/openmpi/4.1.6/hdf5/1.14.lua",
          luaExt = 5,
          mpath = "/sw/MPI/gcc/12.3/openmpi/4.1.6",
          pV = "000000001.000000014.*zfinal",
          wV = "000000001.000000014.*zfinal",
          whatis = {
            "Name: hdf5",
          },
        },
      },
    },
    tensorflow = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["tensorflow/2.11"] = {
          Name = "tensorflow",
          Version = "2.11",
          canonical = "2.11",
          fn = "/sw/MPI/gcc/12.3/openmpi/4.1.6/tensorflow/2.11.lua",
          luaExt = 5,
          mpath = "/sw/MPI/gcc/12.3/openmpi/4.1.6",
          pV = "000000002.000000011.*zfinal",
          provides = {
            "numpy/1.24.2", "keras/2.11",
          },
          wV = "000000002.000000011.*zfinal",
          whatis = {
            "Name: tensorflow",
          },
        },
      },
    },
  },
  ["/sw/MPI/gcc/13.2/openmpi/5.0.1"] = {
    hdf5 = {
      defaultA = {},
      defaultT = {},
      dirT = {},
      fileT = {
        ["hdf5/1.14"] = {
          Name = "hdf5",
          Version = "1.14",
          canonical = "1.14",
          fn = "/sw/MPI/gcc/13.2/openmpi/5.0.1/hdf5/1.14.lua",
          luaExt = 5,
          mpath = "/sw/MPI/gcc/13.2/openmpi/5.0.1",
          pV = "000000001.000000014.*zfinal",
          wV = "000000001.000000014.*zfinal",
          whatis = {
            "Name: hdf5",
          },
        },
      },
    },
  },
  version = 5,
}
mpathMapT = {
  ["/sw/Compiler/gcc/12.3"] = {
    ["gcc/12.3"] = "/sw/Core",
  },
  ["/sw/Compiler/gcc/13.2"] = {
    ["gcc/13.2"] = "/sw/Core",
  },
  ["/sw/MPI/gcc/12.3/openmpi/4.1.6"] = {
    ["openmpi/4.1.6"] = "/sw/Compiler/gcc/12.3",
  },
  ["/sw/MPI/gcc/13.2/openmpi/5.0.1"] = {
    ["openmpi/5.0.1"] = "/sw/Compiler/gcc/13.2",
  },
}

