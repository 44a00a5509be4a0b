#include "launch/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

using ::testing::ElementsAre;

class LineSplitterTest : public ::testing::Test {
 protected:
  void Add(LineSplitter* splitter, absl::string_view bytes) {
    splitter->Add(bytes,
                  [&](absl::string_view line) { lines_.emplace_back(line); });
  }
  void Finish(LineSplitter* splitter) {
    splitter->Finish(
        [&](absl::string_view line) { lines_.emplace_back(line); });
  }
  std::vector<std::string> lines_;
};

TEST_F(LineSplitterTest, JoinsWhatComesInParts) {
  LineSplitter splitter;
  Add(&splitter, "on");
  Add(&splitter, "e\ntwo\r\n\nth");
  EXPECT_THAT(lines_, ElementsAre("one", "two", ""));
  Finish(&splitter);
  EXPECT_THAT(lines_, ElementsAre("one", "two", "", "th"));
}

TEST_F(LineSplitterTest, CutsLinesThatAreTooLong) {
  LineSplitter splitter(4);
  Add(&splitter, "abcdefghij\nk\nmnop\n");
  Finish(&splitter);
  EXPECT_THAT(lines_, ElementsAre("abcd", "efgh", "ij", "k", "mnop", ""));
}

}  // namespace
}  // namespace shoal
