"""Model: a language model or one that sees, run on what one types, and what each of its heads attends to."""

from attention.ui.controls import prompt
from attention.ui.session import page
from attention.ui.views import model, model_input

page.show(model.view, prompt.PROMPT, above=[model_input.FIELDS])
