//! Powers modulo an odd number, by Montgomery's multiplication.

use super::{Natural, add_double_product, add_product};

/// Bits of an exponent that are worked off at once.
const WINDOW: usize = 5;

/// An odd modulus, prepared.
pub(in crate::funcs) struct Modulus {
    number: Natural,
    /// The factor that cancels the lowest limb: the negative inverse of the modulus's, modulo 2^64.
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
        let mut spare = self.spare();
        let base = self.enter(base, &mut spare);
        let mut powers = vec![self.one.clone(), base.clone()];
        for index in 2..1 << WINDOW {
            let mut next = powers[index - 1].clone();
            self.multiply(&mut next, &base, &mut spare);
            powers.push(next);
        }
        let mut result = self.one.clone();
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
        self.leave(result, &mut spare)
    }

    /// Two to the power of `exponent`: each of its bits is a doubling instead of a product.
    fn power_of_two(&self, exponent: &Natural) -> Natural {
        let mut spare = self.spare();
        let mut result = self.one.clone();
        for bit in (0..exponent.bits()).rev() {
            self.square(&mut result, &mut spare);
            if exponent.bit(bit) {
                self.double(&mut result);
            }
        }
        self.leave(result, &mut spare)
    }

    /// Returns true if Fermat's little theorem with base 2 shows that the modulus is no prime. It does for
    /// nearly every number that is none.
    pub(in crate::funcs) fn is_composite_by_two(&self) -> bool {
        let one = Natural::from(1);
        self.power_of_two(&self.number.subtract(&one)) != one
    }

    /// Returns true if a base, which is not 0, shows that the modulus is no prime: one round of Miller and
    /// Rabin's test.
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

    /// Room for a product and a carry.
    fn spare(&self) -> Vec<u64> {
        vec![0; 2 * self.number.limbs() + 1]
    }

    /// A number in Montgomery's form.
    fn enter(&self, number: &Natural, spare: &mut [u64]) -> Vec<u64> {
        let mut limbs = number.remainder(&self.number).0;
        limbs.resize(self.number.limbs(), 0);
        self.multiply(&mut limbs, &self.factor, spare);
        limbs
    }

    fn leave(&self, limbs: Vec<u64>, spare: &mut [u64]) -> Natural {
        let length = limbs.len();
        spare.fill(0);
        spare[..length].copy_from_slice(&limbs);
        let mut number = limbs;
        self.reduce(&mut number, spare);
        Natural::normal(number)
    }

    fn multiply(&self, number: &mut [u64], factor: &[u64], spare: &mut [u64]) {
        let length = number.len();
        spare.fill(0);
        let (pairs, odd) = number.as_chunks();
        for (index, pair) in pairs.iter().enumerate() {
            let start = 2 * index;
            let end = start + length;
            let carry = add_double_product(&mut spare[start..end], factor, *pair, 0);
            (spare[end], spare[end + 1]) = (carry as u64, (carry >> 64) as u64);
        }
        if let [limb] = odd {
            spare[2 * length - 1] = add_product(&mut spare[length - 1..2 * length - 1], factor, *limb);
        }
        self.reduce(number, spare);
    }

    /// Multiplies a number by itself, which takes half the products.
    fn square(&self, number: &mut [u64], spare: &mut [u64]) {
        let length = number.len();
        spare.fill(0);
        for (index, pair) in number.as_chunks::<2>().0.iter().enumerate() {
            let start = 2 * index;
            let inner = u128::from(pair[0]) * u128::from(pair[1]) + u128::from(spare[2 * start + 1]);
            spare[2 * start + 1] = inner as u64;
            let end = start + length;
            let limbs = &mut spare[2 * start + 2..end];
            let carry = add_double_product(limbs, &number[start + 2..], *pair, (inner >> 64) as u64);
            (spare[end], spare[end + 1]) = (carry as u64, (carry >> 64) as u64);
        }
        // Twice the products of different limbs, and once those of each with itself.
        let (mut high, mut carry) = (0, false);
        for (limb, pair) in number.iter().zip(spare.as_chunks_mut::<2>().0) {
            let square = u128::from(*limb) * u128::from(*limb);
            let doubled = [pair[0] << 1 | high, pair[1] << 1 | pair[0] >> 63];
            high = pair[1] >> 63;
            (pair[0], carry) = doubled[0].carrying_add(square as u64, carry);
            (pair[1], carry) = doubled[1].carrying_add((square >> 64) as u64, carry);
        }
        self.reduce(number, spare);
    }

    /// Divides the product in `spare` by 2^64 to the number of limbs, after adding multiples of the
    /// modulus that make that come out even.
    fn reduce(&self, number: &mut [u64], spare: &mut [u64]) {
        let modulus = &self.number.0;
        let length = modulus.len();
        let mut carry = false;
        let mut index = 0;
        while index + 1 < length {
            let first = spare[index].wrapping_mul(self.inverse);
            let even = u128::from(first) * u128::from(modulus[0]) + u128::from(spare[index]);
            let next = first.wrapping_mul(modulus[1]).wrapping_add(spare[index + 1]);
            let second = next.wrapping_add((even >> 64) as u64).wrapping_mul(self.inverse);
            let end = index + length;
            let high = add_double_product(&mut spare[index..end], modulus, [first, second], 0);
            (spare[end], carry) = spare[end].carrying_add(high as u64, carry);
            (spare[end + 1], carry) = spare[end + 1].carrying_add((high >> 64) as u64, carry);
            index += 2;
        }
        if index < length {
            let multiple = spare[index].wrapping_mul(self.inverse);
            let high = add_product(&mut spare[index..index + length], modulus, multiple);
            (spare[index + length], carry) = spare[index + length].carrying_add(high, carry);
        }
        number.copy_from_slice(&spare[length..2 * length]);
        self.subtract_modulus(number, carry);
    }

    fn double(&self, number: &mut [u64]) {
        let mut high = 0;
        for limb in number.iter_mut() {
            let next = *limb >> 63;
            *limb = *limb << 1 | high;
            high = next;
        }
        self.subtract_modulus(number, high == 1);
    }

    /// Subtracts the modulus from a number, with a bit above its limbs, that is not below it.
    fn subtract_modulus(&self, number: &mut [u64], above: bool) {
        let modulus = &self.number.0;
        if !above && number.iter().rev().lt(modulus.iter().rev()) {
            return;
        }
        let mut borrow = false;
        for (limb, subtrahend) in number.iter_mut().zip(modulus) {
            (*limb, borrow) = limb.borrowing_sub(*subtrahend, borrow);
        }
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
        assert_eq!(modulus.power_of_two(&100.into()), power(2, 100));
    }

    #[test]
    fn powers_of_large_numbers_are_repeated_products() {
        let number = Natural::from(3).times_power_of_ten(150).add(&7.into());
        let modulus = Modulus::new(number.clone());
        let base = Natural::from(2).times_power_of_ten(149).add(&11.into());
        let repeated = (0..37).fold(Natural::from(1), |power, _| power.multiply(&base).remainder(&number));
        assert_eq!(modulus.power(&base, &37.into()), repeated);
    }

    #[test]
    fn primes_of_several_limbs_are_told_from_products() {
        let mersenne = |bits| Natural::from(1).shift_left(bits).subtract(&1.into());
        for bits in [61, 89, 107, 127, 521, 607] {
            let modulus = Modulus::new(mersenne(bits));
            assert!(!modulus.is_composite_by(&3.into()) && !modulus.is_composite_by_two(), "{bits}");
        }
        for bits in [67, 137, 523] {
            assert!(Modulus::new(mersenne(bits)).is_composite_by(&3.into()), "{bits}");
        }
        // The largest primes of 512 and 1024 bits: with all high bits set, every sum has a carry.
        for (bits, distance) in [(512, 569), (1024, 105)] {
            let prime = Natural::from(1).shift_left(bits).subtract(&Natural::from(distance));
            let modulus = Modulus::new(prime);
            assert!(!modulus.is_composite_by(&3.into()) && !modulus.is_composite_by_two(), "{bits}");
        }
        let product = mersenne(61).multiply(&mersenne(89));
        assert!(Modulus::new(product).is_composite_by_two());
    }
}
