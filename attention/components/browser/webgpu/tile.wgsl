const D4 = ${D4}u;      // channels of a head, by four
const ROWS = ${ROWS}u;  // threads along queries
const COLS = ${COLS}u;  // threads along keys, and along channels
const BQ4 = ${BQ4}u;    // queries of a tile, by four
const BK4 = ${BK4}u;    // keys of a tile, by four
const Q4 = ${Q4}u;      // channels of the queries that are in workgroup memory at a time, by four
const DK = ${DK}u;      // channels of the keys that are
const KC = ${KC}u;      // keys whose values are
const LOWEST = -1e30;

var<workgroup> left: array<vec4f, ${LEFT}>;    // queries by channel, or weights by key
var<workgroup> right: array<vec4f, ${RIGHT}>;  // keys by channel, or values by key
//if KEEP
var<workgroup> kept: array<vec4f, ${KEPT}>;    // all channels of the queries
//end
