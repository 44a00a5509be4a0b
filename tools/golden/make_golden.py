#!/usr/bin/env python3
"""Writes the golden files of tests/golden: ten training steps in PyTorch.

Usage: make_golden.py OUT_DIR      (torch 2.5.1; imports nothing of Shoal)

All arithmetic is float64. Inputs, also learning rates, betas and the like, are
float32 numbers, since Shoal's inputs are. Gradients come from torch's autograd,
updates from torch.optim (golden_updates.py). tests/golden/golden_file.h
describes the format, docs/numerics.md the comparison.
"""

import os
import random
import sys
from dataclasses import dataclass, field

import torch

from counter_random import float32
from golden_models import Model
from golden_updates import add_l2, clip_by_global_norm, make_update, sum_by_id

STEPS = 10
BATCH = 16
# Slots are written after these; losses, gradients and weights after every step.
SLOT_STEPS = (1, 2, 10)

DEFAULTS = {
    'adagrad_initial_accumulator': 1e-8,
    'adam_beta1': 0.9, 'adam_beta2': 0.999, 'adam_epsilon': 1e-8,
    'ftrl_initial_accumulator': 0.1, 'ftrl_l1': 0.0, 'ftrl_l2': 0.0,
    'l2': 0.0,
}


def optimizer(kind, learning_rate, **others):
    spec = {**DEFAULTS, 'learning_rate': learning_rate, **others}
    return {'kind': kind, **{k: float32(v) for k, v in spec.items()}}


@dataclass
class Case:
    name: str
    model: str
    dense: dict
    table: dict
    wide: dict  # for the column with one weight for each id
    feature_size: int = 200
    field_size: int = 6
    embedding_size: int = 4
    deep_layers: list = field(default_factory=lambda: [8, 4])
    dropout: list = field(default_factory=list)
    clip_norm: float = 0.0
    seed: int = 5

    def spec_of(self, name):
        if name in ('fm_w', 'lr_w'):
            return self.wide
        return self.table if name == 'fm_v' else self.dense


def everywhere(kind, learning_rate, **others):
    spec = optimizer(kind, learning_rate, **others)
    return {'dense': {**spec, 'l2': 0.0}, 'table': spec, 'wide': spec}


CASES = [
    Case('deepfm_sgd', 'deepfm', **everywhere('sgd', 0.5, l2=0.01),
         clip_norm=0.28),
    Case('deepfm_adagrad', 'deepfm', **everywhere('adagrad', 0.02, l2=0.01),
         dropout=[0.75, 0.5], seed=9),
    Case('deepfm_adam', 'deepfm', **everywhere('adam', 0.01)),
    Case('deepfm_rowwise_adagrad', 'deepfm',
         dense=optimizer('adam', 0.01),
         table=optimizer('rowwise_adagrad', 0.05),
         wide=optimizer('rowwise_adagrad', 0.05)),
    Case('fm_mixed', 'fm',
         dense=optimizer('sgd', 0.1),
         table=optimizer('adagrad', 0.05),
         wide=optimizer('ftrl', 0.05, ftrl_l1=0.001)),
    Case('lr_ftrl', 'lr',
         **everywhere('ftrl', 0.5, ftrl_l1=0.002, ftrl_l2=0.01)),
]


class Batch:
    """Entries one after the other: example, field, id, value. A short example
    lacks its last fields. Ids repeat, also within an example; a few are
    frequent."""

    def __init__(self, case, index):
        rng = random.Random(1000 + index)
        self.name = (1, 2, index)  # epoch, piece, index
        self.examples = BATCH
        entries = []
        for b in range(BATCH):
            fields = case.field_size - (2 if rng.random() < 0.2 else 0)
            for j in range(fields):
                feature = int(case.feature_size * rng.random() ** 4)
                value = rng.choice([1.0, 1.0, 0.0, rng.randrange(-128, 129) / 64])
                entries.append((b, j, feature, value))
        self.example, self.field, self.ids = (
            torch.tensor([e[i] for e in entries]) for i in range(3))
        self.values = torch.tensor([e[3] for e in entries])
        self.labels = torch.tensor(
            [float(rng.random() < 0.4) for _ in range(BATCH)])


class GoldenFile:
    def __init__(self, path):
        self.out = open(path, 'w', encoding='ascii')
        print('shoal-golden 1', file=self.out)
        print('made by tools/golden/make_golden.py with torch',
              torch.__version__.split('+')[0], 'in float64', file=self.out)

    def set(self, key, value):
        if isinstance(value, list):
            value = ','.join(f'{v:.9g}' for v in value)
        elif isinstance(value, float):
            value = f'{value:.9g}'
        print('set', key, value, file=self.out)

    def tensor(self, name, values, digits=8):
        flat = values.detach().flatten().tolist()
        print('tensor', name, len(flat), file=self.out)
        print(*(f'{v:.{digits}g}' for v in flat), file=self.out)


def write_case(case, path):
    out = GoldenFile(path)
    for key in ('model', 'feature_size', 'field_size', 'embedding_size',
                'deep_layers', 'dropout', 'seed', 'clip_norm'):
        out.set(key, getattr(case, key))
    for side in ('dense', 'table', 'wide'):
        for key, value in getattr(case, side).items():
            out.set(f'{side}.{key}', value)
    out.set('steps', STEPS)

    model = Model(case)
    variables = model.variables()
    for name, v in variables.items():
        out.tensor(f'initial/{name}', v, digits=9)  # exact float32 numbers
    updates = {name: make_update(case.spec_of(name), v)
               for name, v in variables.items()}
    for step in range(1, STEPS + 1):
        write_step(case, model, updates, step, out)
    for name, v in model.tables.items():
        out.tensor(f'final/{name}', v)


def write_step(case, model, updates, step, out):
    batch = Batch(case, step - 1)
    for key in ('example', 'ids', 'values', 'labels'):
        out.tensor(f'{step}/{key}', getattr(batch, key), digits=9)
    variables = model.variables()
    for v in variables.values():
        v.grad = None
    loss = model.loss(batch)
    loss.backward()
    sum_by_id(variables.values())
    scale = 1.0
    if case.clip_norm > 0:
        scale = clip_by_global_norm(list(variables.values()), case.clip_norm)
    out.tensor(f'{step}/loss', loss, digits=10)
    out.set(f'{step}/clip_scale', scale)

    rows = torch.unique(batch.ids)  # ascending, as coalesced gradients are
    out.tensor(f'{step}/rows', rows)
    for name, v in variables.items():
        g = v.grad
        out.tensor(f'{step}/d_{name}', g.values() if g.is_sparse else g)
        l2 = case.spec_of(name)['l2']
        if l2 > 0:
            add_l2(v, l2)
        updates[name].step()
    for name, v in variables.items():
        is_table = name in model.tables
        out.tensor(f'{step}/{name}', v[rows] if is_table else v)
        if step in SLOT_STEPS:
            for slot, values in updates[name].slots().items():
                out.tensor(f'{step}/{name}.{slot}',
                           values[rows] if is_table else values)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for case in CASES:
        write_case(case, os.path.join(sys.argv[1], f'{case.name}.golden'))


if __name__ == '__main__':
    main()
