"""Work in the background while pages show its progress: jobs with progress, pause, cancel and a place in one queue.

`job` defines a job and its states, `job_queue` who runs when, `pace` how long it will still take; none of these knows
Streamlit. The kinds are maps of long sequences (`map_jobs`, with their `vectors`) and of two compared
(`difference_jobs`), timings (`timing_jobs`, in a
`timing_process` of their own), `training_jobs` of small models, `model_jobs` of other people's models, `study_jobs` that
change these while they run, and `survey_jobs` that let them read many texts;
`attention/ui/views/job_status.py` shows any of them.

A new kind is a class with a `run`:

    class Counting(Job):
        def run(self) -> None:
            for step in range(self.done, STEPS):
                if self.should_stop():  # paused, cancelled, or no viewer left: what is done stays for the next run
                    return
                ...
                self.progress((step + 1) / STEPS)

    job = JOBS.request(Counting, settings, visitor)  # repeated by every rerun of a page: a visitor who stops asking has left

All heavy work shares one queue, `job_queue.JOBS`: a map and a timing at the same time would slow each other, and the
timing would be wrong. A run submits what it waits for to an executor of its own (attention/runtime/executors.py), as
`map_jobs` does; the executors of passes are for work that is as short as a picture.
"""
