"""The words of the Timing page that belong to no single chart."""

LINES = "What this server measures, line by line"
HOW = "How it is measured"
PUBLISHED = "CPU against GPU at the sizes of published figures"
SIZES_LABEL = "Shape and CPU"
SIZES = ("16 heads of 64, 16-core CPU", "8 heads of 64, 2-core CPU", "Published sizes, 2-core CPU", "Your own")
SIZES_HELP = "Sizes that were timed. The CPU is that of the recording. A GPU decodes in bfloat16 alone."
NUMBERS = "Numbers and sources"
METHOD = """
- **A whole call** is timed, with the memory that it allocates. Inputs and masks are made before, code is compiled before, and a
  GPU is synchronised before the clock is read.
- **The minimum** is drawn, because other load only adds time. Recorded times of 8 heads of 64, and of forward passes at the
  published sizes, are drawn as medians instead, because the recording of the 2-core CPU has only these.
- **Rounds in random order** visit every case, until three quiet visits agree within 10%. Otherwise the time
  is unstable: its mark is open.
- **The copy** brings q, k and v from ordinary memory to the device, and all results back. For published GPUs it is assumed.
  From the recorded H100, results of 34 MB or more come back at 1.2 to 1.8 GB/s, those of 1 to 17 MB at 8 to 16 GB/s.
- **Operations** are those of the products: 4 b h n² d for a forward pass, half of that if masked pairs are skipped.
"""

# A measurement on this server, or in the browser.
YOURSELF = "Measure it yourself"
YOUR_GPU = "Your GPU, in this browser"
TO_YOURS = "[Measure yours ↓](#{anchor})"
THIS_SERVER = {False: "The CPU of this server", True: "This server"}  # whether it has other devices
MEASURE = "Measure here"
RESULT = "{finding} [See it in the chart ↑](#{anchor})"
LEAVING = "The measurement ends {seconds:g} seconds after its last viewer leaves this page."
FINISHED = "Finished cases are kept. {leaving}"
NO_MEASURING = "{why} Recordings can still be shown."
ABSENT = "This server does not have these devices: {absent}. It has {present}. Choose other devices, or none to use them all."
PRESENT = "{key} ({name})"
ESTIMATE = "Runs {what} on {devices} ({count} CPU {threads}), for {seconds:g} seconds at most."
SEVERAL_CASES, ONE_CASE_EACH = "up to {cases} of sizes and implementations", "{name} at {count} lengths"
THREAD, THREADS = "thread", "threads"
COUNT = "{count:,} {cases}"
CASE, CASES = "case", "cases"
STATES = {
    "waiting": "{why}",
    "running": "Measuring: {cases} so far.",
    "done": "Measured {cases}.",
    "left": "Ended {seconds:g} seconds after the last viewer left; {cases} {kept}.",
    "cancelled": "Cancelled; {cases} {kept}.",
    "failed": "{what}. {said}",
}
ONE_AT_A_TIME = "This server runs one measurement or map at a time.{held}"
HELD_FIRST = " The first waits for a measurement of another program on this server."
HELD = "Waiting for a measurement of another program on this server. The time budget starts after that."
NOT_MEASURED, BROKE_OFF = "Not measured", "Measuring failed"
CASE_KEPT, CASES_KEPT = "was measured and is kept", "were measured and are kept"
MEASURED = "Measured here {ago}: {cases}.{rest}"
JUST_NOW = "less than a minute ago"
MINUTES_AGO = "{count} {minutes} ago"
MINUTE, MINUTES = "minute", "minutes"
HOURS_AGO = "{hours:.0f} hours ago"
LOOSE = " {count} did not become stable: the server was busy, or the time budget was short. Fewer lengths leave more time each."
FAILED = " {count} without a time: {why}."
NOT_STARTED = " {count} {were} not started{why}."
NOT_SUPPORTED = " {count} {were} skipped, as torch does not support {them} here: {names}."
IT, THEM = "it", "them"
WAS, WERE = "was", "were"
TIME_UP = " before the time was up"
NO_GPU = (
    "This server has no GPU, and there is no recording of one with these settings{here}. On a machine with a GPU, run "
    "`{command}` and open its file under *Recordings* below; its lines are then shown {where}."
)
ONLY_CPU = ": only the CPU is measured"
WITH_THESE, HERE = "with these", "here"

OTHERS = "Results for each setting"
SEVERAL = "The headline is for {setting}. The others are below the chart, in “Results for each setting”."
OF_BOTH = "Only {setting} was timed on a CPU and a GPU. The others are below the chart, in “Results for each setting”."
ONE_COMBINATION = "*Break-even* draws one combination of the selected values."
DECODER = "A decoder keeps keys and values on the GPU, so that it needs no such copy."
NOT_TIMED = " Not timed: {values}."

# CPU against GPU.
PICTURES = {
    "break-even": "Break-even",
    "time": "Time",
    "times faster": "As a ratio",
    "rate": "Rate",
    "limits": "Limits",
}
PICTURES_HELP = (
    "Time: per call. As a ratio: the CPU's time divided by the GPU's. Rate: operations per second. Limits: the rate and the most "
    "that a device can do."
)
WHY_COPY = "Why the copy costs that much:"
ABOUT = {
    "break-even": "Lower is faster; both axes are logarithmic.",
    "time": "Lower is faster; both axes are logarithmic.",
    "times faster": "Above 1, the GPU is faster. The CPU's time divided by the GPU's, at each common length.",
    "rate": (
        "Higher is faster. Operations per second against length, counted as in the FlashAttention papers: 4 b h n² d forward, "
        "half of that with a causal mask, 3.5 times with the backward pass."
    ),
    "limits": (
        "Grey is the most that a device can do, a GPU by its data sheet: memory is the limit on the slope, arithmetic on the "
        "flat part. Operations per byte: how much a call computes for each byte that it must read or write."
    ),
}
CAPTION = "{about} Longer sequences are in smaller batches: each call has 16,384 tokens."
MARKS = (
    "{apart}{published} A colour and a mark are a device: circles a recorded CPU, triangles this server, squares a GPU alone, "
    "diamonds a GPU with the copy, stars a GPU in a browser. Dotted lines with thin marks were published by others. Open marks "
    "on dotted lines are unstable times."
)
APART = "{device} was timed at other sizes ({sizes}) and has rates only. "
USE = "Use these settings"
USE_HELP = "Sets the sidebar to the CPU of this chart. *Measure here* then measures it."
VERSUS_ALT = "Lines: {about} {answer}"
NO_RATIO = "No ratio yet: it needs one CPU and one GPU timing."
QUOTED = "Published figures are quoted as printed. They were not measured by this app."
VERSUS_COLUMNS = {  # labels of the numbers in the table
    "tokens": "tokens",
    "ms": "ms",
    "TFLOP/s": "TFLOP/s",
    "times as fast as the CPU": "times the CPU",
    "with transfer": "with copy",
}
CSV = "CSV"

# The visitor's own GPU.
ONLY_FORWARD = "The browser measures forward passes. Choose the pass “forward” to measure your GPU."
UNUSABLE = "The measurement can't be used. {why}"
HOW_YOURS = "How your GPU was measured"
SAVE = "Save as a recording"
KEPT = (
    "These timings are kept for this visit only and are not part of a link. Save them as a recording, which can be opened "
    "below."
)

SETTINGS = "Settings: {masks} mask, {dtypes}, {passes}."
AND = " and "

# The charts and tables.
OPEN = "Open marks, on dotted lines, are unstable times: visited less than three times, or not within 10%. "
CHARTS = {  # in the order in which they are offered; the first sentence says how to read a chart, the others are its help
    "break-even": "Lower is faster; both axes are logarithmic. {crossing}{open}",
    "time": (
        "Lower is faster; the steeper a line, the faster its time grows. Time per call against length, both axes logarithmic: "
        "{drawn} the band reaches up to the upper quartile. {open}A line with a name has a colour and a mark of "
        "its own; a pale one has the colour of its device."
    ),
    "speed-up": (
        "Above 1, a line is faster than {base}. How many times as fast, {drawn}, with "
        "a band for the uncertainty of both. Attention is compared with attention, layers with layers. A star marks the length "
        "from which it is faster. {open}"
    ),
    "memory": (
        "Lower is less memory; the steeper a line, the faster it grows. Peak memory of a call beyond its inputs: from torch's "
        "allocator on an accelerator, from the process's resident size on a CPU (to about 1 MiB). A busy machine does not change "
        "it."
    ),
    "transfer": (
        "Each bar is a whole call: computing is green, copying is orange and yellow. It shows if a GPU pays where data must "
        "be copied to it first. Copying q, k and v to the device, and the results back. Faded bars are unstable times."
    ),
    "roofline": (
        "Grey is the measured limit of a device: its memory on the slope, its arithmetic on the flat part. "
        "A short text is far below it, as it does not fill the device. A point can be above the slope, as a cache is faster than "
        "the copy. The limits are the copy speed, and the speed of the fastest matrix product, both measured in the same run "
        "and precision. {open}"
    ),
}
CROSSING = "A ring marks where the GPU with the copy becomes faster. "
BETWEEN = "A band marks the two lengths between which the GPU with the copy becomes faster. "
FLAT_LIMIT = "Grey is the measured limit of a device, here the speed of its memory. {open}"
AT_MOST = {  # about the open marks or faded bars of a chart, if each time is a minimum
    "time": "Open marks: on an idle machine a call takes at most that long.",
    "roofline": "Open marks: on an idle machine a call is at least that fast.",
    "transfer": "The shares of faded bars are rough.",
}
WITHOUT_COPY = "Times of a GPU are without the copy to it: see *Copy*."
ABOVE_LIMIT = (
    "Above the grey line, a cache of {machine} holds the data; it is faster than the memory whose limit is drawn."
)
ONE_INTENSITY = "Each call computes about as much for each byte that it reads, so memory is the limit at every length."
ARITHMETIC = "Arithmetic is the limit at all lengths here, not memory."
PER_BYTE = "Operations per byte: how much a call computes for each byte that it must read or write."
LEFT_OUT = "Not drawn: {lengths}, timed on one of the two only."
BY_LENGTH = "Each mark is one length, from {first:,} tokens at the left to at most {last:,} at the right."
GLOSS, GLOSSES = "{name}: {gloss}", "{glosses}."
N_BY_N = "The grey line n × n is a reference, not a measurement: one matrix of n × n numbers per head."
PALE_LINES = "Pale lines are other code, some of it whole layers; hover or tap for their names."
EVERY_LINE = "Stable times at {length:,} {unit}, sorted by the first machine. Fastest: {fastest}."
FASTEST = "{line} on {machine}"
SQUARE = "Lower is faster. For twice the text attention has 4 times the operations."
GROWN = "Lower is faster. {growth}"
WHY_GROWN = (
    "Time grows less than the operations if part of it is fixed, and more if the device computes fewer operations per second "
    "(see *Limits*)."
)
MEDIANS = "The times of {machine} are medians, as the recorded CPU has no minimums; the others are minimums."
TOKENS, KEYS = "tokens", "keys"
QUICKEST = {  # the statistic that is drawn for each case
    "time": "the line is the minimum, as other load only adds time;",
    "speed-up": "minimum over minimum",
}
MEDIAN = {"time": "the line is the median,", "speed-up": "median over median"}  # for recordings without a minimum
LINES_ALT, BARS_ALT = "Lines: {chart}", "Bars: {chart}"
SAME_CODE = "the same code on the CPU"  # the base of ratios, unless it is an implementation
CHART = "Chart"
CHART_NAMES = {
    "break-even": "Break-even",
    "time": "Time",
    "speed-up": "Time",
    "memory": "Memory",
    "transfer": "Copy",
    "roofline": "Limits",
}
AS_RATIO = "As a ratio"  # of times, instead of the times
LIMITS = "Bounds by data sheet"
LIMITS_HELP = (
    "The least time that a GPU can take: its operations at the peak rate of its data sheet, or its bytes at its memory's "
    "bandwidth, whichever takes longer, and 3 µs to launch one kernel. No GPU was measured for it."
)
WHICH_LINES, ALL_LINES, MOST_LINES = "Choose what is shown", "Show all", "Show up to {most}"
ANY, USUAL = "Any", "Those of the first lines"  # of a choice of lines in which nothing is chosen
NO_LINE = "No line matches this selection."
SOME_LINES = "Showing {drawn} of the {count:,} that were timed."
OTHER_LINES = " Not drawn: {names}. Use *Choose what is shown* above the chart."
MORE_VALUES = "{names} and so on"
NO_COUNTERPART = "Not drawn, as there is no time to divide: {names}."
AGAINST = "Times as fast as"
TRANSFER = "Count the copy"
BREAK_EVEN, GROWTH, EVERY_CASE = "Break-even length", "Growth", "Every case"
PNG = "PNG: point at the chart, or tap it, and use the camera button above it."
NO_PAIR = "No selected setting was timed on both a CPU and another device."
MORE_PAIRS = "{count:,} more pairs are not listed. Use *Choose what is shown* above the chart."
GROWTH_COLUMNS = ("line", "time for twice the length", "exponent of the length", "fitted over")
TIMES = "{factor} times"
NO_EXPONENT, LINES_COUNT = "No exponent for {lines}: {reason}.", "{count:,} lines"

# Recordings.
RECORDINGS = "Recordings: timings from another machine"
RECORD = (
    "This command records the sweep of this page on every device of another machine. Open the file here to add its lines to the "
    "charts."
)
RECORDING_FILES = "Recordings (.json)"
UNREADABLE = "A recording that ships with the app can't be read. {problem}"
REMOVE = "Remove"
RECORDING = "{name}: {count:,} {cases} on {devices}, {days}"
INTERRUPTED = "The upload of a file was interrupted. Open it again."
PROBLEM = "{file}: {problem}"
EMPTY = "The recording has no timings."
ALREADY_OPEN = "The same recording is open as {name}."
TOO_MANY = "At most {most} recordings can be open. Remove one first."
