"""The words with which a link is shared: descriptions of pages, pictures of links, the Share dialog."""

NAME = "Attention Lab"
ABOUT = "See how attention in transformers works, head by head: exact weights, every step, real models. Free, in the browser."
PAGES = {
    "start": "What attention does to a word, shown with one head of a real model.",
    "heads": "The attention weights of every head, token by token: change the mask, the scale or the text and see what happens.",
    "steps": "Attention matrix by matrix, from the input to the output, with every number and its formula.",
    "softmax": "How scores become attention weights: one row of the softmax, step by step.",
    "masks": "Causal, window and other attention masks: which keys each query may attend to, and what that changes.",
    "training": "Watch the heads of a small transformer form while it trains, and stop at any step.",
    "examples": "Prepared pictures of attention, each with a sentence and a question for a class.",
    "layers": "The heads of all layers of a model, compared by what they attend to.",
    "model": "Run a language or vision model on your own input, and see what each of its heads attends to.",
    "your_data": "Open the attention weights of your own model, head by head.",
    "timing": "What attention costs on a CPU and a GPU, measured, with its spread.",
    "implementations": "Published implementations of attention, compared with the reference, line by line.",
    "find_the_bug": "Find the mistake in published code of attention, from its maps and its lines.",
}
PREDICT = "Predict, then reveal"
QUESTION = "A question about attention, with its answer hidden until it is revealed."
HEAD = "{head} of {heads}"
LAYER_HEAD = "Layer {layer}, head {head} of {heads}"
SEQUENCE = "{mask} mask, {tokens} tokens"
FIRST = "{mask} mask, the first {shown} of {tokens} tokens"
ROW = "{query}: {keys}"
