"""Implementations: attention as others have published it, on the same weights, and what goes wrong in print."""

from attention.ui.session import page
from attention.ui.views import classroom, implementations, own_text

page.show(implementations.view, above=[own_text.FIELD], aside=[classroom.fold(implementations.ASKS)])
