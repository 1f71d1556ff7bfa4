import torch

from attention.heads import Profile


def numbers(maps, query, key):
    z = torch.zeros(len(maps.lse))
    return Profile(maps.entropy.mean(-1), z, maps.greatest.mean(-1), maps.distance.mean(-1), z, z)
