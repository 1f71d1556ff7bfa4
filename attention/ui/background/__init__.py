"""What goes on in the background while pages look on: one kind of task, with progress, pause, cancel and a place in line.

`task` says what a task is and what becomes of it, `line` who runs when, `pace` how long it will still take; none of these knows
Streamlit. The kinds are the maps of long sequences (`maps`, made of `vectors`), sweeps of timings (`sweeps`, in a `process`
of their own), `trainings` of small models and `readings` of other people's; `attention/ui/views/background.py` shows any of them.

A new kind is a class with a `run`:

    class Counting(Task):
        def run(self) -> None:
            for step in range(self.done, STEPS):
                if self.stop():  # paused, cancelled, or nobody looks any more: what is done stays for the next run
                    return
                ...
                self.progress((step + 1) / STEPS)

    task = HEAVY.ask(Counting, settings, visitor)  # by every look of a page: whoever no longer asks has left

Heavy work of all kinds has one line, `line.HEAVY`: a map and a sweep at the same time would take each other's time, and what
the sweep measures would be wrong. What a run waits for it hands to a lane of its own (attention/machine/lanes.py), as `maps`
does; the lanes of passes are not for what takes longer than a picture.
"""
