/** The heights of a long list's rows: estimated until a row was drawn, measured afterwards. */

export class Heights {
  private readonly sizes: Float64Array;
  private readonly tops: Float64Array;

  constructor(estimates: number[]) {
    this.sizes = Float64Array.from(estimates);
    this.tops = new Float64Array(estimates.length + 1);
    this.sum(0);
  }

  private sum(from: number): void {
    for (let index = from; index < this.sizes.length; index += 1) {
      this.tops[index + 1] = this.tops[index]! + this.sizes[index]!;
    }
  }

  get length(): number {
    return this.sizes.length;
  }

  get total(): number {
    return this.tops[this.sizes.length]!;
  }

  top(index: number): number {
    return this.tops[Math.max(0, Math.min(index, this.sizes.length))]!;
  }

  /** Takes in measured heights; whether anything moved. */
  measured(rows: Iterable<[index: number, height: number]>): boolean {
    let first = Infinity;
    for (const [index, height] of rows) {
      const known = this.sizes[index];
      if (known === undefined || Math.abs(known - height) < 0.5) continue;
      this.sizes[index] = height;
      first = Math.min(first, index);
    }
    if (first === Infinity) return false;
    this.sum(first);
    return true;
  }

  /** The row at a distance from the top. */
  at(distance: number): number {
    let low = 0;
    let high = this.sizes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** The rows to draw for what is seen, with some more on both sides: from, and up to but without. */
  window(scrolled: number, height: number, more: number): [number, number] {
    if (this.sizes.length === 0) return [0, 0];
    const from = this.at(Math.max(0, scrolled - more));
    const to = this.at(scrolled + height + more) + 1;
    return [from, Math.min(to, this.sizes.length)];
  }
}
