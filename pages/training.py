"""Training: a small model is trained, and its heads are shown as they form."""

from attention.ui.controls import recipe
from attention.ui.session import page
from attention.ui.views import card_bar, classroom, room, training, training_after

page.show(
    training.view,
    recipe.RECIPE,
    below=[training_after.ASKED, training_after.FILES],
    aside=[card_bar.bar(), classroom.button(), room.part()],
)
