#pragma once

#include <string>

// Paths of the tree and its programs. Only places.cpp is compiled with these paths: a test file
// that had them in its command line would miss in ccache in every other clone.
namespace ticopd::places {

std::string tree();
std::string binary();          // the command line
std::string public_headers();  // a file: the installed headers, a line each, below ticopd/
std::string stub_plugins();    // the folder of the stubs of libticopd_mpi.so
std::string plugins();         // the folder of the plug-ins of examples/plugin
std::string mpirun();          // with the options it needs here
std::string mpich_plugin();    // empty where MPICH is not installed

}  // namespace ticopd::places
