"""DeepFM on PyTorch in one process: embeddings with sparse gradients, Adagrad
for the embeddings and Adam for all other variables.
"""

import argparse

import torch
from torch import nn

import workload


class DeepFm(nn.Module):
    def __init__(self, args):
        super().__init__()
        dim, layers = workload.NETS[args.net]
        self.unique = args.unique
        self.w = nn.Embedding(args.ids, 1, sparse=True)
        self.v = nn.Embedding(args.ids, dim, sparse=True)
        for table in (self.w, self.v):
            nn.init.normal_(table.weight, std=0.01)
        mlp = []
        inputs = workload.FIELDS * dim
        for units in layers:
            mlp += [nn.Linear(inputs, units), nn.ReLU()]
            inputs = units
        self.mlp = nn.Sequential(*mlp, nn.Linear(inputs, 1))

    def forward(self, ids, values):
        if self.unique:
            distinct, place = torch.unique(ids, return_inverse=True)
            w, v = (nn.functional.embedding(place, table(distinct))
                    for table in (self.w, self.v))
        else:
            w, v = self.w(ids), self.v(ids)
        x = v * values.unsqueeze(2)
        return ((w.squeeze(2) * values).sum(1) +
                0.5 * (x.sum(1).square() - x.square().sum(1)).sum(1) +
                self.mlp(x.flatten(1)).squeeze(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    workload.add_flags(parser)
    parser.add_argument("--unique", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    net = DeepFm(args)
    optimizers = [
        torch.optim.Adam(net.mlp.parameters(), lr=args.learning_rate),
        torch.optim.Adagrad([net.w.weight, net.v.weight],
                            lr=args.table_learning_rate,
                            initial_accumulator_value=args.initial_accumulator)]
    loss_of = nn.BCEWithLogitsLoss()
    progress = workload.Progress(args.progress)
    for batch in workload.batches(args):
        ids, values, labels = map(torch.from_numpy, batch)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss_of(net(ids, values), labels).backward()
        for optimizer in optimizers:
            optimizer.step()
        progress.add(args.batch)
    with torch.no_grad():
        auc = workload.auc_of_test_rows(
            args, lambda *rows: net(*map(torch.from_numpy, rows)).numpy())
    print(f"auc {auc:.5f}", flush=True)


if __name__ == "__main__":
    main()
