"""Reads files of arrays: `safe_file` .safetensors, `numpy_file` .npy and .npz.

Files come from strangers, and those that ship with the app pass the same readers. They list what is in a file, as named
`arrays`, without allocating before sizes are known and without executing anything: `zip_file` reads the files within a
zip, `bounded_json` parses JSON. A `deadline` limits the processor time of reading; `limits` has the error of all readers.
"""
