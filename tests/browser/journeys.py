"""The tests in a browser that `make test` runs; all others are extended.

A page that loads costs one to three seconds of the processor, so there are few: the walk over every page, which checks
labels, contrast, the policy and a phone in both themes, and the main things that a visitor does. What a cheaper test checks
as well, on AppTest or on the bytes that are sent, is left to `make test-all`. A test may be named with one of its cases.
"""

from __future__ import annotations

JOURNEYS = {
    "test_walk": ("test_a_page_can_be_read_by_anybody_and_keeps_its_policy",),
    "test_policy": ("test_what_is_refused_is_seen_here",),
    "test_app": (
        "test_first_screen_is_the_answer",
        "test_a_slider_is_dragged",
        "test_the_address_bar_holds_the_link_as_soon_as_its_picture_is_there",
        "test_a_click_pins_a_cell",
        "test_keys_move_the_cursor_and_pin",
        "test_a_moving_pointer_sends_nothing",
        "test_going_back_to_where_nothing_was_set_leaves_nothing_set",
        "test_no_message_refers_to_another",
        "test_files_hold_what_is_on_the_screen",
        "test_nonsense_in_a_link_is_named_and_ignored",
    ),
    "test_find_the_bug": ("test_a_bug_is_found_and_its_wrong_lines_are_told_by_sign_and_ground[light]",),
    "test_grid": (
        "test_masked_cells_are_grey_and_zeros_are_the_lowest_colour",
        "test_every_cell_has_the_colour_of_its_weight",
        "test_pointing_tells_head_tokens_and_weight_without_a_message",
        "test_a_click_pins_and_keys_move_the_pin",
        "test_all_heads_are_saved_as_one_picture",
        "test_the_link_is_copied_even_without_a_clipboard",
    ),
    "test_alone": (
        "test_a_layer_is_chosen_pointed_at_and_a_row_read[light]",
        "test_labels_are_text[light]",
        "test_nothing_else_may_run_or_be_asked_for[light]",
    ),
    "test_classroom": ("test_a_teacher_copies_a_link_and_a_student_guesses_and_reveals",),
    "test_drawings": (
        "test_the_grid_on_a_plain_page_shows_points_pins_follows_and_goes",
        "test_each_drawing_is_painted_on_a_plain_page",
    ),
    "test_hostile_labels": ("test_words_are_seen_as_they_are",),
    "test_large_head": ("test_the_number_under_the_pointer_is_the_weight",),
    "test_layers": ("test_the_induction_head_of_a_real_model_is_two_clicks_away",),
    "test_masks": ("test_a_click_uses_a_mask_everywhere",),
    "test_model": ("test_a_model_reads_and_a_click_in_its_map_leads_to_a_head",),
    "test_softmax": ("test_one_pointer_for_all_panels",),
    "test_steps": ("test_pointing_writes_out_the_arithmetic_and_asks_nobody",),
    "test_timing": ("test_the_break_even_is_the_first_picture_and_other_charts_are_one_click_away",),
    "test_training": ("test_a_training_is_begun_and_stopped_and_its_model_asked",),
    "test_way_in": (
        "test_a_text_that_is_typed_is_what_the_heads_read",
        "test_on_a_phone_pages_and_settings_are_a_tap_away_and_a_chosen_page_is_not_covered",
    ),
    "test_webgpu": (
        "test_a_kernel_agrees_with_float64[fused-64-5]",
        "test_a_kernel_agrees_with_float64[materialised-32-7]",
        "test_a_kernel_that_is_wrong_is_found",
        "test_templates_expand_alike_in_both_languages",
        "test_the_input_has_the_same_bits_in_both_languages",
        "test_the_button_says_why_nothing_was_measured[none]",
    ),
    "test_word_lines": ("test_a_word_that_is_pointed_at_says_its_weights_on_the_other_side",),
    "test_your_data": (
        "test_a_file_is_opened_and_every_head_of_it_shown_as_text",
        "test_a_bad_file_is_named_and_nothing_is_wider_than_the_window[size1]",
    ),
}


def is_journey(module: str, name: str) -> bool:
    """Whether `make test` runs this test of a module, or this case of it."""
    listed = JOURNEYS.get(module, ())
    return name in listed or name.partition("[")[0] in listed
