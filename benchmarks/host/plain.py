"""A plain app of the same kind, as one writes it first: a Plotly grid of heads, Altair bars, everything on every run.

What the picture was painted for stands in the figure's `meta`, so that a visitor can tell theirs from another's.
"""

import altair as alt
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
import torch
from plotly.subplots import make_subplots

st.set_page_config(layout="wide")
given = st.query_params
with st.sidebar:
    tokens = int(st.select_slider("Tokens", range(2, 257), int(given.get("tokens", 128)), key="tokens"))
    heads = st.slider("Heads", 1, 16, int(given.get("heads", 8)), key="heads")
    temperature = st.slider("Temperature", 0.05, 20.0, 1.0, 0.05, key="temperature")
    seed = st.number_input("Seed", 0, 9999, int(given.get("seed", 0)), key="seed")

torch.manual_seed(seed)
query, key = torch.randn(2, heads, tokens, 16)
scores = query @ key.transpose(1, 2) / 16**0.5 / temperature
hidden = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)

columns = min(heads, 4)
names = [f"Head {head}" for head in range(heads)]
figure = make_subplots(-(-heads // columns), columns, subplot_titles=names)
for head in range(heads):
    square = go.Heatmap(z=weights[head].numpy(), zmin=0, zmax=1, colorscale="Inferno", showscale=False)
    figure.add_trace(square, head // columns + 1, head % columns + 1)
figure.update_yaxes(autorange="reversed")
figure.update_layout(
    height=500, meta={"painted": f"tokens={tokens}&heads={heads}&temperature={temperature}&seed={seed}"}
)
st.plotly_chart(figure, key="grid")

entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean(-1).numpy()
bars = pd.DataFrame({"head": names, "entropy": entropy.astype(np.float64)})
st.altair_chart(alt.Chart(bars).mark_bar().encode(x="head", y="entropy"), key="entropy")
st.caption(f"{heads} heads of {tokens} tokens, seed {seed}.")
