"""The training of shoal-train in PyTorch: DistributedDataParallel over gloo, one thread a rank.

    torch_peer.py --ranks P --steps T [--batch B] [--dims 784,256,128,10] [--data DIR]

prints {"steps_per_s": ...}, without the first 20 steps, on one line.
"""
import argparse
import gzip
import json
import os
import struct
import tempfile
import time

import numpy
import torch
import torch.distributed
import torch.multiprocessing

WARM_UP = 20


def idx(directory, name):
    path = os.path.join(directory, name)
    opener, path = (gzip.open, path + ".gz") if os.path.exists(path + ".gz") else (open, path)
    with opener(path, "rb") as file:
        data = file.read()
    dimensions = data[3]
    shape = struct.unpack(">%dI" % dimensions, data[4:4 + 4 * dimensions])
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def network(dims):
    layers = []
    for inputs, outputs in zip(dims, dims[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def train(rank, options, rendezvous):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.distributed.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=options.ranks)
    images = idx(options.data, "train-images-idx3-ubyte")
    images = torch.tensor(images.reshape(len(images), -1))
    labels = torch.tensor(idx(options.data, "train-labels-idx1-ubyte").astype(numpy.int64))
    model = torch.nn.parallel.DistributedDataParallel(network([int(width) for width in options.dims.split(",")]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    loss_of = torch.nn.CrossEntropyLoss()
    order = torch.randperm(len(images))
    first = 0
    for step in range(options.steps):
        if step == WARM_UP:
            start = time.perf_counter()
        if first + options.batch > len(images):
            order = torch.randperm(len(images))
            first = 0
        own = order[first + rank:first + options.batch:options.ranks]
        first += options.batch
        optimizer.zero_grad()
        loss = loss_of(model(images[own].to(torch.float32) / 255), labels[own])
        loss.backward()
        optimizer.step()
    torch.distributed.barrier()
    if rank == 0:
        print(json.dumps({"steps_per_s": (options.steps - WARM_UP) / (time.perf_counter() - start),
                          "loss": float(loss)}), flush=True)
    torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--steps", type=int, default=220)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--dims", default="784,256,128,10")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(train, (options, os.path.join(folder, "rendezvous")), options.ranks)


if __name__ == "__main__":
    main()
