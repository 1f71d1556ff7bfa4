"""Multi-head attention as a module that returns the weights of every head."""

from __future__ import annotations

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from attention.attend import Attention, scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2), optionally grouped-query (Ainslie et al. 2023).

    `kv_heads` (default: heads) heads have keys and values of their own, each shared by heads / kv_heads heads of
    queries. Raises ValueError if heads don't divide d_model, kv_heads don't divide heads, or any of them is below one.

    >>> layer = attention.MultiHeadAttention(d_model=64, heads=8, kv_heads=2)
    >>> layer(torch.ones(3, 5, 64))
    Attention(output=float32 (3, 5, 64), weights=float32 (3, 8, 5, 5))
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int | None = None, bias: bool = True) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if d_model < 1:
            raise ValueError(f"d_model={d_model} has no channel; choose 1 or more.")
        if heads < 1 or d_model % heads:
            raise ValueError(f"heads={heads} don't divide d_model={d_model}; choose a divisor of {d_model}.")
        if kv_heads < 1 or heads % kv_heads:
            raise ValueError(f"kv_heads={kv_heads} don't divide heads={heads}; choose a divisor of {heads}.")
        self.d_model, self.heads, self.kv_heads, self.d_head = d_model, heads, kv_heads, d_model // heads
        self.q_proj = nn.Linear(d_model, d_model, bias)
        self.k_proj = nn.Linear(d_model, kv_heads * self.d_head, bias)
        self.v_proj = nn.Linear(d_model, kv_heads * self.d_head, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the fused query, key and value map Xavier-uniformly, biases to zero, as nn.MultiheadAttention."""
        bound = (6 / (self.d_model + self.q_proj.out_features + 2 * self.k_proj.out_features)) ** 0.5
        for proj in (self.q_proj, self.k_proj, self.v_proj):
            nn.init.uniform_(proj.weight, -bound, bound)
        for proj in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            if proj.bias is not None:
                nn.init.zeros_(proj.bias)

    @classmethod
    def from_torch(cls, layer: nn.MultiheadAttention) -> MultiHeadAttention:
        """Returns a layer with the same weights, batch first, in the same mode; masks are True where they take part.

        Raises ValueError for options without a counterpart here: kdim or vdim other than embed_dim, bias_k,
        add_zero_attn, and dropout of a layer in training mode (in eval mode it does nothing).

        >>> theirs, x = torch.nn.MultiheadAttention(8, 2, batch_first=True), torch.rand(1, 5, 8)
        >>> ours = attention.MultiHeadAttention.from_torch(theirs)
        >>> torch.allclose(ours(x).output, theirs(x, x, x)[0], atol=1e-6)
        True
        """
        odd = {
            "kdim": layer.kdim != layer.embed_dim,
            "vdim": layer.vdim != layer.embed_dim,
            "add_bias_kv": layer.bias_k is not None,
            "add_zero_attn": layer.add_zero_attn,
            "dropout": layer.training and layer.dropout > 0,
        }
        if any(odd.values()):
            names = ", ".join(name for name, is_odd in odd.items() if is_odd)
            calm = ", or call its eval()" if names == "dropout" else ""
            raise ValueError(
                f"{names} of this nn.MultiheadAttention has no counterpart here; use a layer without{calm}."
            )
        width, has_bias = layer.embed_dim, layer.in_proj_bias is not None
        state = {f"out_proj.{name}": parameter for name, parameter in layer.out_proj.named_parameters()}
        for i, name in enumerate("qkv"):
            state[f"{name}_proj.weight"] = layer.in_proj_weight[i * width : (i + 1) * width]  # pyright: ignore[reportArgumentType]  tensors are loaded as well
            if has_bias:
                state[f"{name}_proj.bias"] = layer.in_proj_bias[i * width : (i + 1) * width]  # pyright: ignore[reportArgumentType]  tensors are loaded as well
        ours = cls(width, layer.num_heads, bias=has_bias).to(layer.in_proj_weight)
        ours.load_state_dict(state)
        return ours.train(layer.training)

    def forward(
        self,
        query: Float[Tensor, "*b q c"],
        key: Float[Tensor, "*b k c"] | None = None,
        value: Float[Tensor, "*b k c"] | None = None,
        mask: Tensor | None = None,
    ) -> Attention:
        """Returns `output (b q c)` and `weights (b h q k)`; without a batch, both without b.

        key defaults to query, value to key. The mask, boolean (True takes part) or added to the scores, broadcasts to
        (b h q k): (q k), or (b 1 q k) for one per sequence. A mask (b q k) would broadcast along the heads and raises
        ValueError.
        """
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.ndim == 3 and query.ndim == 3:
            shape = tuple(mask.shape)
            raise ValueError(f"mask {shape} has no axis for the heads; give mask[:, None] for one mask a sequence.")
        q = rearrange(self.q_proj(query), "... q (h d) -> ... h q d", h=self.heads)
        k = rearrange(self.k_proj(key), "... k (h d) -> ... h k d", h=self.kv_heads)
        v = rearrange(self.v_proj(value), "... k (h d) -> ... h k d", h=self.kv_heads)
        grouped = self.kv_heads != self.heads
        context, weights = scaled_dot_product_attention(q, k, v, mask, enable_gqa=grouped)
        return Attention(self.out_proj(rearrange(context, "... h q d -> ... q (h d)")), weights)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, heads={self.heads}, kv_heads={self.kv_heads}"
