//if HALF
enable f16;
alias Numbers = vec4<f16>;
//else
alias Numbers = vec4f;
//end

// One call covers some query rows of some heads, so that a long one can be split. The queries are the last tokens. A key k is
// visible to the token q if k <= q + ahead and q <= k + back: full (n, n), causal (0, n), window (0, span - 1).
struct Call {
  n: u32,      // tokens, each with a key
  row: u32,    // first query of this call
  head: u32,   // first head of this call
  group: u32,  // heads that share keys and values
  ahead: u32,
  back: u32,
  scale: f32,
  rows: u32,   // queries of this call
  queries: u32,  // queries of a head
}

@group(0) @binding(0) var<uniform> call: Call;
