"""Questions about attention, one per file; each takes tensors or a config and returns named numbers.

Does it equal PyTorch's (`parity`)? What do heads do, in words (`head_roles`; the
kinds of keys are in `head_kinds`, heads that are built by a rule in `built_roles`), in all statistics (`head_numbers`), for
maps (`map_numbers`)? How far are heads apart (`head_distances`)? How is one row computed (`row_stages`), what does the
head add to the output (`weighted_values`), how are all weights distributed (`distribution`)? Why divide by the root of
d_head (`scaling`), and what do number types change (`number_types`)? What do positions do by
distance (`position_curves`)? What does a mask keep (`mask_gallery`), how far does it reach (`mask_reach`),
which pairs does another one keep (`mask_difference`), how does it change the weights (`mask_effect`), what happens to
fully masked rows (`fully_masked_rows`)? What changes if heads share keys and values (`kv_groups`)? What does a head of
a real model do over many texts (`head_survey`, kept by `survey_files`), and where a text repeats (`repeats`)? Another
question is another file, a cached function in ui/results, and a view.
"""
