// What everything needs that draws cells on a canvas: the message, colours, those of the theme, the picture as a file.

const RAMP = 1024;

// u32 length | JSON header | padding to 4 | whatever follows, little-endian: the header, and where the rest begins.
function opened(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), 4 + length + (-length & 3)];
}

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// The stops of a map as RAMP colours, each as the four bytes of a pixel.
const ramps = new Map();
function ramp(stops) {
  const name = stops.join();
  if (!ramps.has(name)) {
    const colors = stops.map(channels), last = colors.length - 1;
    ramps.set(name, Uint32Array.from({ length: RAMP }, (_, i) => {
      const at = (i / (RAMP - 1)) * last, low = Math.min(last - 1, Math.floor(at));
      const [r, g, b] = colors[low].map((c, j) => Math.round(c + (colors[low + 1][j] - c) * (at - low)));
      return (255 << 24) | (b << 16) | (g << 8) | r;
    }));
  }
  return ramps.get(name);
}

// The pattern of what a mask hides.
function hatch(pen, { masked, hatch }) {
  const tile = document.createElement("canvas"), inner = tile.getContext("2d");
  tile.width = tile.height = 8;
  inner.fillStyle = masked;
  inner.fillRect(0, 0, 8, 8);
  inner.strokeStyle = hatch;
  inner.lineWidth = 2.4;
  for (const at of [-8, 0, 8]) inner.stroke(new Path2D(`M${at} 8L${at + 8} 0`));
  return pen.createPattern(tile, "repeat");
}

// The neutral colours of the theme that is on, with its ground; all of them and the accents as CSS variables of the root,
// the accents once more as words can be read in: an accent named query is --query, and --query-words where it is written.
function themed(root, neutrals, accents) {
  const background = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = background;  // any CSS colour comes back as #rrggbb
  const [r, g, b] = channels(pen.fillStyle);
  const dark = 0.3 * r + 0.59 * g + 0.11 * b < 128, own = neutrals[dark ? "dark" : "light"];
  const words = Object.entries(accents).map(([name, color]) => [`${name}-words`, dark ? color : `color-mix(in srgb, ${color} 75%, black)`]);
  for (const [name, color] of Object.entries({ ...own, ...accents }).concat(words)) root.style.setProperty(`--${name}`, color);
  return { ...own, background: pen.fillStyle };
}

function saveAs(canvas, name) {
  const link = document.createElement("a");
  canvas.toBlob((blob) => {
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}
