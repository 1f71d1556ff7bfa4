// A loop of fused multiply-adds whose operands stay in registers: what the device can do at best in float32.
struct Loop { steps: u32, factor: f32, addend: f32, unused: f32 }
@group(0) @binding(0) var<uniform> loops: Loop;
@group(0) @binding(1) var<storage, read_write> outputs: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) place: vec3u) {
  let factor = vec4f(loops.factor);
  let addend = vec4f(loops.addend);
//for i 8
  var x${i} = vec4f(f32(place.x)) + vec4f(${i}.0, ${i}.25, ${i}.5, ${i}.75);
//end
  for (var step = 0u; step < loops.steps; step += 1u) {
//for u 16
//for i 8
    x${i} = fma(x${i}, factor, addend);
//end
//end
  }
  let sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
  if (sum.x + sum.y + sum.z + sum.w == -12345.0) { outputs[0] = sum.x; }
}
