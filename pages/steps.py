"""Steps: from x to output, one matrix at a time."""

from attention.ui.session import page
from attention.ui.views import own_text, steps

page.show(steps.view, above=[own_text.FIELD])
