"""Gradients of the networks of many agents at once, written by hand for the PyTorch peers (peers.py)."""
import torch

ALIGNED = 4  # floats: cuBLAS uses its best kernels only if a leading dimension is a multiple of 16 bytes
BLOCK = 32   # shards are padded to a multiple of this many samples, so that they can be split into equal parts


def up(size, multiple):
    return -(-size // multiple) * multiple


class Batched:
    """Forward and backward passes of some agents by `bmm`, into preallocated memory.

    Biases need no extra pass: features and activations have a constant 1, and each weight matrix and its
    gradient have the bias as one more column. Samples that pad a shard have weight zero.
    Every activation has the shape (agent, unit, sample); `samples_last` says whether samples or units are
    contiguous in memory. If samples are, both factors of the large products are contiguous along the sum,
    as Hopper's TF32 requires. For this the features, which never change, are stored in both orders.
    If units are, `split` splits the sums over samples, so that more than a few blocks work on them.
    The code computes no loss value, since the gradient does not need it.
    """

    def __init__(self, models, shards, samples_last, split=1):
        n, m = len(shards), up(max(len(labels) for _, labels in shards), BLOCK)
        device, self.last, self.split = shards[0][0].device, samples_last, split
        linear = [[layer for layer in model if isinstance(layer, torch.nn.Linear)] for model in models]
        self.widths = [linear[0][0].in_features] + [layer.out_features for layer in linear[0]]

        def tensor(units):  # (agent, unit, sample) in the requested memory order
            if samples_last:
                return torch.zeros(n, units, m, device=device)
            return torch.zeros(n, m, units, device=device).transpose(1, 2)

        self.weights = [torch.zeros(n, after, up(before + 1, ALIGNED), device=device)
                        for before, after in zip(self.widths, self.widths[1:])]
        self.gradients = [torch.zeros_like(w) for w in self.weights]
        self.parts = [torch.zeros(n * split, *w.shape[1:], device=device) for w in self.weights]
        self.inputs = [tensor(w.shape[2]) for w in self.weights]  # of each layer, with the constant 1
        self.deltas = [tensor(up(w, ALIGNED))[:, :w] for w in self.widths[1:]]  # the derivative of the loss by the layer's output
        self.logits, self.chances, self.minus_target = (tensor(self.widths[-1]) for _ in range(3))
        self.weight = torch.zeros(n, 1, m, device=device)  # of a sample
        for a, (features, labels) in enumerate(shards):
            count = len(labels)
            self.inputs[0][a, :features.shape[1], :count] = features.T
            for width, layer_input in zip(self.widths, self.inputs):
                layer_input[a, width, :count] = 1
            self.weight[a, 0, :count] = 1 / count
            self.minus_target[a, labels, torch.arange(count, device=device)] = -1 / count
            for w, layer in zip(self.weights, linear[a]):
                w[a, :, :layer.in_features] = layer.weight.detach()
                w[a, :, layer.in_features] = layer.bias.detach()
        features = self.inputs[0]  # the forward pass sums over units, the backward pass over samples
        self.features = features.transpose(1, 2).contiguous().transpose(1, 2) if samples_last else features
        self.side = torch.cuda.Stream() if features.is_cuda else None

    def step(self):
        top = len(self.weights) - 1
        for l in range(top):
            out = self.inputs[l + 1][:, :self.widths[l + 1]]
            torch.bmm(self.weights[l], self.features if l == 0 else self.inputs[l], out=out)
            out.sigmoid_()
        torch.bmm(self.weights[top], self.inputs[top], out=self.logits)
        self.softmax_less_target()
        for l in range(top, 0, -1):
            self.aside(lambda: self.weight_gradient(l))
            width, delta = self.widths[l], self.deltas[l - 1]
            torch.bmm(self.weights[l][:, :, :width].transpose(1, 2), self.deltas[l], out=delta)
            torch.ops.aten.sigmoid_backward.grad_input(delta, self.inputs[l][:, :width], grad_input=delta)
        self.weight_gradient(0)
        if self.side:
            torch.cuda.current_stream().wait_stream(self.side)

    def softmax_less_target(self):
        """(softmax - one hot) / samples of the shard, and zero for padding samples."""
        if self.last:
            torch.softmax(self.logits, 1, out=self.chances)
        else:
            torch.softmax(self.logits.transpose(1, 2), 2, out=self.chances.transpose(1, 2))
        torch.addcmul(self.minus_target, self.chances, self.weight, out=self.deltas[-1])

    def weight_gradient(self, l):
        delta, layer_input = self.deltas[l].transpose(1, 2), self.inputs[l].transpose(1, 2)
        if self.split == 1:
            torch.bmm(delta.transpose(1, 2), layer_input, out=self.gradients[l])
            return
        delta, layer_input = (t.unflatten(1, (self.split, -1)).flatten(0, 1) for t in (delta, layer_input))
        torch.bmm(delta.transpose(1, 2), layer_input, out=self.parts[l])
        torch.sum(self.parts[l].unflatten(0, (-1, self.split)), 1, out=self.gradients[l])

    def aside(self, call):
        """Runs `call` in parallel to what follows: gradients of narrow layers use only a few processors."""
        if self.side is None:
            return call()
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            call()

    def rows(self):
        """The gradient of each agent as one row, in the order of nn.Module.parameters()."""
        parts = []
        for width, g in zip(self.widths, self.gradients):
            parts += [g[:, :, :width].flatten(1), g[:, :, width]]
        return list(torch.cat(parts, 1))


class Compiled(Batched):
    """The same passes for torch.compile, which may fuse operations into the products and choose kernels."""

    def __init__(self, models, shards, compiler):
        super().__init__(models, shards, samples_last=False)
        self.passes = compiler(self.written_plainly)

    def written_plainly(self, weights, features, minus_target, weight):
        inputs, gradients = [features[:, :, :self.widths[0]]], [None] * len(weights)
        for l, w in enumerate(weights):
            width = self.widths[l]
            z = torch.baddbmm(w[:, None, :, width], inputs[l], w[:, :, :width].transpose(1, 2))
            inputs.append(torch.sigmoid(z))
        delta = torch.softmax(z, 2) * weight + minus_target
        for l in range(len(weights) - 1, -1, -1):
            by_weight = torch.bmm(delta.transpose(1, 2), inputs[l])
            gradients[l] = torch.cat([by_weight, delta.sum(1)[:, :, None]], 2)
            if l > 0:
                delta = torch.bmm(delta, weights[l][:, :, :self.widths[l]]) * inputs[l] * (1 - inputs[l])
        return gradients

    def step(self):
        turned = [t.transpose(1, 2) for t in (self.features, self.minus_target, self.weight)]
        self.gradients = self.passes(self.weights, *turned)
