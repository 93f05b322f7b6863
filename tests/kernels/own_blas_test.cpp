// A copy of OpenBLAS for this library alone, as in a Python process where NumPy has one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ticopd/system/library.hpp"

namespace ticopd {
namespace {

constexpr const char* name = "libopenblas.so.0";

class OwnBlas : public testing::Test {
 protected:
  // Each test in a process of its own: a loaded library stays.
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    void* const library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    EXPECT_EQ(library, nullptr) << "loaded before the test";
    if (file_is_missing()) GTEST_SKIP() << name << " is not installed";
  }

  static bool file_is_missing() {
    void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr || ::dlclose(library) != 0;
  }

  template <class Function>
  static Function* find(void* library, const char* function) {
    return reinterpret_cast<Function*>(::dlsym(library, function));
  }
  static int threads(void* library) { return find<int()>(library, "openblas_get_num_threads")(); }
  static void set_threads(void* library, int number) {
    find<void(int)>(library, "openblas_set_num_threads")(number);
  }
  static std::string core(void* library) {
    return find<char*()>(library, "openblas_get_corename")();
  }

  // Ends the process with 0 if two libraries are apart.
  [[noreturn]] static void compare(void* own, void* theirs) {
    if (own == nullptr || theirs == nullptr) std::_Exit(1);
    if (find<int()>(own, "openblas_get_num_threads") ==
        find<int()>(theirs, "openblas_get_num_threads"))
      std::_Exit(2);
    set_threads(own, 1);
    set_threads(theirs, 3);
    std::_Exit(threads(own) == 1 && threads(theirs) == 3 ? 0 : 3);
  }
};

TEST_F(OwnBlas, IsApartFromOneThatIsLoadedLater) {
  EXPECT_EXIT(
      {
        void* const own = open_own_copy(name);
        compare(own, ::dlopen(name, RTLD_NOW | RTLD_GLOBAL));
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OwnBlas, IsApartFromOneThatIsLoadedAlready) {
  EXPECT_EXIT(
      {
        void* const theirs = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        compare(open_own_copy(name), theirs);
      },
      testing::ExitedWithCode(0), "");
}

#if defined(__x86_64__)
// The core type is chosen while the library is loaded.
TEST_F(OwnBlas, LeavesTheCoreOfTheOtherAlone) {
  EXPECT_EXIT(
      {
        ::setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
        void* const own = open_own_copy(name);
        ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
        void* const theirs = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        std::_Exit(core(own) == "Nehalem" && core(theirs) == "Haswell" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

TEST_F(OwnBlas, UnknownLibraryHasNoCopy) {
  EXPECT_EQ(open_own_copy("libno_such_library.so.0"), nullptr);
}

}  // namespace
}  // namespace ticopd
