"""Tensors to rows and columns, for charts, tables and files: of weights and tokens (`rows`), of masks (`mask_cards`), of
the softmax (`softmax`), of how distributions changed (`distribution_changes`), of positions (`positions`)."""
