"""What goes on in the background while pages look on: one kind of task, with progress, pause, cancel and a place in line.

`task` says what a task is and what becomes of it, `line` who runs when, `pace` how long it will still take; none of these knows
Streamlit. The kinds are the maps of long sequences (`maps`) and sweeps of timings (`sweeps`, in a `process` of their own);
`attention/ui/views/background.py` shows any of them.

A new kind is a class with a `run`, and a line for it (or that of another kind):

    class Training(Task):
        def run(self) -> None:
            for step in range(self.done, STEPS):
                if self.stop():  # paused, cancelled, or nobody looks any more: what is done stays for the next run
                    return
                ...
                self.progress((step + 1) / STEPS)

    LINE = Line(1, Lane("training", 2, 1).submit)
    task = LINE.ask(Training, settings, visitor)  # by every look of a page: whoever no longer asks has left

A thread of a line may wait for lanes of lower ranks only (attention/machine/lanes.py), and the lanes of passes are not for
what takes longer than a picture.
"""
