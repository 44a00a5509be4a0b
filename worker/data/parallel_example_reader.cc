#include "worker/data/parallel_example_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "worker/data/row_window.h"

namespace shoal {
namespace {

// Large enough that parsing a block outweighs passing it between threads.
constexpr size_t kBlockBytes = 128 << 10;
constexpr size_t kBlockRecords = 4096;  // a second limit, because empty lines
                                        // have no bytes

}  // namespace

void ParallelExampleReader::Block::Clear() {
  bytes.clear();
  entries.clear();
  rows.Clear();
  bad.clear();
  next_row = next_bad = 0;
  parsed = false;
}

ParallelExampleReader::ParallelExampleReader(
    std::unique_ptr<RecordSource> records,
    std::vector<std::unique_ptr<RecordParser>> parsers,
    std::optional<uint8_t> bad_row_label)
    : records_(std::move(records)),
      parsers_(std::move(parsers)),
      bad_row_label_(bad_row_label),
      most_blocks_(2 * parsers_.size()) {
  SHOAL_DCHECK(!parsers_.empty());
  for (const std::unique_ptr<RecordParser>& parser : parsers_) {
    threads_.emplace_back([this, p = parser.get()] { Run(p); });
  }
}

ParallelExampleReader::~ParallelExampleReader() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ParallelExampleReader::Run(RecordParser* parser) {
  for (;;) {
    Block* block = nullptr;
    {
      MutexLock lock(&mu_);
      while (!stopping_ && queue_.empty()) work_.Wait(&mu_);
      if (stopping_) return;
      block = queue_.front();
      queue_.pop_front();
    }
    ParseBlock(parser, block);
    MutexLock lock(&mu_);
    block->parsed = true;
    done_.Signal();
  }
}

void ParallelExampleReader::ParseBlock(RecordParser* parser,
                                       Block* block) const {
  for (Entry& entry : block->entries) {
    BadEntry bad;
    if (!entry.damage.empty()) {
      bad.row.reason = std::move(entry.damage);
    } else if (parser->Parse(absl::string_view(block->bytes)
                                 .substr(entry.begin, entry.end - entry.begin),
                             &block->rows,
                             &bad.row.reason) != RecordParser::Result::kBad) {
      continue;
    }
    bad.rows_before = block->rows.size();
    bad.row.number = entry.number;
    bad.row.offset = entry.offset;
    block->bad.push_back(std::move(bad));
    if (bad_row_label_.has_value()) {
      AppendEmptyRow(*bad_row_label_, &block->rows);
    }
  }
}

void ParallelExampleReader::FillBlock(Block* block) {
  while (block->bytes.size() < kBlockBytes &&
         block->entries.size() < kBlockRecords) {
    const absl::StatusOr<bool> more = records_->Next(&record_);
    if (!more.ok() || !*more) {
      records_ended_ = true;
      records_status_ = more.status();
      return;
    }
    Entry entry;
    entry.begin = block->bytes.size();
    block->bytes.append(record_.bytes.data(), record_.bytes.size());
    entry.end = block->bytes.size();
    entry.offset = record_.offset;
    entry.number = record_.number;
    entry.damage = std::move(record_.damage);
    block->entries.push_back(std::move(entry));
  }
}

void ParallelExampleReader::ReadAhead() {
  while (!records_ended_ && blocks_.size() < most_blocks_) {
    std::unique_ptr<Block> block;
    if (spare_.empty()) {
      block = std::make_unique<Block>();
    } else {
      block = std::move(spare_.back());
      spare_.pop_back();
      block->Clear();
    }
    FillBlock(block.get());
    if (block->entries.empty()) return;
    blocks_.push_back(std::move(block));
    MutexLock lock(&mu_);
    queue_.push_back(blocks_.back().get());
    work_.Signal();
  }
}

absl::Status ParallelExampleReader::ReadRows(uint32_t most, ExampleBatch* rows,
                                             BadRowSink* bad) {
  while (rows->size() < most) {
    ReadAhead();
    if (blocks_.empty()) return records_status_;
    Block* const first = blocks_.front().get();
    {
      MutexLock lock(&mu_);
      while (!first->parsed) done_.Wait(&mu_);
    }
    SHOAL_ASSIGN_OR_RETURN(const bool all, TakeFrom(first, most, rows, bad));
    if (!all) continue;
    spare_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ParallelExampleReader::TakeFrom(Block* block,
                                                     uint32_t most,
                                                     ExampleBatch* rows,
                                                     BadRowSink* bad) {
  const size_t end =
      std::min(block->rows.size(), block->next_row + (most - rows->size()));
  AppendRange(block->rows, block->next_row, end, rows);
  block->next_row = end;
  const bool full = rows->size() == most;
  while (block->next_bad < block->bad.size()) {
    const BadEntry& entry = block->bad[block->next_bad];
    // Records after the last requested row are left for a later call.
    if (full && entry.rows_before >= end) return false;
    ++block->next_bad;
    if (bad != nullptr) SHOAL_RETURN_IF_ERROR(bad->Add(entry.row));
  }
  return end == block->rows.size();
}

}  // namespace shoal
