"""What infer predicts is what an independent forward pass from the checkpoint's
files gives: by PyTorch where it is installed, and by numpy in float64."""

import glob
import json
import os
import struct
import sys
import unittest

import harness

VENV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "build", "venv")
try:
    import numpy as np
except ImportError:
    # What tools/install_test_tools.sh installed.
    sys.path.extend(glob.glob(os.path.join(VENV, "lib", "python3*",
                                           "site-packages")))
    try:
        import numpy as np
    except ImportError:
        np = None
try:
    import torch
except ImportError:
    torch = None

DTYPES = {"F32": "<f4", "I64": "<i8"}


def read_safetensors(path):
    """{name: array} by the format's own description: a length, a header in
    JSON, and the tensors' bytes."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        tensors[name] = np.frombuffer(
            data[begin:end], DTYPES[info["dtype"]]).reshape(info["shape"])
    return tensors


def read_checkpoint(model_dir):
    """{variable: array} of the newest one: dense ones are cut along axis 0 over
    the shards, tables have their rows' ids beside them."""
    manifests = glob.glob(os.path.join(model_dir, "*", "manifest.json"))
    newest = os.path.dirname(max(manifests, key=os.path.getmtime))
    paths = sorted(glob.glob(os.path.join(newest, "shard-*.safetensors")))
    assert paths, newest
    parts = {}
    for path in paths:
        for name, tensor in read_safetensors(path).items():
            if name.startswith("shoal@"):
                continue
            parts.setdefault(name, []).append(tensor)
    return {name: np.concatenate(tensors) for name, tensors in parts.items()}


def read_libsvm(path, fields):
    """ids and values, (rows, fields), padded with id -1 and value 0."""
    with open(path) as file:
        rows = [line.split()[1:] for line in file if line.strip()]
    ids = np.full((len(rows), fields), -1, np.int64)
    values = np.zeros((len(rows), fields), np.float32)
    for i, row in enumerate(rows):
        for j, feature in enumerate(row):
            ident, value = feature.split(":")
            ids[i, j] = int(ident)
            values[i, j] = np.float32(value)
    return ids, values


def inputs(weights, ids, values):
    """w x and v x of every feature, padding as zeros, and the MLP's layers."""
    order = np.argsort(weights["fm@ids"])
    known = weights["fm@ids"][order]
    at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    real = ids >= 0
    assert (known[at][real] == ids[real]).all(), "a row was not trained"
    at = order[at]
    w = weights["fm_w"][at][..., 0] * values * real
    e = weights["fm_v"][at] * (values * real)[..., None]
    names = [f"deep_{n}" for n in range(len(weights))] + ["deep_out"]
    layers = [(weights[name + "/weights"], weights[name + "/biases"])
              for name in names if name + "/weights" in weights]
    return w, e, layers


def forward_numpy(weights, ids, values):
    double = {name: tensor if name == "fm@ids" else tensor.astype(np.float64)
              for name, tensor in weights.items()}
    w, e, layers = inputs(double, ids, values.astype(np.float64))
    logits = double["fm_b"][0] + w.sum(1) + 0.5 * (
        e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
    x = e.reshape(len(ids), -1)
    for n, (kernel, bias) in enumerate(layers):
        x = x @ kernel + bias
        if n + 1 < len(layers):
            x = np.maximum(x, 0)
    return 1 / (1 + np.exp(-(logits + x[:, 0])))


def forward_torch(weights, ids, values):
    w, e, layers = inputs(weights, ids, values)
    w, e = torch.tensor(w), torch.tensor(e)
    logits = torch.tensor(weights["fm_b"])[0] + w.sum(1) + 0.5 * (
        e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
    x = e.reshape(len(ids), -1)
    for n, (kernel, bias) in enumerate(layers):
        x = torch.nn.functional.linear(x, torch.tensor(kernel).T,
                                       torch.tensor(bias))
        if n + 1 < len(layers):
            x = torch.relu(x)
    return torch.sigmoid(logits + x[:, 0]).numpy()


@unittest.skipIf(np is None, "numpy is not here; tools/install_test_tools.sh "
                 "installs it")
class ForwardPassTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        if "--model_dir" not in self.run_ok("shoal", "train", "--help"):
            self.skipTest("this build keeps no checkpoints")

    def check(self, path, fields, flags):
        """Trains on the rows, with two servers, then predicts for them with
        one and with three."""
        model_dir = self.path("model")
        self.run_ok("shoal", "run", "--ps=2", "--workers=2", *flags,
                    "--training_data_dir=" + path, "--num_epochs=1",
                    "--model_dir=" + model_dir)
        weights = read_checkpoint(model_dir)
        ids, values = read_libsvm(path, fields)
        expected = {"numpy": forward_numpy(weights, ids, values)}
        if torch is not None:
            expected["torch"] = forward_torch(weights, ids, values)
        infer = [*flags, "--task_type=infer", "--val_data_dir=" + path,
                 "--model_dir=" + model_dir]
        self.run_ok("shoal", "train", *infer,
                    "--predictions_file=" + self.path("one"))
        self.run_ok("shoal", "run", "--ps=3", "--workers=2", *infer,
                    "--predictions_file=" + self.path("three"))
        for name in ("one", "three"):
            got = np.loadtxt(self.path(name), np.float64)
            for framework, values in expected.items():
                worst = np.abs(got - values).max()
                print(f"{name}: {len(got)} predictions, at most {worst:.1e} "
                      f"from {framework}'s")
                self.assertEqual(got.shape, values.shape)
                self.assertLess(worst, 1e-6)
        self.assertGreater(got.std(), 1e-3, "all are alike")

    def check_rows_of_several_lengths(self, feature_size):
        rows = harness.linear_rows(3000, features=200, fields=6).splitlines()
        # Values that are not 1, and short rows.
        rows = [" ".join(
            part.replace(":1", f":{(i * j) % 7 / 4}") if j else part
            for j, part in enumerate(row.split()[:7 - i % 3]))
            for i, row in enumerate(rows)]
        path = self.write("tr.libsvm", "\n".join(rows) + "\n")
        self.check(path, 6, [
            f"--feature_size={feature_size}", "--field_size=6",
            "--embedding_size=5", "--deep_layers=16,8",
            "--learning_rate=0.01", "--batch_size=64"])

    def test_rows_of_several_lengths(self):
        self.check_rows_of_several_lengths(200)

    def test_rows_of_several_lengths_in_a_dynamic_table(self):
        self.check_rows_of_several_lengths(0)

    def test_criteo(self):
        path = os.path.join(harness.DATA, "aws_deepfm_criteo_val",
                            "val.libsvm")
        if not os.path.exists(path):
            self.skipTest(f"the real rows are not here ({path})")
        self.check(path, 39, [
            "--feature_size=117581", "--field_size=39", "--embedding_size=16",
            "--deep_layers=400,400,400", "--learning_rate=1e-3",
            "--batch_size=256"])


if __name__ == "__main__":
    harness.main()
