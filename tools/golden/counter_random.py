"""Shoal's counter-based draws, written again from the published formulas.

The formulas: base/philox.h, base/stable_hash.h, ps/table/initial_value.h,
models/initializers.h and models/layers/dropout.h. Shoal does not call this
code, so the golden files confirm Shoal's initial values and dropout masks, too.
"""

import math
import struct

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1
DROPOUT_TAG = int.from_bytes(b'dropout1', 'big')


def float32(x):
    """The float32 nearest to x, as a float."""
    return struct.unpack('<f', struct.pack('<f', x))[0]


def philox(key, high, low):
    """Philox4x32-10: four words of the 128-bit counter (high, low)."""
    c = [low & MASK32, low >> 32, high & MASK32, high >> 32]
    k = [key & MASK32, key >> 32]
    for _ in range(10):
        p0 = 0xD2511F53 * c[0]
        p1 = 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK32,
             (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def splitmix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def initial_value_key(seed, variable):
    h = 0xCBF29CE484222325
    for byte in variable.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK64
    return splitmix(seed ^ splitmix(splitmix(h)))


def unit_float(word):
    return (word >> 8) / 2**24


def uniform(scale, key, element):
    word = philox(key, 0, element // 4)[element % 4]
    return float32(float32(scale) * (2 * unit_float(word) - 1))


def truncated_normal(scale, key, element):
    at = 2 * (element % 2)
    for attempt in range(1000):
        words = philox(key, attempt, element // 2)
        z = 4 * unit_float(words[at]) - 2
        if words[at + 1] + 0.5 < 2**32 * math.exp(-0.5 * z * z):
            return float32(float32(scale) * z)
    raise RuntimeError('no candidate was accepted')


def glorot_normal(seed, variable, fan_in, fan_out, size):
    scale = math.sqrt(2 / (fan_in + fan_out)) / 0.87962566103423978
    key = initial_value_key(seed, variable)
    return [truncated_normal(scale, key, e) for e in range(size)]


def xavier_uniform(seed, variable, fan_in, fan_out):
    scale = math.sqrt(6 / (fan_in + fan_out))
    key = initial_value_key(seed, variable)
    return [uniform(scale, key, e) for e in range(fan_in * fan_out)]


def dropout_mask(seed, batch, layer, keep, examples, units):
    """One row an example: 1 for a kept unit. batch: epoch, piece, index."""
    epoch, piece, index = batch
    words = philox(seed ^ DROPOUT_TAG, epoch << 32 | piece, index << 32 | layer)
    key = words[1] << 32 | words[0]
    threshold = math.floor(float32(keep) * 65536 + 0.5)
    mask = []
    for position in range(examples):
        row = []
        for unit in range(units):
            word = philox(key, position, unit // 8)[unit % 8 // 2]
            bits = word >> 16 if unit % 2 else word & 0xFFFF
            row.append(int(bits < threshold))
        mask.append(row)
    return mask
