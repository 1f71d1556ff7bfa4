"""The rule of a config as code to take away: a mask_mod for flex_attention, and a dense boolean tensor.

Both come from the rule's own source; a test checks that both give the square on the screen.
"""

from __future__ import annotations

import ast
import textwrap

from attention.config import Config
from attention.steps.program import condition

INDICES = {"q": "q_idx", "k": "kv_idx"}


def mask_mod(config: Config) -> str:
    """A program with the rule as `mask_mod`, and attention by blocks of it (Dong et al. 2024, section 3.2)."""
    return textwrap.dedent(f"""\
        import torch
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        n, span = {config.tokens}, {config.span}

        def mask_mod(b, h, q_idx, kv_idx):
            return {_renamed(condition(config))}

        def attention(query, key, value):  # (batch, heads, n, d_head)
            block_mask = create_block_mask(mask_mod, None, None, n, n, device=query.device)
            return flex_attention(query, key, value, block_mask=block_mask)
        """)


def dense(config: Config) -> str:
    """A program with the rule as `mask (n n)`, True where the query at q takes the key at k into account."""
    return textwrap.dedent(f"""\
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        n, span = {config.tokens}, {config.span}
        q, k = torch.arange(n)[:, None], torch.arange(n)[None, :]
        mask = {condition(config)}

        def attention(query, key, value):  # (batch, heads, n, d_head)
            return scaled_dot_product_attention(query, key, value, attn_mask=mask)
        """)


def _renamed(expression: str) -> str:
    """The expression with the index names that flex_attention uses."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = INDICES.get(node.id, node.id)
    return ast.unparse(tree)
