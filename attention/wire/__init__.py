"""What the browser is sent: a header and bytes (`message`), the squares of all heads (`cells`), the
differences of two sides (`difference_cells`), a pass (`matrix_cells`). `kept_bytes` leaves out what it keeps.

Numbers travel as 16 bits that keep their first three digits; the browser turns them into colours.
"""
