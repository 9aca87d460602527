#pragma once

#include <cstdint>
#include <string>

#include "shoal/collectives/float16.h"
#include "shoal/runtime/error.h"
#include "shoal/runtime/operation.h"

namespace shoal::calls {

/// Returns body.template operator()<T>() for the C++ type T that `type` names. DataType::byte names none: Error
/// `invalid_argument`.
template <class Body>
decltype(auto) with_type(DataType type, Body&& body) {
  switch (type) {
    case DataType::i8:
      return body.template operator()<std::int8_t>();
    case DataType::i16:
      return body.template operator()<std::int16_t>();
    case DataType::i32:
      return body.template operator()<std::int32_t>();
    case DataType::i64:
      return body.template operator()<std::int64_t>();
    case DataType::u8:
      return body.template operator()<std::uint8_t>();
    case DataType::u16:
      return body.template operator()<std::uint16_t>();
    case DataType::u32:
      return body.template operator()<std::uint32_t>();
    case DataType::u64:
      return body.template operator()<std::uint64_t>();
    case DataType::f32:
      return body.template operator()<float>();
    case DataType::f64:
      return body.template operator()<double>();
    case DataType::bf16:
      return body.template operator()<bf16>();
    case DataType::f16:
      return body.template operator()<f16>();
    case DataType::boolean:
      return body.template operator()<bool>();
    case DataType::byte:
      break;
  }
  throw Error(ErrorCode::invalid_argument, "no C++ type for " + std::string(name(type)));
}

}  // namespace shoal::calls
