"""Model: a language or vision model, run on the user's input, and what each of its heads attends to."""

from attention.ui.controls import prompt
from attention.ui.session import page
from attention.ui.views import model, model_input

page.show(model.view, prompt.PROMPT, model_input.run_link, title=model_input.TITLE, above=[model_input.FIELDS])
