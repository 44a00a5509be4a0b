"""The models in PyTorch, float64, and the updates of their variables."""

import math

import torch

import counter_random as draw

torch.set_default_dtype(torch.float64)


class Model:
    """Variables by name (tables are [rows, dim]) and the batch's mean loss."""

    def __init__(self, case):
        self.case = case
        self.tables = {}
        self.dense = {}
        n, k, seed = case.feature_size, case.embedding_size, case.seed
        prefix = 'lr' if case.model == 'lr' else 'fm'
        self._table(f'{prefix}_w', draw.glorot_normal(
            seed, f'{prefix}_w', n, n, n), 1)
        if case.model != 'lr':
            self._table('fm_v', draw.glorot_normal(seed, 'fm_v', n, k, n * k),
                        k)
        inputs = case.field_size * k
        layers = case.deep_layers + [1] if case.model == 'deepfm' else []
        for i, units in enumerate(layers):
            name = f'deep_{i}' if i + 1 < len(layers) else 'deep_out'
            self._dense(f'{name}/weights', draw.xavier_uniform(
                seed, f'{name}/weights', inputs, units), [inputs, units])
            self._dense(f'{name}/biases', [0.0] * units, [units])
            inputs = units
        self._dense(f'{prefix}_b', [0.0], [1])

    def _table(self, name, values, dim):
        self.tables[name] = torch.tensor(values).reshape(-1, dim)
        self.tables[name].requires_grad_()

    def _dense(self, name, values, shape):
        self.dense[name] = torch.tensor(values).reshape(shape)
        self.dense[name].requires_grad_()

    def variables(self):
        return {**self.tables, **self.dense}

    def loss(self, batch):
        def looked_up(name):  # [B, F, dim]: rows times values, 0 where padded
            rows = torch.nn.functional.embedding(
                batch.ids, self.tables[name], sparse=True)
            places = torch.zeros(batch.examples, self.case.field_size,
                                 rows.shape[1])
            return places.index_put((batch.example, batch.field),
                                    rows * batch.values.unsqueeze(1))

        prefix = 'lr' if self.case.model == 'lr' else 'fm'
        logits = (self.dense[f'{prefix}_b']
                  + looked_up(f'{prefix}_w').sum((1, 2)))
        if self.case.model != 'lr':
            e = looked_up('fm_v')
            # The definition, a sum over all pairs, not the faster formula.
            logits = logits + torch.triu(
                e @ e.transpose(1, 2), diagonal=1).sum((1, 2))
        if self.case.model == 'deepfm':
            logits = logits + self._network(batch, e.flatten(1))
        return torch.nn.functional.binary_cross_entropy_with_logits(
            logits, batch.labels)

    def _network(self, batch, y):
        for i, units in enumerate(self.case.deep_layers):
            y = torch.relu(y @ self.dense[f'deep_{i}/weights']
                           + self.dense[f'deep_{i}/biases'])
            if self.case.dropout:
                keep = self.case.dropout[i]
                mask = draw.dropout_mask(self.case.seed, batch.name, i, keep,
                                         len(y), units)
                y = y * torch.tensor(mask) / draw.float32(keep)
        y = y @ self.dense['deep_out/weights'] + self.dense['deep_out/biases']
        return y.squeeze(1)
