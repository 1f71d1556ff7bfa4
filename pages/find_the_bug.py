"""Find the bug: a series of mistakes in code of attention, each to be found by its maps and its lines."""

from attention.ui.controls import bug_series
from attention.ui.session import page
from attention.ui.views import find_the_bug

page.show(find_the_bug.view, bug_series.BUGS)
