"""What one asks of attention, a question a file; each takes tensors or a config and gives numbers with names.

Does it equal PyTorch's (`parity`)? What do heads do, in words (`head_roles`), in every number (`head_numbers`), and those of a
map in numbers (`map_numbers`)? How far are heads apart (`head_distances`)? How did one row come about (`row_stages`), what
does a head make of it (`weighted_values`), how are all weights spread (`distribution`)? Why divide by the root of d_head
(`scaling`), and what do number types do
(`number_types`)? What does a mask show (`mask_gallery`), how far does it reach (`mask_reach`), what does it take away
(`mask_effect`), what becomes of rows that see nothing (`blind_rows`)? What do heads lose that share keys and values
(`kv_groups`)? Another question is another file, a function of ui/compute that keeps its answer, and a view.
"""
