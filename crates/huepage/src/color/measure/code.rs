// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which colors to ask about together, so that few questions tell many colors apart.
//!
//! A page can be tested for many colors at once: the sets of half of the colors are
//! read, and the page is evicted if its color is one of these. Each color has a code
//! word, with a bit for each question, that says in which questions its set is read.
//! The word nearest to the answers of a page names its color. Words differ in so many
//! bits that with a few wrong answers no color is found, rather than another color.

/// Questions asked of each page at most.
pub(super) const QUESTIONS: u32 = u16::BITS;
/// Questions after which a page is asked no more if all its answers agree.
pub(super) const ENOUGH: u32 = 12;
/// Colors that one code may have: drawing 40 words so far apart takes about
/// 3,500 draws, and more than 44 are hardly ever found.
pub(super) const MOST_WORDS: usize = 40;
/// Questions in which a color is read: a page without a color is evicted in none, a
/// page that everything evicts in all, and both are far from every word.
const WEIGHT: u32 = QUESTIONS / 2;
/// Bits in which any two words differ at least.
const DISTANCE: u32 = 6;
/// Answers that may contradict the color found.
const MOST_WRONG: u32 = 2;
/// Answers that contradict any other color, at least.
const LEAST_AGAINST: u32 = DISTANCE - MOST_WRONG;
/// Bits of the first [`ENOUGH`] questions.
const EARLY: u16 = (1 << ENOUGH) - 1;
/// Words drawn before a code begins anew.
const DRAWS: usize = 20_000;

/// Code words of some colors.
#[derive(Clone, Debug)]
pub(super) struct Code(Vec<u16>);

/// What a page answered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Questions answered by an eviction.
    yes: u16,
    /// Questions answered at all: a disturbed sample is no answer.
    told: u16,
}

impl Answers {
    /// Notes the answer to a question.
    pub fn note(&mut self, question: u32, evicted: Option<bool>) {
        self.told |= u16::from(evicted.is_some()) << question;
        self.yes |= u16::from(evicted == Some(true)) << question;
    }

    /// Answers that `word` contradicts.
    fn against(self, word: u16) -> u32 {
        ((self.yes ^ word) & self.told).count_ones()
    }
}

impl Code {
    /// Draws words for `colors` colors.
    ///
    /// # Panics
    /// If there are more than [`MOST_WORDS`].
    pub fn draw(colors: usize, rng: &mut fastrand::Rng) -> Self {
        assert!(colors <= MOST_WORDS, "{colors} colors have no words {DISTANCE} bits apart");
        loop {
            let mut words: Vec<u16> = Vec::with_capacity(colors);
            for _ in 0..DRAWS {
                if words.len() == colors {
                    return Code(words);
                }
                let bits = rng.choose_multiple(0..QUESTIONS, WEIGHT as usize);
                let word = bits.into_iter().fold(0, |word, bit| word | 1 << bit);
                // The first questions alone are enough if no answer is wrong.
                let early = |other: u16| ((other ^ word) & EARLY).count_ones() >= LEAST_AGAINST;
                let far = |other: u16| (other ^ word).count_ones() >= DISTANCE && early(other);
                if early(0) && early(u16::MAX) && words.iter().all(|&other| far(other)) {
                    words.push(word);
                }
            }
        }
    }

    /// The colors that a question is about, ascending.
    pub fn asked(&self, question: u32) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate();
        words.filter(move |(_, word)| **word >> question & 1 == 1).map(|(color, _)| color)
    }

    /// The color that nearly all answers speak for, if enough of them speak
    /// against every other one, against none and against all.
    pub fn decode(&self, answers: Answers) -> Option<usize> {
        let nearest = (0..self.0.len()).min_by_key(|&color| answers.against(self.0[color]))?;
        let others = self.0.iter().enumerate().filter(|(color, _)| *color != nearest);
        let sure = others
            .map(|(_, &word)| word)
            .chain([0, u16::MAX])
            .all(|other| answers.against(other) >= LEAST_AGAINST);
        (sure && answers.against(self.0[nearest]) <= MOST_WRONG).then_some(nearest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(colors: usize) -> Code {
        Code::draw(colors, &mut fastrand::Rng::with_seed(colors as u64))
    }

    fn answers(word: u16) -> Answers {
        Answers { yes: word, told: u16::MAX }
    }

    #[test]
    fn every_number_of_colors_has_words_far_apart() {
        for colors in 1..=MOST_WORDS {
            let Code(words) = code(colors);
            assert_eq!(words.len(), colors);
            assert!(words.iter().all(|word| word.count_ones() == WEIGHT));
            for (i, a) in words.iter().enumerate() {
                assert!(words[..i].iter().all(|b| (a ^ b).count_ones() >= DISTANCE));
            }
        }
    }

    #[test]
    fn a_color_is_asked_about_where_its_word_has_a_bit() {
        let code = code(40);
        for color in 0..40 {
            let asked = (0..QUESTIONS).filter(|&q| code.asked(q).any(|c| c == color));
            assert_eq!(asked.fold(0, |word, bit| word | 1 << bit), code.0[color]);
        }
    }

    /// All patterns of up to three wrong answers, of every color.
    #[test]
    fn two_wrong_answers_do_no_harm_and_three_name_no_color() {
        let code = code(32);
        for wrong in (0..=u16::MAX).filter(|wrong| wrong.count_ones() < LEAST_AGAINST) {
            for (color, word) in code.0.iter().enumerate() {
                let told = code.decode(answers(word ^ wrong));
                match wrong.count_ones() {
                    0..=2 => assert_eq!(told, Some(color)),
                    _ => assert_eq!(told, None),
                }
            }
        }
    }

    #[test]
    fn the_first_questions_are_enough_where_all_answers_are_right() {
        for (color, word) in code(40).0.iter().enumerate() {
            let early = Answers { yes: word & EARLY, told: EARLY };
            assert_eq!(code(40).decode(early), Some(color));
        }
    }

    #[test]
    fn a_page_without_a_color_or_with_two_is_given_none() {
        let code = code(32);
        assert_eq!(code.decode(answers(0)), None);
        assert_eq!(code.decode(answers(u16::MAX)), None);
        for (i, a) in code.0.iter().enumerate() {
            for b in &code.0[..i] {
                assert_eq!(code.decode(answers(a | b)), None, "{a:016b} {b:016b}");
            }
        }
    }

    #[test]
    fn what_was_disturbed_is_no_answer() {
        let code = code(32);
        let word = code.0[5];
        let mut answers = Answers::default();
        for question in 0..QUESTIONS {
            let evicted = (word >> question & 1 == 1).then_some(true).or(Some(false));
            answers.note(question, evicted.filter(|_| question != 7));
        }
        assert_eq!(answers.told, !(1 << 7));
        assert_eq!(code.decode(answers), Some(5));
        assert_eq!(code.decode(Answers::default()), None);
        let few = Answers { yes: word & 0xFF, told: 0xFF };
        assert!(few.told.count_ones() < 2 * DISTANCE && code.decode(few).is_none_or(|c| c == 5));
    }
}
