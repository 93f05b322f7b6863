"""A whole iteration of TiCoPD in PyTorch, with 8-bit qsgd on a ring, for the PyTorch peers (peers.py)."""
import torch

ALPHA, THETA, ETA, BETA = 0.3, 0.3333, 0.0333, 0.6  # as in experiments/mnist_ring10.toml
LEVELS = 255                                        # 8 bits plus the sign


class Iteration:
    """An iteration around groups of gradients (batched.py): quantise x - xhat, mix, step.

    Models, surrogates and duals have one row per agent, and the groups' weights are views of the models,
    so that one operation works on all of them. Levels are bytes. Unlike our program, this code does not
    pack signs and levels into messages.
    """

    def __init__(self, groups):
        self.groups = groups
        sizes = [w[0].numel() for w in groups[0].weights]
        agents = sum(len(group.weights[0]) for group in groups)
        rows = (torch.zeros(agents, sum(sizes), device=groups[0].weights[0].device) for _ in range(4))
        self.x, self.surrogate, self.dual, self.gradient = rows
        # The scale that makes qsgd a contraction: 1 + min(d / s^2, sqrt(d) / s).
        d = sum(sizes)
        self.tau = 1 + min(d / LEVELS**2, d**0.5 / LEVELS)
        self.places, agent = [], 0
        for group in groups:
            n, views, first = len(group.weights[0]), [], 0
            for layer, (w, size) in enumerate(zip(group.weights, sizes)):
                part = slice(first, first + size)
                view = self.x[agent:agent + n, part].view(w.shape)
                view.copy_(w)
                group.weights[layer] = view
                views.append(self.gradient[agent:agent + n, part].view(w.shape))
                first += size
            self.places.append(views)
            agent += n

    def exchange(self):
        difference = self.x - self.surrogate
        norm = difference.norm(dim=1, keepdim=True)
        noise = torch.rand_like(difference)
        levels = (difference.abs() * (LEVELS / norm) + noise).clamp_(max=LEVELS).to(torch.uint8)
        self.surrogate += torch.sign(difference) * levels * (norm / (LEVELS * self.tau))

    def update(self):
        h = self.surrogate
        mixed = 2 * h - torch.roll(h, 1, 0) - torch.roll(h, -1, 0)
        pull = self.gradient + self.dual + THETA * mixed
        self.x.mul_(BETA).add_(h, alpha=1 - BETA).sub_(pull, alpha=ALPHA)
        self.dual.add_(mixed, alpha=ETA)

    def take_gradient(self, group, views):
        group.step()
        for view, g in zip(views, group.gradients):
            view[:, :, :g.shape[2]] = g

    def parts(self):
        """The gradients as calls that may run in parallel, between exchange and update."""
        return [lambda g=g, v=v: self.take_gradient(g, v) for g, v in zip(self.groups, self.places)]
