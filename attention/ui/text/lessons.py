"""The words of questions and lessons: the dialog that makes them, and the bar of a step."""

LESSON = "Lesson"
PREVIOUS, NEXT, HERE = "Previous", "Next", "Back to this step → {page}"
CLOSE = "Leaves the lesson and keeps the picture."

TITLE = "Class"
PREDICT = "Predict"
READY = "**Ready-made questions** hide the answer on every page until it is revealed."
OWN = "**Your own question**"
OWN_NEXT = "**Your own question** · {count} in the lesson. For the next one, close this dialog and set up its picture."
EDITS = "**Step {number}**"
QUESTION = "Question"
QUESTION_HELP = (
    "Up to {most} characters. The link contains question and answer, encoded, not encrypted: the answer can be decoded."
)
ANSWERS = "Answers, with the right one marked. Leave all empty for an open question."
ANSWER = "Answer {number}"
RIGHT = "Right answer"
NONE = "No right answer"
WHY = "Explanation"
WHY_HELP = "Shown with the answer; up to {most} characters."
HIDES = "Hide pictures"
HIDES_HELP = "Hides the pictures until the answer is revealed. If off, only descriptions of heads are hidden."
SEEN = "What students see"
SEEN_HIDDEN = "The pictures are hidden here."
GUESS = "Your guess"
REVEALED = "After *Reveal answer*"
NO_RIGHT = (
    "No answer is marked as right, so students see “No answer was marked as right” after *Reveal answer*. Mark one, or "
    "leave it open for a discussion."
)
TRY = "Preview question"
TRY_HELP = "Asks the question on this page, as the class sees it. You can end or change it at any time."
COPY_QUESTION = "Copy link with question"
NO_QUESTION = "Nothing was copied: write a question first."
WRONG_QUESTION = "Nothing was copied: see the message below."
LONG_QUESTION = (
    "The link has over {most:,} characters, and some programs cut such links. Shorten the question, or your text, which "
    "is part of the link."
)
LOAD_QUESTION = "Edit this link's question"

MAKE = "**A lesson of several questions**"
MAKE_HELP = (
    "Each step has a question and a picture: the page behind this dialog, with its settings. One link opens the lesson."
)
FIRST = "Add the question to begin a lesson. Then close this dialog, set up the next picture, and open *Class* again."
MORE = "Close this dialog to set up the next picture, then open *Class* again."
NO_STEP = "Write a question first."
ADD = "Add to lesson ({count} of {most})"
SAVE, SAVE_PICTURE, CANCEL = "Save step {number}", "Save with this picture", "Cancel"
SAVE_HELP = "Changes the question and keeps the picture of the step."
SAVE_PICTURE_HELP = "Changes the question, and the picture to the page behind this dialog."
STEP = "**{number} · {page}**{mark}  \n{text}"
UNMARKED = " :orange[· no right answer]"
UP, DOWN, EDIT, REMOVE = (
    "Move step {number} up",
    "Move step {number} down",
    "Edit step {number}",
    "Delete step {number}",
)
COPY = "Copy link of the lesson"
OPEN = "Open as a student"
OPEN_HELP = "Opens the lesson in a new tab."
LENGTH = "The link has {count:,} characters."
LONG = " Some programs cut links of more than {most:,}."
CONTINUE = "Continue a lesson: paste its link"
NO_LESSON = "This is not a link of a lesson."
