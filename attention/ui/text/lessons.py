"""The words of lessons: the section that makes one, and the bar of a step."""

LESSON = "Lesson"
PREVIOUS, NEXT, HERE = "Previous", "Next", "Back to this step → {page}"
CLOSE = "Leaves the lesson and keeps the picture."
SEEN = "What students see"
REVEALED = "After *Reveal answer*"
NO_RIGHT = (
    "No answer is marked as right, so the link has none: students see “No answer was marked as right” after *Reveal "
    "answer*. Mark one, or leave it open for a discussion."
)
MAKE = "A lesson of several questions"
MAKE_HELP = (
    "Each step keeps its page and settings, as they are when it is added, and its question. One link opens the first."
)
ADD = "Add question and picture ({count} of {most})"
REMOVE = "Removes this step."
STEP = "{number} · {page}: {text}"
COPY = "Copy link of the lesson"
LENGTH = "The link has {count:,} characters."
LONG = " Some programs cut links of more than {most:,}."
EMPTY = "Nothing was copied: add a question first."
