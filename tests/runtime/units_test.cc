#include "shoal/runtime/units.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

using std::chrono::milliseconds;

TEST(Units, BytesTakePowersOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("64"), 64U);
  EXPECT_EQ(parse_bytes("4K"), 4096U);
  EXPECT_EQ(parse_bytes("3M"), 3145728U);
  EXPECT_EQ(parse_bytes("2G"), 2147483648U);
  EXPECT_EQ(parse_bytes("17179869183G"), 18446744072635809792U);
}

TEST(Units, WhatIsNoSizeIsRefused) {
  for (const char* text :
       {"", "K", "-1", "+1", "1.5M", "4KB", "4 K", " 4", "1T", "0x10", "17179869184G", "18446744073709551616"}) {
    EXPECT_FALSE(parse_bytes(text).has_value()) << text;
  }
}

TEST(Units, DurationsTakeMillisecondsSecondsAndMinutes) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("2s"), milliseconds(2000));
  EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("10m"), milliseconds(600'000));
  EXPECT_EQ(parse_duration("0"), milliseconds(0));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
}

TEST(Units, WhatIsNoDurationIsRefused) {
  for (const char* text : {"", "s", "5", "-1s", "1h", "1 s", "1e3s", "nan", "inf", "infs", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

TEST(Units, BytesAreShownExactlyBelowAKibibyteAndRoundedAbove) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{64} << 20), "64.0 MiB");
}

}  // namespace
}  // namespace shoal
