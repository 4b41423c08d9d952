//! Powers modulo an odd number, by Montgomery's multiplication.

use super::Natural;

/// Bits of an exponent that are worked off at once.
const WINDOW: usize = 5;

/// An odd modulus, prepared.
pub(in crate::funcs) struct Modulus {
    number: Natural,
    /// What makes the lowest limb vanish: the negative inverse of the modulus's, modulo 2^64.
    inverse: u64,
    /// 1 and the factor that takes numbers into Montgomery's form, in that form.
    one: Vec<u64>,
    factor: Vec<u64>,
}

impl Modulus {
    /// Prepares an odd number greater than 1.
    pub(in crate::funcs) fn new(number: Natural) -> Self {
        let lowest = number.0.first().copied().unwrap_or(1);
        // Newton's iteration doubles the bits that are right: 5, 10, 20, 40, 80.
        let inverse = (0..4).fold(lowest.wrapping_mul(3) ^ 2, |inverse, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(lowest.wrapping_mul(inverse)))
        });
        let bits = number.limbs() * 64;
        let power = |bits| Natural::from(1).shift_left(bits).remainder(&number);
        let (one, factor) = (power(bits), power(2 * bits));
        let length = number.limbs();
        let padded = |number: Natural| {
            let mut limbs = number.0;
            limbs.resize(length, 0);
            limbs
        };
        Self { one: padded(one), factor: padded(factor), inverse: inverse.wrapping_neg(), number }
    }

    pub(in crate::funcs) fn number(&self) -> &Natural {
        &self.number
    }

    /// `base` to the power of `exponent`.
    pub(in crate::funcs) fn power(&self, base: &Natural, exponent: &Natural) -> Natural {
        let base = self.enter(base);
        let mut result = self.one.clone();
        let mut spare = vec![0; self.number.limbs() + 2];
        let mut powers = vec![self.one.clone(), base.clone()];
        for index in 2..1 << WINDOW {
            let mut next = powers[index - 1].clone();
            self.multiply(&mut next, &base, &mut spare);
            powers.push(next);
        }
        for window in (0..exponent.bits().div_ceil(WINDOW)).rev() {
            for _ in 0..WINDOW {
                self.square(&mut result, &mut spare);
            }
            let bit = |index| usize::from(exponent.bit(window * WINDOW + index)) << index;
            match (0..WINDOW).map(bit).sum() {
                0 => {}
                digits => self.multiply(&mut result, &powers[digits], &mut spare),
            }
        }
        self.leave(result)
    }

    /// Whether a power of `base`, which is not 0, with the modulus less 1 as the exponent shows that
    /// the modulus is no prime: one round of Miller and Rabin's test.
    pub(in crate::funcs) fn is_composite_by(&self, base: &Natural) -> bool {
        let one = Natural::from(1);
        let minus_one = self.number.subtract(&one);
        let twos = (0..).find(|index| minus_one.bit(*index)).unwrap_or(0);
        let mut power = self.power(base, &minus_one.shift_right(twos));
        if power == one {
            return false;
        }
        for _ in 0..twos {
            if power == minus_one {
                return false;
            }
            power = power.multiply(&power).remainder(&self.number);
        }
        true
    }

    /// A number in Montgomery's form.
    fn enter(&self, number: &Natural) -> Vec<u64> {
        let mut limbs = number.remainder(&self.number).0;
        limbs.resize(self.number.limbs(), 0);
        self.multiply(&mut limbs, &self.factor, &mut vec![0; self.number.limbs() + 2]);
        limbs
    }

    fn leave(&self, mut limbs: Vec<u64>) -> Natural {
        let mut one = vec![0; limbs.len()];
        one[0] = 1;
        let length = limbs.len();
        self.multiply(&mut limbs, &one, &mut vec![0; length + 2]);
        Natural::normal(limbs)
    }

    fn square(&self, number: &mut [u64], spare: &mut [u64]) {
        product(number, None, &self.number.0, self.inverse, spare);
        self.reduce(number, spare);
    }

    fn multiply(&self, number: &mut [u64], factor: &[u64], spare: &mut [u64]) {
        product(number, Some(factor), &self.number.0, self.inverse, spare);
        self.reduce(number, spare);
    }

    /// Takes the product from `spare`, less the modulus if it is not below that.
    fn reduce(&self, number: &mut [u64], spare: &[u64]) {
        let length = number.len();
        let modulus = &self.number.0;
        let mut borrow = false;
        for ((out, limb), subtrahend) in number.iter_mut().zip(spare).zip(modulus) {
            (*out, borrow) = limb.borrowing_sub(*subtrahend, borrow);
        }
        if spare[length] == 0 && borrow {
            number.copy_from_slice(&spare[..length]);
        }
    }
}

/// The product of two numbers divided by 2^64 to the number of limbs, with the modulus's multiples
/// added that make that division come out even. It may be as large as twice the modulus.
fn product(a: &[u64], b: Option<&[u64]>, modulus: &[u64], inverse: u64, out: &mut [u64]) {
    let length = modulus.len();
    let b = b.unwrap_or(a);
    let (a, b, out) = (&a[..length], &b[..length], &mut out[..=length]);
    out.fill(0);
    for limb in a {
        let first = u128::from(*limb) * u128::from(b[0]) + u128::from(out[0]);
        let multiple = (first as u64).wrapping_mul(inverse);
        let even = u128::from(multiple) * u128::from(modulus[0]) + u128::from(first as u64);
        let (mut carry, mut even_carry) = ((first >> 64) as u64, (even >> 64) as u64);
        for index in 1..length {
            let sum = u128::from(*limb) * u128::from(b[index]) + u128::from(out[index]) + u128::from(carry);
            carry = (sum >> 64) as u64;
            let even = u128::from(multiple) * u128::from(modulus[index])
                + u128::from(sum as u64)
                + u128::from(even_carry);
            even_carry = (even >> 64) as u64;
            out[index - 1] = even as u64;
        }
        let top = u128::from(out[length]) + u128::from(carry) + u128::from(even_carry);
        out[length - 1] = top as u64;
        out[length] = (top >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_small_numbers() {
        let modulus = Modulus::new(Natural::from(1_000_000_007));
        let power = |base: u64, exponent: u64| modulus.power(&base.into(), &exponent.into());
        assert_eq!(power(2, 10), 1024.into());
        assert_eq!(power(3, 0), 1.into());
        // Fermat's little theorem.
        assert_eq!(power(1_234_567_890_123, 1_000_000_006), 1.into());
    }

    #[test]
    fn primes_of_several_limbs_are_told_from_products() {
        let mersenne = |bits| Natural::from(1).shift_left(bits).subtract(&1.into());
        for bits in [61, 89, 107, 127, 521, 607] {
            assert!(!Modulus::new(mersenne(bits)).is_composite_by(&3.into()), "{bits}");
        }
        for bits in [67, 137, 523] {
            assert!(Modulus::new(mersenne(bits)).is_composite_by(&3.into()), "{bits}");
        }
    }
}
