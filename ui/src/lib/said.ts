/** Sentences of the engine and of ours, in which commands, keys and files stand between backticks. */

/** The pieces of a sentence: words and code in turn, words first. One backtick alone is a backtick. */
export function pieces(text: string): string[] {
  const found = text.split('`');
  return found.length % 2 === 1 ? found : [text];
}
