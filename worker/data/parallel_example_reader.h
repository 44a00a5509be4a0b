#ifndef SHOAL_WORKER_DATA_PARALLEL_EXAMPLE_READER_H_
#define SHOAL_WORKER_DATA_PARALLEL_EXAMPLE_READER_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/check.h"
#include "base/mutex.h"
#include "worker/data/example_reader.h"

namespace shoal {

// Parses on threads of its own, one for each parser, while the caller's thread
// finds the records and joins the rows. Rows and bad rows are the same, in the
// same order, as those of a SerialExampleReader. It reads ahead of ReadRows by
// two blocks per thread; a block has about 128 KiB of records.
//
// Thread-compatible. The destructor joins the threads, and so waits for one
// block per thread.
class ParallelExampleReader final : public ExampleReader {
 public:
  // REQUIRES: there is at least one parser, and all parsers are equal.
  ParallelExampleReader(std::unique_ptr<RecordSource> records,
                        std::vector<std::unique_ptr<RecordParser>> parsers,
                        std::optional<uint8_t> bad_row_label = std::nullopt);
  ~ParallelExampleReader() override;

  absl::Status ReadRows(uint32_t most, ExampleBatch* rows,
                        BadRowSink* bad) override;
  bool CanSeek() const override { return false; }
  uint64_t position() const override { return 0; }
  void Seek(uint64_t position) override { SHOAL_DCHECK(CanSeek()); }

 private:
  // A record of a block: bytes [begin, end) of the block.
  struct Entry {
    size_t begin = 0;
    size_t end = 0;
    uint64_t offset = 0;
    uint64_t number = 0;
    std::string damage;
  };
  struct BadEntry {
    size_t rows_before = 0;  // rows of the block before it
    BadRow row;
  };
  // Belongs to the caller's thread, except from queueing until `parsed` is
  // true, when it belongs to a parsing thread.
  struct Block {
    std::string bytes;
    std::vector<Entry> entries;
    ExampleBatch rows;
    std::vector<BadEntry> bad;
    size_t next_row = 0;  // the first that is not yet handed out
    size_t next_bad = 0;
    bool parsed = false;  // guarded by mu_ while the block is queued

    void Clear();
  };

  void Run(RecordParser* parser);
  void ParseBlock(RecordParser* parser, Block* block) const;
  // Queues blocks while there is room and a record. An error of the records is
  // kept until the rows before it are handed out.
  void ReadAhead();
  void FillBlock(Block* block);
  // Hands out the rows of a block, up to `most`; true if the block is used up.
  static absl::StatusOr<bool> TakeFrom(Block* block, uint32_t most,
                                       ExampleBatch* rows, BadRowSink* bad);

  const std::unique_ptr<RecordSource> records_;
  const std::vector<std::unique_ptr<RecordParser>> parsers_;
  const std::optional<uint8_t> bad_row_label_;
  const size_t most_blocks_;

  // Used by the caller's thread only.
  Record record_;
  bool records_ended_ = false;
  absl::Status records_status_;
  std::deque<std::unique_ptr<Block>> blocks_;  // in the order of the data
  std::vector<std::unique_ptr<Block>> spare_;

  Mutex mu_;
  CondVar work_;
  CondVar done_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Block*> queue_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_PARALLEL_EXAMPLE_READER_H_
