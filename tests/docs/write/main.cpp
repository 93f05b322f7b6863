// Writes the tables of the pages that are named anew: `make docs`.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "docs/tables.hpp"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) try {
      std::ifstream in(argv[i], std::ios::binary);
      const std::string page{std::istreambuf_iterator<char>(in), {}};
      const std::string fresh = ticopd::with_fresh_tables(page);
      if (fresh == page) continue;
      std::ofstream out(argv[i], std::ios::binary);
      out << fresh;
      if (!out.flush()) throw std::runtime_error("cannot be written");
      std::printf("%s: tables written anew\n", argv[i]);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
      return 1;
    }
}
