"""Training: a small model learns while one watches, and its heads form."""

from attention.ui.controls import recipe
from attention.ui.session import page
from attention.ui.views import classroom, training, training_after

page.show(training.view, recipe.RECIPE, below=[training_after.ASKED, training_after.FILES], aside=[classroom.fold()])
