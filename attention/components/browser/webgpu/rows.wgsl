fn query_row(at: u32, row: u32, channel: u32) -> vec4f {
  if (row >= call.queries) { return vec4f(); }
  return vec4f(queries[at + row * D4 + channel]) * call.scale;
}

fn key_row(at: u32, row: u32, channel: u32) -> vec4f {
  if (row >= call.n) { return vec4f(); }
  return vec4f(keys[at + row * D4 + channel]);
}
