// The rules of the core (crates/menet/src/rules) on one projected sample: the same formulas in the same order, so that the numbers are
// those of the command. `rules.learned(rule)` gives a function from scores to { class, logs }, the log-probabilities of all classes.
"use strict";
const rules = (() => {
  const FARTHEST = 1e140;
  const TIE = 8 * Number.EPSILON;
  const dot = (a, b) => {
    let sum = 0;
    for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
    return sum;
  };
  const largest = (values) => {
    let best = 0;
    for (let i = 1; i < values.length; i += 1) if (values[i] > values[best]) best = i;
    return best;
  };

  // Linear rules: means in coordinates in which the covariance is the identity, differences from the nearest mean.
  const linear = ({ means, logPriors, temperature }, whiten) => {
    const median = (k) => {
      const values = means.map((mean) => mean[k]).sort((a, b) => a - b);
      return values[Math.floor(values.length / 2)];
    };
    const reference = means[0].map((_, k) => median(k));
    const whitened = (z) =>
      whiten(z.map((value, k) => value - reference[k])).map((y) => Math.min(FARTHEST, Math.max(-FARTHEST, y)));
    const centres = means.map(whitened);
    return (z) => {
      const y = whitened(z);
      const squares = centres.map((centre) => {
        const apart = y.map((value, k) => value - centre[k]);
        return -dot(apart, apart);
      });
      const near = centres[largest(squares)];
      const values = centres.map((centre, c) => {
        const apart = centre.map((u, k) => u - near[k]);
        const middle = y.map((value, k) => value - near[k] - 0.5 * apart[k]);
        return (dot(apart, middle) + logPriors[c]) / temperature;
      });
      return { class: largest(values), values };
    };
  };
  const centroid = (rule) => {
    const sigma = Math.sqrt(rule.variance);
    return linear(rule, (y) => y.map((value) => value / sigma));
  };
  const gaussian = (rule) => {
    const lower = [];
    rule.covariance.forEach((line, j) => {
      lower.push([]);
      for (let k = 0; k <= j; k += 1) {
        const rest = line[k] - dot(lower[j], lower[k].slice(0, lower[j].length));
        lower[j].push(k === j ? Math.sqrt(rest) : rest / lower[k][k]);
      }
    });
    return linear(rule, (y) => {
      const out = [];
      lower.forEach((line, j) => out.push((y[j] - dot(out, line)) / line[j]));
      return out;
    });
  };

  const nearest = ({ gallery, owners, neighbors, cosine, temperature, shifts }) => {
    const lengths = gallery.map((other) => Math.sqrt(dot(other, other)));
    const distance = (z, length, other, j) => {
      if (!cosine) {
        let sum = 0;
        for (let k = 0; k < z.length; k += 1) sum += (z[k] - other[k]) * (z[k] - other[k]);
        return Math.sqrt(sum);
      }
      const product = length * lengths[j];
      return product > 0 ? Math.max(0, 1 - dot(z, other) / product) : 1;
    };
    // The class by votes, and T × the values.
    const decide = (distances) => {
      const near = shifts.map(() => Infinity);
      let first = 0;
      distances.forEach((d, j) => {
        if (d < near[owners[j]]) near[owners[j]] = d;
        if (d < distances[first]) first = j;
      });
      if (neighbors === 1) return [owners[first], near.map((d) => -d)];
      const order = distances.map((_, j) => j).sort((a, b) => distances[a] - distances[b] || a - b);
      const voters = order.slice(0, neighbors);
      const votes = shifts.map(() => 0);
      for (const j of voters) votes[owners[j]] += 1;
      const total = near.reduce((sum, d) => sum + d, 0);
      // Among equally many votes, the class of the nearest voter.
      let chosen = owners[voters[0]];
      for (const j of voters) if (votes[owners[j]] > votes[chosen]) chosen = owners[j];
      return [chosen, votes.map((count, c) => count - (total > 0 ? near[c] / total : 0))];
    };
    const plain = shifts.every((shift) => shift === 0);
    return (z) => {
      const length = Math.sqrt(dot(z, z));
      const [chosen, scaled] = decide(gallery.map((other, j) => distance(z, length, other, j)));
      const values = scaled.map((value, c) => Math.max(-1e300, value / temperature) + shifts[c]);
      return { class: plain ? chosen : largest(values), values };
    };
  };

  const logSoftmax = (values) => {
    const best = largest(values);
    const rest = Math.log1p(values.reduce((sum, v, c) => (c === best ? sum : sum + Math.exp(v - values[best])), 0));
    return values.map((value) => value - values[best] - rest);
  };
  // The class that was chosen has the largest probability, also where rounding or a tie would hide it.
  const prefer = (values, chosen) => {
    const others = values.reduce((most, value, c) => (c === chosen ? most : Math.max(most, value)), -Infinity);
    if (values[chosen] <= others) values[chosen] = others + TIE * Math.max(1, Math.abs(others));
    return values;
  };
  const learned = (rule) => {
    const decide = { nearest, centroid, gaussian }[rule.kind](rule);
    return (z) => {
      const { class: chosen, values } = decide(z);
      return { class: chosen, logs: prefer(logSoftmax(values), chosen) };
    };
  };
  return { learned };
})();
