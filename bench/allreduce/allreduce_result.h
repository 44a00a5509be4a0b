#ifndef SHOAL_BENCH_ALLREDUCE_ALLREDUCE_RESULT_H_
#define SHOAL_BENCH_ALLREDUCE_ALLREDUCE_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bench/allreduce/turn_plan.h"

namespace shoal {

// What `shoal bench allreduce` has measured (docs/commands.md has the keys of
// its JSON).
struct AllReduceResult {
  int ranks = 0;
  std::string reduction;  // as --reduction
  std::vector<AllReducePoint> points;
};

// "4 KiB", "2.5 MiB", "100 B".
std::string SizeText(uint64_t bytes);

// A table for people, with what its columns are.
std::string AllReduceText(const AllReduceResult& result);

// The same as one JSON object, to be read again and to be part of another
// document.
std::string AllReduceJson(const AllReduceResult& result);
void WriteAllReduce(const AllReduceResult& result, JsonWriter* w);
// INVALID_ARGUMENT names the key that is missing or wrong.
absl::StatusOr<AllReduceResult> ParseAllReduce(absl::string_view json);
AllReduceResult ReadAllReduce(const JsonNode& node);

}  // namespace shoal

#endif  // SHOAL_BENCH_ALLREDUCE_ALLREDUCE_RESULT_H_
