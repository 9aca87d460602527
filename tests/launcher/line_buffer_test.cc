#include "line_buffer.h"

#include <gtest/gtest.h>

namespace shoal::detail {
namespace {

TEST(LineBuffer, GivesWholeLinesOnlyAndTheRestAtTheEnd) {
  LineBuffer lines;
  lines.append("on");
  EXPECT_EQ(lines.take_lines(), "");
  lines.append("e\ntwo\nth");
  EXPECT_EQ(lines.take_lines(), "one\ntwo\n");
  lines.append("ree");
  EXPECT_EQ(lines.take_lines(), "");
  lines.append("\n");
  EXPECT_EQ(lines.take_lines(), "three\n");
  lines.append("last");
  EXPECT_EQ(lines.take_rest(), "last");
  EXPECT_EQ(lines.take_rest(), "");
}

TEST(LineBuffer, TakesACarriageReturnForAnEndOnlyWhereItIsLive) {
  LineBuffer lines;
  lines.append("10 %\r20");
  EXPECT_EQ(lines.take_lines(), "");
  LineBuffer live(true);
  live.append("10 %\r20");
  EXPECT_EQ(live.take_lines(), "10 %\r");
  live.append(" %\rdone\nnext");
  EXPECT_EQ(live.take_lines(), "20 %\rdone\n");
  EXPECT_EQ(live.take_rest(), "next");
}

TEST(LineBuffer, KeepsALineOfTheGreatestLengthWhole) {
  LineBuffer lines;
  const std::string line(LineBuffer::kLongestLine, 'x');
  lines.append(line);
  EXPECT_EQ(lines.take_lines(), "");
  lines.append("\n");
  EXPECT_EQ(lines.take_lines(), line + "\n");
}

TEST(LineBuffer, PassesALongerLineOnInPieces) {
  LineBuffer lines;
  const std::string piece(LineBuffer::kLongestLine + 1, 'x');
  lines.append(piece);
  EXPECT_EQ(lines.take_lines(), piece);
  lines.append("yz\n");
  EXPECT_EQ(lines.take_lines(), "yz\n");
}

TEST(TagLines, TagsEveryLineButTheContinuationOfOne) {
  EXPECT_EQ(tag_lines("a\n\nb", "[1] ", false), "[1] a\n[1] \n[1] b");
  EXPECT_EQ(tag_lines("rest\nnew\n", "[1] ", true), "rest\n[1] new\n");
  EXPECT_EQ(tag_lines("", "[1] ", false), "");
}

}  // namespace
}  // namespace shoal::detail
