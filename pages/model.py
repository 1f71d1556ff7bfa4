"""Model: a language model or one that sees, run on what one types, and what each of its heads attends to."""

from attention.ui.controls import reading
from attention.ui.session import page
from attention.ui.views import model, model_input

page.show(model.view, reading.READING, above=[model_input.FIELDS])
