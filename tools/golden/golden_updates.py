"""The updates of the variables: by torch.optim, or by a formula if it has none.

A table's gradient is a sparse tensor of the batch's distinct ids, so only the
rows that the batch touches move.
"""

import math

import torch


def sum_by_id(variables):
    for v in variables:
        if v.grad.is_sparse:
            v.grad = v.grad.coalesce()


def clip_by_global_norm(variables, clip_norm):
    """Clips the gradients. Returns the scale. REQUIRES: sum_by_id has run."""
    squares = sum((v.grad.values() if v.grad.is_sparse else v.grad)
                  .square().sum() for v in variables)
    scale = min(1.0, clip_norm / math.sqrt(squares))
    for v in variables:
        v.grad = (v.grad * scale).coalesce() if v.grad.is_sparse else (
            v.grad * scale)
    return scale


def as_sparse(gradient):
    """The gradient of a dense variable: every index of axis 0 is touched."""
    if gradient.is_sparse:
        return gradient.coalesce()
    every = torch.arange(len(gradient)).unsqueeze(0)
    return torch.sparse_coo_tensor(every, gradient, gradient.shape).coalesce()


def add_l2(variable, l2):
    """Adds l2 * w, only for the touched rows."""
    g = as_sparse(variable.grad)
    touched = variable.detach()[g.indices()[0]]
    variable.grad = torch.sparse_coo_tensor(
        g.indices(), g.values() + l2 * touched, g.shape).coalesce()


class TorchUpdate:
    """An optimizer of torch.optim."""

    SLOTS = {'sgd': {}, 'adagrad': {'accumulator': 'sum'},
             'adam': {'m': 'exp_avg', 'v': 'exp_avg_sq'}}

    def __init__(self, spec, variable):
        self.variable = variable
        self.names = self.SLOTS[spec['kind']]
        if spec['kind'] == 'sgd':
            self.optimizer = torch.optim.SGD(
                [variable], lr=spec['learning_rate'])
        elif spec['kind'] == 'adagrad':
            self.optimizer = torch.optim.Adagrad(
                [variable], lr=spec['learning_rate'], eps=0,
                initial_accumulator_value=spec['adagrad_initial_accumulator'])
        else:
            # torch's lazy Adam, whose epsilon is at the same place as Shoal's.
            self.optimizer = torch.optim.SparseAdam(
                [variable], lr=spec['learning_rate'],
                betas=(spec['adam_beta1'], spec['adam_beta2']),
                eps=spec['adam_epsilon'])

    def step(self):
        self.variable.grad = as_sparse(self.variable.grad)
        self.optimizer.step()

    def slots(self):
        state = self.optimizer.state[self.variable]
        return {ours: state[theirs] for ours, theirs in self.names.items()}


class RowwiseAdagrad:
    def __init__(self, spec, variable):
        self.rate = spec['learning_rate']
        self.variable = variable
        self.accumulator = torch.full(
            (len(variable), 1), spec['adagrad_initial_accumulator'])

    def step(self):
        g = as_sparse(self.variable.grad)
        ids, values = g.indices()[0], g.values()
        self.accumulator[ids] += values.square().mean(1, keepdim=True)
        with torch.no_grad():
            self.variable[ids] -= (
                self.rate * values / self.accumulator[ids].sqrt())

    def slots(self):
        return {'accumulator': self.accumulator}


class Ftrl:
    """McMahan et al., KDD 2013, as TensorFlow's ApplyFtrl has it."""

    def __init__(self, spec, variable):
        self.spec = spec
        self.variable = variable
        self.n = torch.full_like(variable.detach(),
                                 spec['ftrl_initial_accumulator'])
        self.z = torch.zeros_like(self.n)

    def step(self):
        rate = self.spec['learning_rate']
        l1, l2 = self.spec['ftrl_l1'], self.spec['ftrl_l2']
        gradient = as_sparse(self.variable.grad)
        ids, g = gradient.indices()[0], gradient.values()
        with torch.no_grad():
            n, w = self.n[ids], self.variable[ids]
            sigma = ((n + g * g).sqrt() - n.sqrt()) / rate
            z = self.z[ids] + g - sigma * w
            n = n + g * g
            w = -(z - z.clamp(-l1, l1)) / (n.sqrt() / rate + 2 * l2)
            self.n[ids], self.z[ids], self.variable[ids] = n, z, w

    def slots(self):
        return {'accumulator': self.n, 'linear': self.z}


def make_update(spec, variable):
    formulas = {'rowwise_adagrad': RowwiseAdagrad, 'ftrl': Ftrl}
    return formulas.get(spec['kind'], TorchUpdate)(spec, variable)
