#!/bin/sh
# Makes the checkpoints of this folder anew, in the working directory, with the
# programs of a release: SHOAL_BIN=/release/bin /folder/make.sh
set -eu
folder=$(dirname "$0")
cp "$folder/training.libsvm" "$folder/evaluation.libsvm" .
flags="--model=deepfm --field_size=4 --embedding_size=2 --deep_layers=4
  --learning_rate=0.05 --batch_size=10 --num_epochs=2 --seed=5
  --training_data_dir=training.libsvm --val_data_dir=evaluation.libsvm"
mkdir one_server two_servers three_servers
"$SHOAL_BIN/shoal" train $flags --feature_size=60 --dropout=0.9 \
  --model_dir=one_server --summary=one_server/summary.json
"$SHOAL_BIN/shoal" run --ps=2 --workers=1 $flags --feature_size=0 \
  --table_optimizer=adagrad --wide_optimizer=ftrl \
  --model_dir=two_servers --summary=two_servers/summary.json
"$SHOAL_BIN/shoal" run --ps=3 --workers=1 $flags --feature_size=60 \
  --partition=mod --optimizer=sgd \
  --model_dir=three_servers --summary=three_servers/summary.json
