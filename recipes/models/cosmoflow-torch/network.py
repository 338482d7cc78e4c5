"""A network of CosmoFlow's shape, scaled to its input: convolutions that double their filters while pooling halves the
cube, three dense layers, and an output within -1.2 and 1.2, where the parameters of all universes lie."""

import torch
from torch import nn

LAST_SIDE = 2  # of the cube that the dense layers see


class Network(nn.Module):
    def __init__(self, side, channels, outputs, filters=8, dropout=0.0):
        super().__init__()
        self.shape = {"side": side, "channels": channels, "outputs": outputs, "filters": filters}
        self.register_buffer("mean", torch.zeros(1))  # of the logarithms of the counts
        self.register_buffer("spread", torch.ones(1))
        layers, width = [], filters
        while side > LAST_SIDE:
            layers += [nn.Conv3d(channels, width, 2, padding="same"), nn.LeakyReLU(0.3), nn.MaxPool3d(2)]
            channels, width, side = width, 2 * width, side // 2
        dense = []
        size = channels * side**3
        for hidden in (128, 64):
            dense += [nn.Linear(size, hidden), nn.LeakyReLU(0.3), nn.Dropout(dropout)]
            size = hidden
        self.layers = nn.Sequential(*layers, nn.Flatten(), *dense, nn.Linear(size, outputs))

    def measure(self, cubes):
        """Inputs like these shall have mean 0 and spread 1."""
        logarithms = torch.log1p(cubes)
        self.mean.fill_(logarithms.mean())
        self.spread.fill_(max(logarithms.std().item(), 1e-3))

    def forward(self, cubes):
        """Cubes (k, channels, side, side, side) of counts -> parameters (k, outputs)."""
        return 1.2 * torch.tanh(self.layers((torch.log1p(cubes) - self.mean) / self.spread))

    def save(self, path):
        torch.save({"shape": self.shape, "weights": self.state_dict()}, path)

    @classmethod
    def load(cls, path):
        saved = torch.load(path, weights_only=True)  # numbers only: nothing of the file is run
        network = cls(**saved["shape"])
        network.load_state_dict(saved["weights"])
        return network.eval()
