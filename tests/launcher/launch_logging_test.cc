#include "launcher/logged_launches.h"

namespace shoal::test {
namespace {

TEST(LaunchOfAProgramThatLogs, WritesEachLineOnce) { expect_each_line_once(10, 16); }

}  // namespace
}  // namespace shoal::test
