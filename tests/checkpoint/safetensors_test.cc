#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

#include "checkpoint/file_error.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace shoal::checkpoint {
namespace {

using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "model.safetensors"; }

  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(file(), std::ios::binary).rdbuf();
    return text.str();
  }
  void write(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }
  void write_header(const std::string& header, const std::string& data) const {
    const std::uint64_t length = header.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    write(bytes + header + data);
  }

  /// a: 2 x 3 floats 0 .. 5; b: the i64 -7; none: nothing.
  FileInfo write_example() const {
    SafetensorsWriter writer(file(),
                             {{.name = "a", .type = ElementType::f32, .shape = {2, 3}},
                              {.name = "none", .type = ElementType::f64, .shape = {0}},
                              {.name = "b", .type = ElementType::i64, .shape = {}}},
                             {{"made", "here"}});
    const std::array<float, 6> a{0, 1, 2, 3, 4, 5};
    const std::int64_t b = -7;
    writer.write(std::as_bytes(std::span(a).first(2)));
    writer.write(std::as_bytes(std::span(a).subspan(2)));
    writer.write(std::as_bytes(std::span(&b, 1)));
    return writer.finish();
  }

  std::string error_of_reading() const {
    try {
      const SafetensorsReader reader(file());
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }

 private:
  shoal::test::TemporaryFolder folder_;
};

TEST_F(Safetensors, AreWrittenByteByByteAsTheFormatSays) {
  const FileInfo info = write_example();
  std::string header =
      R"({"__metadata__":{"made":"here"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("none":{"dtype":"F64","shape":[0],"data_offsets":[24,24]},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]}})";
  while (header.size() % 8 != 0) header += ' ';
  std::string expected{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  expected += header;
  for (const char* number : {"\0\0\0\0", "\0\0\x80\x3f", "\0\0\0\x40", "\0\0\x40\x40", "\0\0\x80\x40", "\0\0\xa0\x40"})
    expected.append(number, 4);
  expected.append("\xf9\xff\xff\xff\xff\xff\xff\xff", 8);
  EXPECT_EQ(content(), expected);
  EXPECT_EQ(info.bytes, expected.size());
  EXPECT_EQ(info.name, "model.safetensors");
  const auto sum = shoal::test::run_command({"sha256sum", file().string()});
  EXPECT_EQ(sum.out.substr(0, 64), info.sha256);
}

TEST_F(Safetensors, AreReadByAFewLinesOfPython) {
  write_example();
  const std::string script = R"(
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<Q', data[:8])[0]
header = json.loads(data[8:8 + size])
formats = {'F32': 'f', 'F64': 'd', 'I64': 'q'}
for name, tensor in header.items():
    if name == '__metadata__': continue
    begin, end = (8 + size + offset for offset in tensor['data_offsets'])
    form = formats[tensor['dtype']]
    print(name, tensor['shape'], [value for value, in struct.iter_unpack('<' + form, data[begin:end])])
)";
  const auto result = shoal::test::run_command({"python3", "-c", script, file().string()});
  EXPECT_EQ(result.out, "a [2, 3] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\nnone [0] []\nb [] [-7]\n") << result.err;
}

TEST_F(Safetensors, AreReadInAnyPart) {
  write_example();
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.metadata().at("made"), "here");
  EXPECT_EQ(reader.tensors().size(), 3U);
  const TensorInfo& a = reader.tensor("a", ElementType::f32);
  EXPECT_EQ(a.shape, (std::vector<std::uint64_t>{2, 3}));
  for (std::uint64_t first = 0; first <= 6; ++first) {
    for (std::uint64_t count = 0; first + count <= 6; ++count) {
      std::vector<float> part(count, -1.0F);
      reader.read(a, first, std::as_writable_bytes(std::span(part)));
      for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(part[i], static_cast<float>(first + i));
    }
  }
  std::array<float, 3> beyond{};
  EXPECT_THROW(reader.read(a, 4, std::as_writable_bytes(std::span(beyond))), FileError);
  EXPECT_THROW(reader.tensor("a", ElementType::f64), FileError);
  EXPECT_THROW(reader.tensor("c", ElementType::f32), FileError);
}

TEST_F(Safetensors, CutOffAnywhereAreRefused) {
  write_example();
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    EXPECT_THAT(error_of_reading(), HasSubstr(file().string())) << size;
  }
  write(whole + "x");
  EXPECT_THAT(error_of_reading(), HasSubstr("bytes of data"));
}

// Whatever a flipped bit makes of the header: an error, or tensors that lie within the data.
TEST_F(Safetensors, WithAnyBitOfTheHeaderFlippedAreRefusedOrStillWithinTheFile) {
  write_example();
  const std::string whole = content();
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * (whole.size() - 32); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write(flipped);
    try {
      const SafetensorsReader reader(file());
      for (const TensorInfo& tensor : reader.tensors()) {
        std::vector<std::byte> data(tensor.elements() * size_of(tensor.type));
        EXPECT_LE(data.size(), 32U);
        reader.read(tensor, 0, data);
      }
    } catch (const FileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(Safetensors, WithAWrongHeaderAreRefusedByWhatIsWrong) {
  const std::string one = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "no object"},
      {"{", "wrong safetensors header"},
      {R"({"a":1})", "tensor 'a'"},
      {"{" + one + "," + one + "}", "'a' stands there twice"},
      {R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", "F31"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "does not take the bytes"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "does not take the bytes"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "no whole number"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8]}})", "does not take the bytes"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", "not of its kind"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "does not begin where"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "does not begin where"},
      {R"({"__metadata__":{"x":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "wrong safetensors header"},
      {"{}", "8 bytes of data where its header has 0"}};
  for (const auto& [header, expected] : cases) {
    write_header(header, std::string(8, 'x'));
    EXPECT_THAT(error_of_reading(), HasSubstr(expected)) << header;
  }
  write(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) + "{}");
  EXPECT_THAT(error_of_reading(), HasSubstr("9223372036854775807 bytes long"));
  std::filesystem::remove(file());
  EXPECT_THAT(error_of_reading(), HasSubstr("cannot be read: No such file"));
  std::filesystem::create_directory(file());
  EXPECT_THAT(error_of_reading(), HasSubstr("no ordinary file"));
}

}  // namespace
}  // namespace shoal::checkpoint
