// Numbers as the reports write them: `workspan_model::units` and `workspan_report::words`.

export function time(nanos: number): string {
  const size = Math.abs(nanos);
  if (size < 1e3) return `${nanos} ns`;
  const [scaled, unit] = size < 1e6 ? [nanos / 1e3, "µs"] : size < 1e9 ? [nanos / 1e6, "ms"] : [nanos / 1e9, "s"];
  const digits = Math.abs(scaled) < 10 ? 2 : Math.abs(scaled) < 100 ? 1 : 0;
  return `${scaled.toFixed(digits)} ${unit}`;
}

/// A quotient; 0 stands for none.
export function ratio(value: number): string {
  if (value === 0) return "-";
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value.toFixed(value >= 9.95 || Math.abs(value) < 0.05 ? 0 : 1)} %`;
}

export function count(value: number): string {
  if (value < 1e4) return String(value);
  if (value < 1e6) return `${(value / 1e3).toFixed(1)} k`;
  return value < 1e9 ? `${(value / 1e6).toFixed(1)} M` : `${(value / 1e9).toFixed(1)} G`;
}

export function factor(value: number): string {
  return value === Infinity ? "inf" : String(value);
}
