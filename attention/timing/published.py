"""Published figures of attention on GPUs, as printed, each series with its source; none was measured here.

To add figures, write a `Printed` with its source and conditions, and one line of text per series. Numbers are TFLOP/s as
printed, by the convention of these papers: 4 n² d h b operations forward, half of it with a causal mask, and 2.5 times that
backward. A `*` marks a label that is under a legend and was read through it; `oom` means out of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

TOKENS, WIDTH = 16_384, 2_048  # tokens in total, and heads times d_head, of a series that has no `setting`
LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384)
OUT_OF_MEMORY = "oom"


def operations(length: int, batch: int, width: int, causal: bool, learns: bool) -> float:
    """Floating-point operations of a call as papers count them: 4 n² d h b, half if causal, 3.5 times with the backward pass."""
    return 4.0 * batch * length**2 * width * (0.5 if causal else 1.0) * (3.5 if learns else 1.0)


@dataclass(frozen=True, eq=False)
class Printed:
    """A table or chart of a publication: its GPU, pass, dtype, setting and source.

    `setting`: the sizes, if they differ from those of the other series (b 1, 64 heads of queries …); empty otherwise.
    """

    gpu: str
    passes: str
    dtype: str
    place: str
    address: str
    rows: str
    lengths: tuple[int, ...] = LENGTHS
    setting: str = ""


@dataclass(frozen=True, eq=False)
class Series:
    """One line of a publication: TFLOP/s by length, None if out of memory; `unsure`: lengths read through a legend."""

    printed: Printed
    mask: str
    d_head: int
    method: str
    rates: dict[int, float | None]
    unsure: frozenset[int]

    def seconds(self, length: int) -> float | None:
        """Seconds of a call in the common setting: operations over the rate; None if there is no rate."""
        rate = self.rates.get(length)
        learns = self.printed.passes != "forward"
        count = operations(length, TOKENS // length, WIDTH, self.mask == "causal", learns) if rate else 0.0
        return count / (rate * 1e12) if rate else None


DAO = ("Dao 2023, FlashAttention-2, arXiv 2307.08691", "https://arxiv.org/abs/2307.08691")
SHAH = ("Shah et al. 2024, FlashAttention-3, arXiv 2407.08608", "https://arxiv.org/abs/2407.08608")
CUDNN = "https://github.com/NVIDIA/cudnn-frontend/blob/3929da2e/benchmark/sdpa_benchmark_training/results/h200_919_only_cudnn"
GROUPED = "batch 1, 64 query heads, 8 key-value heads, d_head 128"

PRINTED = (
    Printed("A100", "forward + backward", "float16", f"{DAO[0]}, figure 4", DAO[1], """
full    64   PyTorch            36   40   43   45   46   oom
full    64   FlashAttention     91   92   104  108  110  110
full    64   xformers           68   73   76   77   75   75
full    64   FlashAttention-2   132  153* 162  171  175  176
full    128  PyTorch            53   67   76   79   86   oom
full    128  FlashAttention     76   72   76   80   82   83
full    128  xformers           83   91   95   96   97   98
full    128  FlashAttention-2   151* 173* 187  196  201  203
causal  64   PyTorch            15   16   17   18   18   oom
causal  64   FlashAttention     58   70   77   87   92   97
causal  64   xformers           51   60   66   68   69   67
causal  64   FlashAttention-2   88   119  140  156  165  171
causal  128  PyTorch            23   28   32   32   34   oom
causal  128  FlashAttention     55   62   69   76   80   83
causal  128  xformers           58   72   82   87   91   92
causal  128  FlashAttention-2   99   133  155  173  182  189"""),
    Printed("H100", "forward + backward", "float16", f"{DAO[0]}, figure 7", DAO[1], """
full    64   PyTorch            62   72   81   86   87   oom
full    64   FlashAttention     157  159  161  161  166  168
full    64   FlashAttention-2   215  254  274  288  294  296
full    128  PyTorch            93   120  145  160  167  oom
full    128  FlashAttention     127  127  128  131  137  139
full    128  FlashAttention-2   248  294* 320  326  335  338
causal  64   PyTorch            26   29   31   32   32   oom
causal  64   FlashAttention     104  123  136  138  149  156
causal  64   FlashAttention-2   141  192  232  257  273  284
causal  128  PyTorch            40   50   57   61   63   oom
causal  128  FlashAttention     98   109  108  126  135  137
causal  128  FlashAttention-2   163  221  265  294  308  328"""),
    Printed("H100", "forward", "float16", f"{SHAH[0]}, figure 5", SHAH[1], """
full    64   standard attention 52   63   67   72   73   oom
full    64   FlashAttention-2   282  306  318  321  322  324
full    64   Triton             340  382  396  400  401  403
full    64   cuDNN              335  373  395  408  412  413
full    64   FlashAttention-3   333  392  460  476  496  497
causal  64   standard attention 16   18   18   18   18   oom
causal  64   FlashAttention-2   180  229  262  284  295  299
causal  64   Triton             152  291  342  363  376  363
causal  64   cuDNN              225  288  334  363  379  388
causal  64   FlashAttention-3   197  265  371  420  460  473
full    128  standard attention 74   100  119  133  139  oom
full    128  FlashAttention-2   309  350  362  368  370  370
full    128  Triton             323  372  389  389  392  395
full    128  cuDNN              497* 574* 617  609  600  595
full    128  FlashAttention-3   467  565* 625  638  646  648
causal  128  standard attention 26   31   34   35   35   oom
causal  128  FlashAttention-2   191  260  298  319  333  335
causal  128  Triton             146  273  323  353  369  378
causal  128  cuDNN              315  410  484  518  529  539
causal  128  FlashAttention-3   292  423  521  579  602  616"""),
    Printed("H200", "forward", "bfloat16", "NVIDIA, cudnn-frontend, results of cuDNN 9.19.1 of 2026-02-27", CUDNN, """
causal  128  cuDNN              484  591  644  673  688
full    128  cuDNN              633  671  691  702  693""",
        lengths=(2048, 4096, 8192, 16_384, 32_768), setting=GROUPED),
    Printed("H200", "backward", "bfloat16", "NVIDIA, cudnn-frontend, results of cuDNN 9.19.1 of 2026-02-27", CUDNN, """
causal  128  cuDNN              370  474  541  579  581
full    128  cuDNN              504  560  594  612  572""",
        lengths=(2048, 4096, 8192, 16_384, 32_768), setting=GROUPED),
)  # fmt: skip


def methods(passes: str) -> list[str]:
    """The methods in the publications of a pass, in the order of the publications."""
    found = (each for each in series() if each.printed.passes == passes and not each.printed.setting)
    return list(dict.fromkeys(each.method for each in found))


def together(forward: Series, backward: Series) -> dict[int, float | None]:
    """TFLOP/s of both passes if they were timed separately: all operations over the sum of the times, by length."""
    return {
        n: 3.5 / (1 / one + 2.5 / other) if one and (other := backward.rates.get(n)) else None
        for n, one in forward.rates.items()
    }


@cache
def series() -> tuple[Series, ...]:
    """Returns every published series, in the order of `PRINTED`."""
    return tuple(_parse_series(printed, row) for printed in PRINTED for row in printed.rows.strip().splitlines())


def _parse_series(printed: Printed, row: str) -> Series:
    """Parses one line of a table above."""
    mask, d_head, *rest = row.split()
    count = len(printed.lengths)
    labels = dict(zip(printed.lengths, rest[-count:], strict=True))
    rates = {n: None if label == OUT_OF_MEMORY else float(label.rstrip("*")) for n, label in labels.items()}
    unsure = frozenset(n for n, label in labels.items() if label.endswith("*"))
    return Series(printed, mask, int(d_head), " ".join(rest[:-count]), rates, unsure)
