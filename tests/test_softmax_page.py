"""The Softmax page, its controls driven: topics, focus, order, one click to no scaling, predict and reveal."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pyarrow as pa
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.analysis.number_types import limits
from attention.analysis.position_curves import MODELS
from attention.analysis.row_stages import stages, variants
from attention.codec import from_query, to_query
from attention.heads import row_entropy
from attention.inputs import BEFORE
from attention.number_format import format_mean, format_percent
from attention.sources import constructed
from attention.ui.views import softmax, softmax_all, softmax_row
from tests import drawings, test_pages
from tests.strategies import query_without_edition
from tests.test_pages import is_answer_shown, page_text, reveal

PAGE = Path(__file__).parents[1] / "pages" / "softmax.py"
EDGES = [
    {"tokens": "2", "heads": "1", "d_model": "1"},
    {"mask": "padding", "span": "18", "softmax": "plus one"},
    {"scale": "none", "temperature": "0.05", "d_model": "2048", "heads": "4"},
    {"softcap": "0.1", "temperature": "20.0", "positions": "alibi", "kv_heads": "2"},
    {"heads": "32", "tokens": "200", "mask": "window"},
]
TOPICS = {
    "row": ["stages", "mass", "variants"],
    "all": ["sizes", "entropies"],
    "scaling": ["curve variance", "curve entropy", "curve greatest", "curve jacobian"],
    "precision": ["worst"],
    "positions": ["wavelengths", "scores"],
}


FOLDS = ("row steps", "row mass", "row variants")


def run(page: Path, query: dict[str, str]) -> AppTest:
    """The page with all expanders of a row open."""
    return test_pages.run(page, query, dict.fromkeys(FOLDS, True))


def tables(test: AppTest) -> list[dict[str, list]]:
    """The data of every Vega chart on the page."""
    found = []
    for chart in test.get("vega_lite_chart"):
        for held in [chart.proto.data, *(each.data for each in chart.proto.datasets)]:
            if held.data:
                found.append(pa.ipc.open_stream(io.BytesIO(held.data)).read_all().to_pydict())
    return found


def words(test: AppTest) -> str:
    return "\n".join(text.value for text in [*test.markdown, *test.caption]) + page_text(test)


def test_the_finding_says_what_a_row_adds_up_to():
    says = {"standard": "all shares add up to 100%", "sink": "goes to no key", "sigmoid": "weighed by itself"}
    assert all(said in words(run(PAGE, {"softmax": name})) for name, said in says.items())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("query", EDGES, ids=lambda query: " ".join(f"{k}={v}" for k, v in query.items()))
def test_every_topic_stands_any_setting(topic, query):
    test = run(PAGE, query | ({} if topic == "row" else {"topic": topic}))
    assert not test.exception
    assert not test.warning
    fewer = 0
    if topic == "positions":  # a head of one channel has no pair, and of a bias there is one chart
        fewer = 2 if query.get("d_model") == "1" else query.get("positions") == "alibi"
    assert len(tables(test)) == len(TOPICS[topic]) - fewer
    if query.get("mask") == "padding" and topic in ("row", "all"):
        assert "fully masked" in page_text(test)


def test_the_controls_move_the_link_and_the_row():
    test = run(PAGE, {})
    test.selectbox(key="head").set_value(3).run()
    test.selectbox(key="query").set_value(9).run()
    test.segmented_control(key="order").set_value("weight").run()
    assert query_without_edition(test.query_params) == {"head": "3", "query": "9", "order": "weight"}
    config = Config(head=3, query=9)
    assert tables(test)[0]["weights"] == trace(config).weights[3, 9].tolist()
    assert tables(test)[0]["place"] != list(range(18))
    assert f"Entropy: {float(row_entropy(trace(config).weights)[3, 9]):.3f} nats" in words(test)
    test.segmented_control(key="topic").set_value("precision").run()
    test.segmented_control(key="dtype").set_value("float16").run()
    test.segmented_control(key="exponent").set_value("naive").run()
    assert not test.exception
    assert test.query_params["dtype"] == "float16"
    assert "float16, naive: stored scores" in words(test)


def test_no_scaling_is_one_click_away_and_back():
    test = run(PAGE, {"topic": "scaling", "temperature": "4.0"})  # which scales too
    assert "times 0.03125" in words(test)
    test.button(key="unscale").click().run()
    assert test.query_params["scale"] == "none"
    assert test.selectbox(key="scale").value == "none"
    assert "times 1 (scale" in words(test)
    test.button(key="unscale").click().run()
    assert query_without_edition(test.query_params) == {"topic": "scaling"}


def test_a_picture_of_anything_but_the_weights_has_no_proof_of_them():
    for topic in TOPICS:
        test = run(PAGE, {"topic": topic})
        said = " ".join(each.value for each in test.markdown)
        assert ("Checked: " in said) == (topic in ("row", "all")), topic
        look = str(softmax.TITLE.look(Config(topic=topic)))
        assert ("Random noise" in look, "built, not learned" in look) == (topic == "scaling", topic != "scaling"), topic


def test_what_is_said_of_every_width_is_what_the_curves_have():
    """The narrowest heads too, whose heaviest key takes less."""
    test = run(PAGE, {"topic": "scaling"})
    drawn = tables(test)[0]
    divided = [each for kind, each in zip(drawn["kind"], drawn["greatest"], strict=True) if kind == "1/sqrt(d_head)"]
    least, most, ends = min(divided), max(divided), (min(drawn["d_head"]), max(drawn["d_head"]))
    assert f"between {least:.1%} and {most:.1%} from {ends[0]} to {ends[1]:,} channels" in words(test)


def test_the_temperature_moves_the_mark():
    test = run(PAGE, {"topic": "scaling"})
    before = {name: column[-1] for name, column in tables(test)[0].items()}
    test.slider(key="temperature").set_value(4.0).run()
    after = {name: column[-1] for name, column in tables(test)[0].items()}
    assert before["kind"] == after["kind"] == "now"
    assert after["variance"] == pytest.approx(before["variance"] / 16)
    assert after["entropy"] > before["entropy"]
    assert {k: v[:-1] for k, v in tables(test)[0].items()} == {
        k: v[:-1] for k, v in tables(run(PAGE, {"topic": "scaling"}))[0].items()
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("temperature=3.0", "more evenly"),
        ("temperature=0.3", "on fewer keys"),
        ("", "on fewer keys"),
        ("scale=none&temperature=8.0", "as before"),
        ("scale=none", "on fewer keys"),
    ],
)
def test_the_answer_is_hidden_until_it_is_asked_for(query, answer):
    """What goes to the browser before is the row as it would be at another setting, and nothing else."""
    setting = dict(parse_qsl(query))
    test = run(PAGE, setting | {"predict": "temperature"})
    given = tables(test)
    assert len(given) == 1
    assert given[0]["weights"] == trace(Config(temperature=1.0 if query else 4.0)).weights[0, -1].tolist()
    assert not test.get("plotly_chart")
    assert "the entropy" not in words(test).lower()
    guess = next(control for control in [*test.button_group, *test.radio] if control.label == "Your guess")
    guess.set_value("as before").run()
    reveal(test)
    assert f"**{answer}.**" in "\n".join(each.value for each in [*test.info, *test.success, *test.error])
    assert bool(test.success) == (answer == "as before")
    assert len(tables(test)) == len(TOPICS["row"])
    assert query_without_edition(test.query_params) == setting | {"predict": "temperature"}


def test_another_setting_closes_the_question_again():
    test = run(PAGE, {"predict": "row", "temperature": "2.0"})
    assert "weights" not in tables(test)[0]
    assert "set" not in tables(test)[0]
    reveal(test)
    top = float(trace(Config(temperature=2.0)).weights[0, -1].max())
    assert f"gets {format_percent(top)}" in "\n".join(each.value for each in [*test.info, *test.success, *test.error])
    test.slider(key="temperature").set_value(5.0).run()
    assert not is_answer_shown(test)
    assert len(tables(test)) == 1
    test.button(key="end").click().run()
    assert query_without_edition(test.query_params) == {"temperature": "5.0"}
    assert len(tables(test)) == len(TOPICS["row"])


def test_the_rest_of_a_row_is_folded():
    assert tables(test_pages.run(PAGE, {})) == [], "what is not seen is not sent"


def test_specifications_carry_no_data():
    for chart in run(PAGE, {}).get("vega_lite_chart"):
        assert "values" not in json.dumps(json.loads(chart.proto.spec).get("data", {}))


@pytest.mark.parametrize(
    ("query", "rows"), [({"scale": "none"}, "all rows are NaN"), ({"scale": "none", "temperature": "4.0"}, None)]
)
def test_errors_say_of_how_many_rows_they_are(query, rows):
    """float16's exp ends at 11: naive, all rows break, or those whose logits are greater."""
    test = run(PAGE, query | {"topic": "precision", "dtype": "float16", "exponent": "naive"})
    types = test.dataframe[0].value
    config = Config(scale="none", temperature=float(query.get("temperature", 1)))
    broken = int((trace(config).logits[0] > limits("float16").overflows).any(-1).sum())
    line = types[(types["dtype"] == "float16") & (types["exponent"] == "naive")].iloc[0]
    assert line["broken"] == broken
    for name in ("error", "row_sum"):
        assert line[name] == rows or line[name].endswith(f" ({18 - broken} of 18 rows)")
    assert (broken == 18) == (rows is not None)
    assert all("rows" not in error for error in types["error"][:5])
    assert f"{broken} of 18 rows are NaN" in words(test)


def test_what_16_bits_break_is_shown_beside_what_fused_kernels_compute():
    """Scores beyond 65,504: materialised in float16 a row is no number, kept in float32 every row is one."""
    large = {
        "input": "sink",
        "heads": "1",
        "d_model": "2048",
        "scale": "none",
        "temperature": "0.05",
        "projections": "tied",
    }
    test = run(PAGE, large | {"topic": "precision", "dtype": "float16"})
    assert "float16, max-subtracted: stored scores" in words(test)
    assert "1 of 18 rows are NaN: logits that overflowed in float16" in words(test)
    assert "Fused, with float32 scores: no NaN" in words(test)
    types = test.dataframe[0].value
    assert np.asarray(types[types["dtype"] == "float16"][["exponent", "broken"]]).tolist() == [
        ["max-subtracted", 1],
        ["naive", 18],
        ["fused", 0],
    ]
    test.segmented_control(key="exponent").set_value("fused").run()
    assert "float16, fused: float32 scores" in words(test) and "are NaN" not in words(test)


def score_message(test: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    """The header of the row whose scores can be dragged, and its logits."""
    (found,) = (each.proto for each in test.get("bidi_component") if each.proto.component_name.endswith("score_bars"))
    header = drawings.header(found.bytes)
    return header, np.frombuffer(found.bytes, "<f4")[-len(header["names"]) :]


def test_the_scores_of_a_row_can_be_dragged_first():
    """The browser gets the logits and all that the weights follow from; a test in a browser compares these."""
    header, logits = score_message(run(PAGE, to_query(Config(head=4))))
    row = stages(trace(Config(head=4)))
    assert logits.tolist() == row.logits.tolist() and header["key"] == row.heaviest == 17
    assert header["names"][7] == "“boat” (7)" and header["tokens"][17] == "boat" and header["ends"] == [-0.5, 21]
    assert header["form"] == {"kind": "softmax", "power": 1, "sink": None} and header["places"] == [*range(18)]
    assert header["changes"] == ["scaled", "logits"]
    header, logits = score_message(run(PAGE, {"head": "4", "softmax": "entmax-1.5", "order": "weight", "query": "5"}))
    assert header["form"] == {"kind": "threshold", "power": 2, "sink": None}
    assert header["places"][header["key"]] == 0 and np.isneginf(logits[6:]).all()
    query = {"softmax": "plus one", "scale": "none", "mask": "full", "softcap": "20", "positions": "alibi"}
    header, _ = score_message(run(PAGE, query))
    assert header["form"]["sink"] == 0 and header["changes"] == ["capped", "biased"]
    kind = score_message(run(PAGE, {"softmax": "sigmoid", "sigmoid_length": "8"}))[0]["form"]
    assert kind == {"kind": "sigmoid", "power": 1, "sink": pytest.approx(math.log(8))}


def test_every_other_softmax_of_a_row_is_described_with_its_numbers():
    found = stages(trace(Config(head=6, sink_logit=2.0)))
    said = {name: softmax_row.variant_sentence(found, name, each) for name, each in variants(found).items()}
    lost = 1 - float(variants(found)["sink"].double().sum())
    assert 0.5 < lost < 0.95 and said["sink"] == (
        f"**Sink**: one more number in the denominator, of no key, takes {format_percent(lost)}; "
        f"the row sums to {format_mean(1 - lost)}."
    )
    assert "all of the row goes to keys" in said["softmax"] and "no logit exceeds 50" in said["softcap 50"]
    assert "after 2.77 is subtracted from its logit (ln 16)" in said["sigmoid"]
    support = int((variants(found)["sparsemax"] > 0).sum())
    assert f"{support} of 18 visible keys" in said["sparsemax"]


def test_a_fully_masked_row_has_no_score_to_drag():
    header, logits = score_message(run(PAGE, {"combine": "without", "second": "window", "span": "3", "query": "1"}))
    assert header["key"] is None and header["ends"] == [-0.5, 1] and np.isneginf(logits).all()


YARN = {"positions": "rotary", "rotary_scaling": "yarn", "rotary_base": "1000000.0", "rotary_length": "32768"}


def metrics(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def test_what_yarn_does_at_a_distance_is_shown_with_its_attention_factor():
    test = run(PAGE, YARN | {"topic": "positions", "d_model": "1024"})
    assert metrics(test) == {
        "Attention factor": "1.1386",
        "Rotated scores ×": "1.2965",
        "Score at 20,000": "0.450",
        "Pairs at new angles": "0 of 64",
    }
    assert "Rotated as in training: pairs 0 to 23. Rotated 4 times more slowly" in words(test)
    assert "to them what 5,000 was in training: pairs 40 to 63. In between: pairs 24 to 39. Both ends" in words(test)
    assert "attention factor, **1.1386**, so rotated scores by its square, **1.2965**" in words(test)
    test.number_input(key="distance").set_value(100_000).run()
    assert metrics(test)["Pairs at new angles"] == "0 of 64" and "24 without the scaling" in words(test)
    assert query_without_edition(test.query_params)["distance"] == "100000"


def test_every_model_is_loaded_by_its_button():
    for model in MODELS:
        test = run(PAGE, {"topic": "positions"})
        test.button(key=f"model {model.title}").click().run()
        assert not test.exception
        config, notes = from_query(test.query_params)
        assert notes == [] and config.d_head == model.d_head
        assert {name: getattr(config, name) for name in model.knobs} == model.knobs
    assert {model.title for model in MODELS} >= {"Llama 3.1 8B", "Qwen2.5 7B + YaRN", "gpt-oss 20B", "BLOOM 560M"}


def test_a_source_that_is_turned_already_says_so():
    test = run(PAGE, {"topic": "positions", "source": "recorded:smollm2-street", "v": "3"})
    assert "include their positions already" in words(test)
    assert test.number_input(key="rotary_length").disabled


def test_all_rows_say_which_heads_are_most_and_least_concentrated():
    """By the mean entropy of all rows, as in the table of heads; as always where rows are no distributions."""
    config = Config(tokens=12, heads=4, d_model=32, topic="all")
    weights = trace(config).weights.double()
    means = torch.special.entr(weights).sum(-1).mean(-1)
    sharp, even = int(means.argmin()), int(means.argmax())
    said = f"Head {sharp} concentrates its weights most (mean entropy {means[sharp]:.3f} nats), head {even} least"
    assert softmax_all.finding(config) == f"{said} ({means[even]:.3f})."
    assert "Rows of head 0 have a mean entropy of" in softmax_all.finding(replace(config, heads=1))
    assert softmax_all.finding(replace(config, softmax="sigmoid")) == ""


def test_the_badge_says_so_if_the_head_of_the_row_is_the_random_one_among_hand_built_heads():
    config = Config(projections="constructed", heads=8, d_model=512)
    random = [head for head in range(8) if "is random" in softmax._beside(replace(config, head=head))]
    assert random == [head for head in range(8) if constructed.random(head)] and random
    for topic in ("all", "scaling"):  # not of a single head
        assert "is random" not in softmax._beside(replace(config, head=random[0], topic=topic))
    differential = replace(
        config, softmax="differential", head=random[0]
    )  # its two softmaxes: an even and a random one
    assert "is random" not in softmax._beside(differential)
    assert "each of the two softmaxes of a head" in softmax.provenance.full_text(differential)
    learned = replace(config, input=BEFORE)  # the last of each eight has a rule there
    assert "random" not in softmax.provenance.full_text(learned)
