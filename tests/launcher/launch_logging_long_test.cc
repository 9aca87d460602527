#include "launcher/logged_launches.h"

namespace shoal::test {
namespace {

TEST(LaunchOfAProgramThatLogs, WritesEachLineOnceInAnyOfManyLaunches) { expect_each_line_once(200, 16); }

}  // namespace
}  // namespace shoal::test
