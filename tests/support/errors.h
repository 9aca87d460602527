#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "shoal/runtime/error.h"

namespace shoal::test {

/// The Error that `body` throws, or nothing.
template <class Body>
std::optional<Error> error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// The text of the Error that `body` must throw, with this code.
template <class Body>
std::string refusal_of(ErrorCode code, Body&& body) {
  const auto error = error_of(body);
  if (!error) {
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }
  EXPECT_EQ(error->code(), code) << error->what();
  return error->what();
}

}  // namespace shoal::test
