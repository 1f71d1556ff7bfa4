"""Tensors to rows and columns, for charts, tables and files: of weights and tokens (`rows`), of the softmax (`softmax`),
of positions (`positions`)."""
