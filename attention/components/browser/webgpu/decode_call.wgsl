// One call covers some heads. The keys from `first` on are visible; each part has `chunk` of them.
struct Call {
  n: u32,      // tokens
  first: u32,  // first visible key
  head: u32,   // first head of this call
  group: u32,  // heads that share keys and values
  chunk: u32,
  parts: u32,
  scale: f32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> call: Call;
