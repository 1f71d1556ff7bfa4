"""Implementations: attention as others have published it, on the same weights, and what goes wrong in print."""

from attention.ui.session import page
from attention.ui.views import classroom, implementations

page.show(implementations.view, aside=[classroom.fold(implementations.ASKS)])
