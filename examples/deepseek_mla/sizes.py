"""The sizes of the model: rows of the cache and groups of experts as in DeepSeek's, all else smaller."""

LATENT, ROTARY = 448, 64  # columns of a key; the cache has 8 bits for each latent one
WIDTH = LATENT + ROTARY
PAGES, SLOTS = 6, 16
TOKENS = PAGES * SLOTS
ENDS = (0, 40, TOKENS)  # of two sequences

HIDDEN, HEADS, PLAIN, VALUE = 128, 8, 32, 32
QUERY = 96  # columns between the two projections of a query

EXPERTS, GROUPS, TOPK_GROUPS, TOPK, INNER = 32, 8, 4, 4, 64
