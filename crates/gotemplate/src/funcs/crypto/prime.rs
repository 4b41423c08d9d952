//! Random primes, found by sieving a progression and testing what is left.

use crate::context::Context;
use crate::error::CallError;
use crate::funcs::big::{Modulus, Natural};

/// Primes below this are sieved with: more would cost more than the tests that they save.
const SIEVED: usize = 1 << 16;

/// Maximum number of numbers of a progression that are looked at; a prime is not among them once in millions.
const LONGEST: u64 = 100_000;

/// Maximum number of random bases must agree that a number that is prime. For random numbers of 256 bits and more
/// that leaves a doubt of less than two to the -100.
const ROUNDS: usize = 20;

/// A search for a prime. Its random numbers are drawn in advance, so that the search can run on its own thread.
pub(super) struct Search {
    start: Natural,
    step: Natural,
    /// Numbers just above a multiple of this are passed over.
    avoid: u64,
    bases: Vec<Natural>,
    bits: usize,
}

impl Search {
    /// For a prime of so many bits, the two highest of which are set, that is not just above a
    /// multiple of `avoid`.
    pub(super) fn new(context: &Context<'_>, bits: usize, avoid: u64) -> Result<Self, CallError> {
        let mut bytes = random_bytes(context, bits)?;
        if let Some(last) = bytes.last_mut() {
            *last |= 1;
        }
        let (start, bases) = (Natural::from_bytes(&bytes), bases(context, bits)?);
        Ok(Self { start, step: 2.into(), avoid, bases, bits })
    }

    /// For a prime of so many bits that is just above a multiple of twice `factor`.
    pub(super) fn above(context: &Context<'_>, bits: usize, factor: &Natural) -> Result<Self, CallError> {
        let step = factor.add(factor);
        let random = Natural::from_bytes(&random_bytes(context, bits)?);
        let start = random.subtract(&random.remainder(&step)).add(&1.into());
        // Nothing of that size is just above a multiple of this but for the odd chance.
        Ok(Self { start, step, avoid: u64::MAX, bases: bases(context, bits)?, bits })
    }

    /// The first prime from the start on, in steps. None if there is none in reach.
    pub(super) fn run(&self) -> Option<Natural> {
        let primes = small_primes();
        let (mut rests, steps) = (remainders(&self.start, &primes), remainders(&self.step, &primes));
        for index in 0..LONGEST {
            if !rests.contains(&0) {
                let number = self.start.add(&self.step.multiply(&index.into()));
                if number.bits() > self.bits {
                    return None;
                }
                if number.remainder_small(self.avoid) != 1 && self.is_prime(&number) {
                    return Some(number);
                }
            }
            for ((rest, step), prime) in rests.iter_mut().zip(&steps).zip(&primes) {
                let sum = *rest + step;
                *rest = if sum >= *prime { sum - prime } else { sum };
            }
        }
        None
    }

    fn is_prime(&self, number: &Natural) -> bool {
        let modulus = Modulus::new(number.clone());
        !modulus.is_composite_by_two() && !self.bases.iter().any(|base| modulus.is_composite_by(base))
    }
}

/// The remainders of the division by each of some primes below 2^16.
fn remainders(number: &Natural, primes: &[u32]) -> Vec<u32> {
    // The product of four fits a limb; to divide by that takes the most time.
    let of_group = |group: &[u32]| {
        let rest = number.remainder_small(group.iter().map(|prime| u64::from(*prime)).product());
        group.iter().map(move |prime| (rest % u64::from(*prime)) as u32).collect::<Vec<_>>()
    };
    primes.chunks(4).flat_map(of_group).collect()
}

/// A random number of so many bits, the two highest of which are set.
fn random_bytes(context: &Context<'_>, bits: usize) -> Result<Vec<u8>, CallError> {
    let mut bytes = vec![0; bits / 8];
    context.fill_random(&mut bytes)?;
    if let Some(first) = bytes.first_mut() {
        *first |= 0xc0;
    }
    Ok(bytes)
}

fn bases(context: &Context<'_>, bits: usize) -> Result<Vec<Natural>, CallError> {
    // Fewer do for larger numbers, for which chance composites are rarer.
    let rounds = if bits >= 1024 { ROUNDS / 4 } else { ROUNDS };
    let mut bytes = vec![0; bits / 8 - 1];
    let mut base = || {
        context.fill_random(&mut bytes)?;
        Ok(Natural::from_bytes(&bytes).add(&2.into()))
    };
    (0..rounds).map(|_| base()).collect()
}

fn small_primes() -> Vec<u32> {
    let mut composite = vec![false; SIEVED];
    let mut primes = Vec::new();
    // Progressions have odd numbers only.
    for number in (3..SIEVED).step_by(2) {
        if !composite[number] {
            primes.push(number as u32);
            (number * number..SIEVED).step_by(2 * number).for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// A random prime of so many bits.
pub(super) fn random_prime(context: &Context<'_>, bits: usize) -> Result<Natural, CallError> {
    loop {
        if let Some(prime) = Search::new(context, bits, u64::MAX)?.run() {
            return Ok(prime);
        }
    }
}

/// A random prime of so many bits that is just above a multiple of twice `factor`.
pub(super) fn random_prime_above(
    context: &Context<'_>,
    bits: usize,
    factor: &Natural,
) -> Result<Natural, CallError> {
    loop {
        if let Some(prime) = Search::above(context, bits, factor)?.run() {
            return Ok(prime);
        }
    }
}

/// Two random primes of so many bits, not just above a multiple of `avoid`, each found on a thread
/// of its own.
pub(super) fn random_primes(
    context: &Context<'_>,
    bits: usize,
    avoid: u64,
) -> Result<[Natural; 2], CallError> {
    loop {
        let (first, second) = (Search::new(context, bits, avoid)?, Search::new(context, bits, avoid)?);
        let found = std::thread::scope(|scope| {
            let other = scope.spawn(|| second.run());
            (first.run(), other.join().ok().flatten())
        });
        if let (Some(first), Some(second)) = found
            && first != second
        {
            return Ok([first, second]);
        }
    }
}

/// A random number from 1 to one less than `end`.
pub(super) fn random_below(context: &Context<'_>, end: &Natural) -> Result<Natural, CallError> {
    let excess = end.bits().next_multiple_of(8) - end.bits();
    loop {
        let mut bytes = vec![0; end.bits().div_ceil(8)];
        context.fill_random(&mut bytes)?;
        bytes[0] &= 0xff >> excess;
        let number = Natural::from_bytes(&bytes);
        if !number.is_zero() && number < *end {
            return Ok(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(start: Natural, step: u64, avoid: u64, bits: usize) -> Search {
        Search { start, step: step.into(), avoid, bases: vec![3.into(), 5.into()], bits }
    }

    #[test]
    fn the_next_prime_of_a_progression_is_found() {
        // The largest primes of 256 bits end 357 and 189 below the power of two.
        let below = |distance: u64| Natural::from(1).shift_left(256).subtract(&distance.into());
        assert_eq!(search(below(433), 2, u64::MAX, 256).run(), Some(below(357)));
        assert_eq!(search(below(355), 2, u64::MAX, 256).run(), Some(below(189)));
        assert_eq!(search(below(187), 2, u64::MAX, 256).run(), None);
    }

    #[test]
    fn primes_just_above_a_multiple_are_passed_over() {
        let below = |distance: u64| Natural::from(1).shift_left(256).subtract(&distance.into());
        let factor = (2..100).find(|factor| below(357).remainder_small(*factor) == 1).unwrap();
        let found = search(below(433), 2, factor, 256).run();
        assert!(found != Some(below(357)));
    }

    #[test]
    fn remainders_are_those_of_each_prime() {
        let primes = small_primes();
        assert_eq!((primes[0], primes.len()), (3, 6541));
        let number = Natural::from(1).shift_left(300);
        for (prime, rest) in primes.iter().zip(remainders(&number, &primes)).step_by(500) {
            assert_eq!(number.remainder_small(u64::from(*prime)), u64::from(rest));
        }
    }
}
