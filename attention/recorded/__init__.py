"""Recorded attention: the file format (`file`), the shipped recordings (`shipped`), and scripts that make them.

`constructed` makes the one that is built by hand. `models` makes those of real models, `minilm` and `smollm2`, which are
modules here with weights from installable packages (`packages`). `mapped_file` maps such weights into memory, `gguf_file`
unpacks them; `attention.models` runs the same modules on what users type.

The knobs import this package and not vice versa, as a config must fit the recording that it shows. To add a recording, put
its file here and a line into `shipped.SHIPPED`; for another text of the same models, add a line to `models.RECORDED` as well.
"""
