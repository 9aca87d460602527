#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace shoal {

/// SHA-256 of all that is added.
class Sha256 {
 public:
  Sha256();

  void add(std::span<const std::byte> bytes);

  /// The digest in lower-case hexadecimal. Ends the computation: call it once.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace shoal
