//! Whole numbers of any size, for decimals and keys: sums, products, quotients.
//!
//! Not in constant time: the numbers are those of a template, computed where it is rendered.

mod montgomery;

pub(super) use montgomery::Modulus;

use std::cmp::Ordering;

/// Digits of the largest power of ten in a limb.
const LIMB_DIGITS: usize = 19;
const LIMB_POWER: u64 = 10_000_000_000_000_000_000;

/// A number that is not negative: limbs, the least first, without zeros at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Natural(Vec<u64>);

impl From<u64> for Natural {
    fn from(number: u64) -> Self {
        Self::normal(vec![number])
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl Natural {
    fn normal(mut limbs: Vec<u64>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self(limbs)
    }

    /// The number that these bytes are, the greatest first.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let limb = |chunk: &[u8]| chunk.iter().fold(0u64, |limb, byte| limb << 8 | u64::from(*byte));
        Self::normal(bytes.rchunks(8).map(limb).collect())
    }

    /// The bytes, the greatest first, without zeros before it.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let bytes: Vec<u8> = self.0.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes[zeros..].to_vec()
    }

    /// The bytes, with zeros before them up to `length`.
    pub(super) fn to_padded_bytes(&self, length: usize) -> Vec<u8> {
        let bytes = self.to_bytes();
        let mut padded = vec![0; length.saturating_sub(bytes.len())];
        padded.extend(bytes);
        padded
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_odd(&self) -> bool {
        self.0.first().is_some_and(|limb| limb & 1 == 1)
    }

    pub(super) fn limbs(&self) -> usize {
        self.0.len()
    }

    /// Returns how many bits the number has.
    pub(super) fn bits(&self) -> usize {
        self.0.last().map_or(0, |last| self.0.len() * 64 - last.leading_zeros() as usize)
    }

    /// Returns true if the bit of value two to the `index` is set.
    pub(super) fn bit(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|limb| limb >> (index % 64) & 1 == 1)
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut sum = long.0.clone();
        let mut carry = false;
        for (index, limb) in sum.iter_mut().enumerate() {
            let addend = short.0.get(index).copied().unwrap_or(0);
            if addend == 0 && !carry {
                continue;
            }
            (*limb, carry) = limb.carrying_add(addend, carry);
        }
        sum.push(u64::from(carry));
        Self::normal(sum)
    }

    /// The difference to a number that is not greater.
    pub(super) fn subtract(&self, other: &Self) -> Self {
        let mut difference = self.0.clone();
        let mut borrow = false;
        for (index, limb) in difference.iter_mut().enumerate() {
            let subtrahend = other.0.get(index).copied().unwrap_or(0);
            (*limb, borrow) = limb.borrowing_sub(subtrahend, borrow);
        }
        debug_assert!(!borrow);
        Self::normal(difference)
    }

    pub(super) fn multiply(&self, other: &Self) -> Self {
        let mut product = vec![0; self.0.len() + other.0.len()];
        for (index, factor) in self.0.iter().enumerate() {
            let carry = add_product(&mut product[index..index + other.0.len()], &other.0, *factor);
            product[index + other.0.len()] = carry;
        }
        Self::normal(product)
    }

    pub(super) fn times_power_of_ten(&self, exponent: u64) -> Self {
        let mut limbs = self.0.clone();
        let whole = exponent / LIMB_DIGITS as u64;
        let rest = (exponent % LIMB_DIGITS as u64) as u32;
        for factor in (0..whole).map(|_| LIMB_POWER).chain([10u64.pow(rest)]) {
            let mut carry = 0;
            for limb in &mut limbs {
                let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
                *limb = product as u64;
                carry = (product >> 64) as u64;
            }
            if carry != 0 {
                limbs.push(carry);
            }
        }
        Self(limbs)
    }

    /// The remainder of the division by a number of one limb, which is not 0.
    pub(super) fn remainder_small(&self, divisor: u64) -> u64 {
        let step = |rest: u64, limb: &u64| (u128::from(rest) << 64 | u128::from(*limb)) % u128::from(divisor);
        self.0.iter().rev().fold(0, |rest, limb| step(rest, limb) as u64)
    }

    fn divide_small(&self, divisor: u64) -> (Self, u64) {
        let mut quotient = self.0.clone();
        let mut rest = 0;
        for limb in quotient.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*limb);
            *limb = (dividend / u128::from(divisor)) as u64;
            rest = (dividend % u128::from(divisor)) as u64;
        }
        (Self::normal(quotient), rest)
    }

    pub(super) fn shift_left(&self, bits: usize) -> Self {
        let mut limbs = vec![0; bits / 64];
        let shift = bits % 64;
        let mut carry = 0;
        for limb in &self.0 {
            limbs.push(limb << shift | carry);
            carry = if shift == 0 { 0 } else { limb >> (64 - shift) };
        }
        limbs.push(carry);
        Self::normal(limbs)
    }

    pub(super) fn shift_right(&self, bits: usize) -> Self {
        let limbs = self.0.get(bits / 64..).unwrap_or_default();
        let shift = bits % 64;
        let shifted = limbs.iter().enumerate().map(|(index, limb)| {
            let above = limbs.get(index + 1).copied().unwrap_or(0);
            limb >> shift | if shift == 0 { 0 } else { above << (64 - shift) }
        });
        Self::normal(shifted.collect())
    }

    /// The quotient and remainder of the division by a number that is not 0 (Knuth's algorithm D).
    pub(super) fn divide(&self, divisor: &Self) -> (Self, Self) {
        if self < divisor {
            return (Self::default(), self.clone());
        }
        if let [divisor] = divisor.0[..] {
            let (quotient, rest) = self.divide_small(divisor);
            return (quotient, Self::from(rest));
        }
        let Some(top) = divisor.0.last() else { return (Self::default(), Self::default()) };
        // With the highest bit of the divisor set, each guessed limb is at most 2 too large.
        let shift = top.leading_zeros() as usize;
        let divisor = divisor.shift_left(shift).0;
        let mut rest = self.shift_left(shift).0;
        rest.push(0);
        let length = divisor.len();
        let mut quotient = vec![0; rest.len() - length];
        for index in (0..quotient.len()).rev() {
            quotient[index] = divide_limb(&mut rest[index..=index + length], &divisor);
        }
        (Self::normal(quotient), Self::normal(rest).shift_right(shift))
    }

    pub(super) fn remainder(&self, divisor: &Self) -> Self {
        self.divide(divisor).1
    }

    pub(super) fn to_decimal(&self) -> String {
        let mut parts = Vec::new();
        let mut rest = self.clone();
        while rest.0.len() > 1 || rest.0.first().is_some_and(|limb| *limb >= LIMB_POWER) {
            let (quotient, part) = rest.divide_small(LIMB_POWER);
            parts.push(part);
            rest = quotient;
        }
        let mut text = rest.0.first().copied().unwrap_or(0).to_string();
        for part in parts.iter().rev() {
            text.push_str(&format!("{part:0LIMB_DIGITS$}"));
        }
        text
    }
}

/// One limb of a quotient; takes its multiple of the divisor from the dividend, which has a limb more.
fn divide_limb(dividend: &mut [u64], divisor: &[u64]) -> u64 {
    let length = divisor.len();
    let top = u128::from(dividend[length]) << 64 | u128::from(dividend[length - 1]);
    let highest = u128::from(divisor[length - 1]);
    let second = u128::from(divisor[length - 2]);
    let mut guess = (top / highest).min(u128::from(u64::MAX));
    let mut rest = top - guess * highest;
    while rest >> 64 == 0 && guess * second > (rest << 64 | u128::from(dividend[length - 2])) {
        guess -= 1;
        rest += highest;
    }
    let mut guess = guess as u64;
    if subtract_product(dividend, divisor, guess) {
        guess -= 1;
        let mut carry = false;
        for (limb, addend) in dividend.iter_mut().zip(divisor.iter().chain([&0])) {
            (*limb, carry) = limb.carrying_add(*addend, carry);
        }
    }
    guess
}

/// Adds `number` times `factor` to as many limbs, and returns what is carried.
fn add_product(limbs: &mut [u64], number: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (limb, digit) in limbs.iter_mut().zip(number) {
        let sum = u128::from(*digit) * u128::from(factor) + u128::from(*limb) + u128::from(carry);
        *limb = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// Adds `number` times a factor of two limbs, and `carry`, to as many limbs, and returns the two that
/// are carried. Two limbs at once take little more time than one, for neither product waits for the
/// other.
fn add_double_product(limbs: &mut [u64], number: &[u64], factor: [u64; 2], carry: u64) -> u128 {
    let (mut first_carry, mut second_carry, mut before) = (carry, 0, 0);
    for (limb, digit) in limbs.iter_mut().zip(number) {
        let first = u128::from(*digit) * u128::from(factor[0]) + u128::from(*limb) + u128::from(first_carry);
        first_carry = (first >> 64) as u64;
        let second =
            u128::from(before) * u128::from(factor[1]) + u128::from(first as u64) + u128::from(second_carry);
        second_carry = (second >> 64) as u64;
        *limb = second as u64;
        before = *digit;
    }
    u128::from(before) * u128::from(factor[1]) + u128::from(first_carry) + u128::from(second_carry)
}

/// Subtracts `number` times `factor`, and returns whether that was too much.
fn subtract_product(limbs: &mut [u64], number: &[u64], factor: u64) -> bool {
    let (mut carry, mut borrow) = (0, false);
    for (limb, digit) in limbs.iter_mut().zip(number.iter().chain([&0])) {
        let product = u128::from(*digit) * u128::from(factor) + u128::from(carry);
        carry = (product >> 64) as u64;
        (*limb, borrow) = limb.borrowing_sub(product as u64, borrow);
    }
    borrow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn natural(hex: &str) -> Natural {
        let digits = format!("{hex:0>width$}", width = hex.len().next_multiple_of(2));
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        Natural::from_bytes(&digits.as_bytes().chunks(2).map(byte).collect::<Vec<_>>())
    }

    #[test]
    fn decimals_are_powers_of_ten() {
        let power = Natural::from(7).times_power_of_ten(60);
        assert_eq!(power.to_decimal(), format!("7{}", "0".repeat(60)));
        assert_eq!(Natural::default().to_decimal(), "0");
        assert_eq!(Natural::from(u64::MAX).to_decimal(), u64::MAX.to_string());
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend_less_the_remainder() {
        // The second and third pair need the rare correction of a guessed limb.
        let pairs = [
            ("123456789abcdef0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba987"),
            ("800000000000000000000000000000000000000000000003", "200000000000000000000000000000001"),
            (
                "7fffffffffffffff8000000000000000ffffffffffffffff0000000000000000",
                "8000000000000000000000000000000000000000000000ff",
            ),
            ("ffffffffffffffffffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff"),
            ("1", "ffffffffffffffffffff"),
        ];
        for (dividend, divisor) in pairs.map(|(a, b)| (natural(a), natural(b))) {
            let (quotient, remainder) = dividend.divide(&divisor);
            assert!(remainder < divisor);
            assert_eq!(quotient.multiply(&divisor).add(&remainder), dividend);
        }
    }

    #[test]
    fn shifts_undo_each_other() {
        let number = natural("123456789abcdef0123456789abcdef");
        for bits in [0, 1, 63, 64, 65, 200] {
            assert_eq!(number.shift_left(bits).shift_right(bits), number);
        }
        assert_eq!(number.bits(), 121);
        assert!(number.bit(0) && number.bit(120) && !number.bit(121) && !number.bit(4));
    }

    #[test]
    fn bytes_come_greatest_first() {
        assert_eq!(natural("0102030405060708090a").to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(Natural::from(5).to_padded_bytes(3), [0, 0, 5]);
    }
}
