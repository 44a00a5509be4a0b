#include "models/backend/create_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "models/backend/backend_table.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CreateBackendTest, NamesSayWhatComes) {
  EXPECT_THAT((*CreateBackend("reference"))->description(),
              StartsWith("reference"));
  EXPECT_THAT((*CreateBackend("onednn"))->description(),
              StartsWith("onednn 2."));
  EXPECT_THAT((*CreateBackend("auto"))->description(), StartsWith("onednn"));
}

TEST(CreateBackendTest, AnUnknownNameGetsTheList) {
  const auto backend = CreateBackend("mkl");
  EXPECT_EQ(backend.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(backend.status().message()),
              HasSubstr("'mkl' is not one of auto, onednn, reference"));
}

TEST(BackendTableTest, EveryAvailableBackendIsMadeByItsName) {
  for (const BackendKind& kind : Backends()) {
    if (!kind.available().ok()) continue;
    const auto backend = CreateBackend(kind.name);
    ASSERT_TRUE(backend.ok()) << backend.status();
    EXPECT_THAT((*backend)->description(), StartsWith(std::string(kind.name)));
  }
  EXPECT_TRUE(Backends().back().available().ok()) << "the last one always is";
}

int ThreadsOfThisProcess() {
  return static_cast<int>(std::distance(
      std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// Products large enough that an OpenMP runtime would share them out.
TEST(OneDnnBackendTest, StartsNoThreadWhicheverThreadComputes) {
  const auto backend = *CreateBackend("onednn");
  const GemmShape shape = {.m = 512, .n = 512, .k = 512};
  const auto a = RandomVector(1, 512 * 512);
  std::vector<float> c(512 * 512);
  const int before = ThreadsOfThisProcess();
  backend->Gemm(shape, a, a, absl::MakeSpan(c));
  EXPECT_EQ(ThreadsOfThisProcess(), before);
  int on_other_thread = 0;
  std::thread([&] {
    backend->Gemm(shape, a, a, absl::MakeSpan(c));
    on_other_thread = ThreadsOfThisProcess();
  }).join();
  EXPECT_EQ(on_other_thread, before + 1);
}

}  // namespace
}  // namespace shoal
