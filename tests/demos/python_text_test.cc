#include "demos/python_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace shoal::demos {
namespace {

// What Python 3.11 prints for repr() of the same values.
TEST(PythonText, WholeFloatsKeepTheirPoint) {
  EXPECT_EQ(python_text(15.0), "15.0");
  EXPECT_EQ(python_text(0.0), "0.0");
  EXPECT_EQ(python_text(-0.0), "-0.0");
  EXPECT_EQ(python_text(100000.0), "100000.0");
}

TEST(PythonText, FloatsAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(python_text(0.1), "0.1");
  EXPECT_EQ(python_text(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(python_text(0.0001), "0.0001");
}

TEST(PythonText, VeryLargeAndSmallFloatsHaveExponents) {
  EXPECT_EQ(python_text(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python_text(1e16), "1e+16");
  EXPECT_EQ(python_text(1.5e-5), "1.5e-05");
  EXPECT_EQ(python_text(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PythonText, ListsAreBracketedAndIntegersHaveNoPoint) {
  const std::vector<std::int64_t> integers{0, -10, 20};
  const std::vector<double> floats{15.0, 16.5};
  EXPECT_EQ(python_text(std::span(integers)), "[0, -10, 20]");
  EXPECT_EQ(python_text(std::span(floats)), "[15.0, 16.5]");
  EXPECT_EQ(python_text(std::span(integers).first(0)), "[]");
}

}  // namespace
}  // namespace shoal::demos
