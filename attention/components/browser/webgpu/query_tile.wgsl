//for i QUERY_LOADS
      {
        let at = lane + ${i}u * ${THREADS}u;
        if (at < BQ4 * Q4) {
          let c = at % Q4;
          let r = at / Q4;
          let x0 = query_row(query_at, first + r * 4u, part / 4u + c);
          let x1 = query_row(query_at, first + r * 4u + 1u, part / 4u + c);
          let x2 = query_row(query_at, first + r * 4u + 2u, part / 4u + c);
          let x3 = query_row(query_at, first + r * 4u + 3u, part / 4u + c);
//for e 4
          ${QUERIES}[(c * 4u + ${e}u) * BQ4 + r] = vec4f(x0[${e}], x1[${e}], x2[${e}], x3[${e}]);
//end
        }
      }
//end
