#include "bench/micro/bench_rows.h"

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/record_framing.h"
#include "base/stable_hash.h"
#include "datatools/planted_model.h"
#include "datatools/synthetic.h"
#include "datatools/tfrecord_writer.h"

namespace shoal {
namespace {

constexpr int kNumericFields = 13;

void ForBenchRows(size_t count,
                  absl::FunctionRef<void(const PlantedRow&)> visit) {
  const PlantedModel model({kBenchFields, kNumericFields, kBenchIds, 1.1, 1});
  PlantedRow row;
  for (size_t i = 0; i < count; ++i) {
    model.Draw(i, &row);
    visit(row);
  }
}

void AppendCriteo(const PlantedRow& row, std::string* text) {
  absl::StrAppend(text, row.label);
  for (int f = 0; f < kBenchFields; ++f) {
    absl::StrAppend(text, "\t");
    if (f >= kNumericFields) {
      const uint64_t draw = StableHashCombine(f, row.ids[f]);
      absl::StrAppend(text, absl::Hex(draw >> 32, absl::kZeroPad8));
    } else if (row.values[f] > 500) {  // some are missing, most are small
      absl::StrAppend(text, row.values[f] >> 4);
    }
  }
  absl::StrAppend(text, "\n");
}

void AppendTfRecord(const PlantedRow& row, std::string* records) {
  std::vector<float> values;
  for (const uint32_t value : row.values) {
    values.push_back(static_cast<float>(value) / 10000);
  }
  std::string payload;
  AppendTfExample(row.label, row.ids, values, &payload);
  AppendRecord(payload, records);
}

const std::string* Written(void (*append)(const PlantedRow&, std::string*)) {
  auto* const made = new std::string;
  ForBenchRows(kBenchRows, [&](const PlantedRow& row) { append(row, made); });
  return made;
}

}  // namespace

const std::string& BenchFileBytes(DataFormat format) {
  SHOAL_DCHECK(format != DataFormat::kAuto);
  if (format == DataFormat::kTfRecord) {
    static const std::string* const records = Written(AppendTfRecord);
    return *records;
  }
  if (format == DataFormat::kCriteo) {
    static const std::string* const lines = Written(AppendCriteo);
    return *lines;
  }
  static const std::string* const text = Written(AppendLibSvm);
  return *text;
}

std::vector<std::vector<FeatureId>> BenchRowIds(size_t batches, size_t rows) {
  std::vector<std::vector<FeatureId>> ids(batches);
  size_t next = 0;
  ForBenchRows(batches * rows, [&](const PlantedRow& row) {
    std::vector<FeatureId>& batch = ids[next++ / rows];
    batch.insert(batch.end(), row.ids.begin(), row.ids.end());
  });
  return ids;
}

}  // namespace shoal
