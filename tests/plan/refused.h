#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plan/plan_error.h"

namespace shoal::plan {

/// `call` must throw PlanError with a message that holds `text`.
template <class Call>
void expect_refused(const Call& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const PlanError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

}  // namespace shoal::plan
