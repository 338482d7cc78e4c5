"""A convolutional network whose kernels do not overlap, so that each layer is one matrix product.

The sides of a cube are halved by 2x2x2 kernels until one cell is left for each 8^3 of the input; the means and the
spread of what is left, and a two-layer head, give the parameters. Forward, backward, Adam; all in float32.
"""

import numpy

WIDTHS = (16, 24, 32)
HIDDEN = 32
SLOPE = 0.1  # of the rectifier below zero


def fold(x):
    """(k, s, s, s, c) -> (k, s/2, s/2, s/2, 8c): the cells of each 2x2x2 block side by side."""
    k, s, _, _, c = x.shape
    x = x.reshape(k, s // 2, 2, s // 2, 2, s // 2, 2, c).transpose(0, 1, 3, 5, 2, 4, 6, 7)
    return x.reshape(k, s // 2, s // 2, s // 2, 8 * c)


def unfold(x):
    k, s, _, _, c = x.shape
    x = x.reshape(k, s, s, s, 2, 2, 2, c // 8).transpose(0, 1, 4, 2, 5, 3, 6, 7)
    return x.reshape(k, 2 * s, 2 * s, 2 * s, c // 8)


def rectify(x):
    return numpy.where(x > 0, x, SLOPE * x)


def slope_of(x):
    return numpy.where(x > 0, numpy.float32(1), numpy.float32(SLOPE))


class Network:
    def __init__(self, channels, outputs, mean, spread, seed):
        random = numpy.random.default_rng(seed)
        self.mean, self.spread = numpy.float32(mean), numpy.float32(spread)  # of the inputs
        self.parameters = {}
        for layer, width in enumerate(WIDTHS):
            self.add(random, f"kernel{layer}", 8 * channels, width)
            channels = width
        self.add(random, "hidden", 2 * channels, HIDDEN)
        self.add(random, "output", HIDDEN, outputs)

    def add(self, random, name, inputs, outputs):
        scale = numpy.sqrt(2 / inputs)
        self.parameters[name + ".w"] = (scale * random.standard_normal((inputs, outputs))).astype(numpy.float32)
        self.parameters[name + ".b"] = numpy.zeros(outputs, numpy.float32)

    def forward(self, cubes):
        """Predictions (k, outputs), and what backward() needs."""
        p, tape = self.parameters, []
        x = (cubes - self.mean) / self.spread
        for layer in range(len(WIDTHS)):
            folded = fold(x)
            before = folded @ p[f"kernel{layer}.w"] + p[f"kernel{layer}.b"]
            tape.append((folded, before))
            x = rectify(before)
        cells = x.reshape(len(x), -1, x.shape[-1])
        mean = cells.mean(axis=1)
        away = cells - mean[:, None]
        deviation = numpy.sqrt((away**2).mean(axis=1) + 1e-5)
        pooled = numpy.concatenate([mean, deviation], axis=1)
        before = pooled @ p["hidden.w"] + p["hidden.b"]
        hidden = rectify(before)
        tape.append((x.shape, away, deviation, pooled, before, hidden))
        return hidden @ p["output.w"] + p["output.b"], tape

    def backward(self, slope, tape):
        """Gradients by name, from the loss's slope at the predictions."""
        p, gradients = self.parameters, {}
        shape, away, deviation, pooled, before, hidden = tape[-1]
        gradients["output.w"], gradients["output.b"] = hidden.T @ slope, slope.sum(axis=0)
        slope = (slope @ p["output.w"].T) * slope_of(before)
        gradients["hidden.w"], gradients["hidden.b"] = pooled.T @ slope, slope.sum(axis=0)
        slope = slope @ p["hidden.w"].T
        by_mean, by_deviation = numpy.split(slope, 2, axis=1)
        cells = away.shape[1]
        slope = (by_mean[:, None] + away * (by_deviation / deviation)[:, None]) / numpy.float32(cells)
        slope = slope.reshape(shape)
        for layer in reversed(range(len(WIDTHS))):
            folded, before = tape[layer]
            slope = slope * slope_of(before)
            flat, flat_slope = folded.reshape(-1, folded.shape[-1]), slope.reshape(-1, slope.shape[-1])
            gradients[f"kernel{layer}.w"], gradients[f"kernel{layer}.b"] = flat.T @ flat_slope, flat_slope.sum(axis=0)
            if layer:
                slope = unfold(slope @ p[f"kernel{layer}.w"].T)
        return gradients

    def predict(self, cubes, batch=64):
        return numpy.concatenate([self.forward(cubes[i : i + batch])[0] for i in range(0, len(cubes), batch)])

    def save(self, path):
        numpy.savez(path, mean=self.mean, spread=self.spread, **self.parameters)

    @classmethod
    def load(cls, path):
        with numpy.load(path, allow_pickle=False) as saved:
            parameters = {name: saved[name] for name in saved.files}
        network = cls.__new__(cls)
        network.mean, network.spread = parameters.pop("mean"), parameters.pop("spread")
        network.parameters = parameters
        return network


class Adam:
    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.step = parameters, rate, 0
        self.first = {name: numpy.zeros_like(value) for name, value in parameters.items()}
        self.second = {name: numpy.zeros_like(value) for name, value in parameters.items()}

    def update(self, gradients):
        self.step += 1
        rate = numpy.float32(self.rate * numpy.sqrt(1 - 0.999**self.step) / (1 - 0.9**self.step))
        for name, gradient in gradients.items():
            self.first[name] += 0.1 * (gradient - self.first[name])
            self.second[name] += 0.001 * (gradient**2 - self.second[name])
            self.parameters[name] -= rate * self.first[name] / (numpy.sqrt(self.second[name]) + 1e-7)
