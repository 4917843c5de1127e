#include "core/base/dynamic_library.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

TEST(DynamicLibrary, AMissingLibraryIsUnavailableAndEachNameIsInTheMessage) {
  constexpr const char* kNames[] = {"libhearth_no_such_a.so", "libhearth_no_such_b.so"};
  const auto library = DynamicLibrary::Open(kNames);
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  for (const char* name : kNames) EXPECT_NE(library.status().message().find(name), std::string::npos) << name;
}

TEST(DynamicLibrary, TheFirstNameThatExistsIsOpenedAndItsSymbolsAreCalled) {
  constexpr const char* kNames[] = {"libhearth_no_such_a.so", "libm.so.6"};
  auto library = DynamicLibrary::Open(kNames);
  ASSERT_TRUE(library.ok()) << library.status().message();
  const auto cosine = library->Symbol<double (*)(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->Symbol<void (*)()>("hearth_no_such_symbol"), nullptr);
}

TEST(DynamicLibrary, AnEmptyOneHasNoSymbols) {
  const DynamicLibrary library;
  EXPECT_EQ(library.Symbol<void (*)()>("cos"), nullptr);
}

}  // namespace
}  // namespace hearth
