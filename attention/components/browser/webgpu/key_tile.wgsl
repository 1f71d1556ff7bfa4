//for i KEY_LOADS
      {
        let at = lane + ${i}u * ${THREADS}u;
        if (at < BK4 * (DK / 4u)) {
          let c = at % (DK / 4u);
          let r = at / (DK / 4u);
          let x0 = key_row(key_at, key + r * 4u, part / 4u + c);
          let x1 = key_row(key_at, key + r * 4u + 1u, part / 4u + c);
          let x2 = key_row(key_at, key + r * 4u + 2u, part / 4u + c);
          let x3 = key_row(key_at, key + r * 4u + 3u, part / 4u + c);
//for e 4
          right[(c * 4u + ${e}u) * BK4 + r] = vec4f(x0[${e}], x1[${e}], x2[${e}], x3[${e}]);
//end
        }
      }
//end
