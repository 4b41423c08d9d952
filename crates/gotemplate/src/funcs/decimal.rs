//! Decimal numbers of any precision: in go float64s as they are written, out comes the float64 next
//! to the exact result. Only quotients are rounded, to 16 places.

use super::big::Natural;

/// Maximum number of places of a quotient count.
const PLACES: i64 = 16;

/// A number: digits times a power of ten.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    digits: Natural,
    exponent: i64,
}

impl Decimal {
    /// The shortest decimal that reads back as `number`; none for what is no finite number.
    pub(super) fn new(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let text = format!("{:e}", number.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits: u64 = mantissa.replace('.', "").parse().ok()?;
        let exponent = exponent.parse::<i64>().ok()? - i64::try_from(fraction).ok()?;
        Some(Self { negative: number < 0.0, digits: Natural::from(digits), exponent })
    }

    /// Returns how much work the number is.
    pub(super) fn size(&self) -> u64 {
        self.digits.limbs() as u64
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.scaled_to(exponent), other.scaled_to(exponent));
        if self.negative == other.negative {
            Self { negative: self.negative, digits: a.add(&b), exponent }
        } else if a >= b {
            Self { negative: self.negative, digits: a.subtract(&b), exponent }
        } else {
            Self { negative: other.negative, digits: b.subtract(&a), exponent }
        }
    }

    pub(super) fn subtract(&self, other: &Self) -> Self {
        self.add(&Self { negative: !other.negative, ..other.clone() })
    }

    pub(super) fn multiply(&self, other: &Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            digits: self.digits.multiply(&other.digits),
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient, half a unit of its last place rounded away from zero; none of a division by 0.
    pub(super) fn divide(&self, other: &Self) -> Option<Self> {
        if other.digits.is_zero() {
            return None;
        }
        let shift = self.exponent - other.exponent + PLACES;
        let dividend = self.digits.times_power_of_ten(shift.max(0).unsigned_abs());
        let divisor = other.digits.times_power_of_ten((-shift).max(0).unsigned_abs());
        let (mut digits, remainder) = dividend.divide(&divisor);
        if remainder.add(&remainder) >= divisor {
            digits = digits.add(&Natural::from(1));
        }
        Some(Self { negative: self.negative != other.negative, digits, exponent: -PLACES })
    }

    pub(super) fn to_float64(&self) -> f64 {
        // The standard library reads decimals of any length to the nearest float64.
        let number: f64 = format!("{}e{}", self.digits.to_decimal(), self.exponent).parse().unwrap_or(0.0);
        if self.negative && number != 0.0 { -number } else { number }
    }

    fn scaled_to(&self, exponent: i64) -> Natural {
        self.digits.times_power_of_ten((self.exponent - exponent).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(number: f64) -> Decimal {
        Decimal::new(number).unwrap()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(decimal(0.1).add(&decimal(0.2)).to_float64(), 0.3);
        assert_eq!(decimal(1e300).add(&decimal(1e-300)).to_float64(), 1e300);
        assert_eq!(decimal(1.5).subtract(&decimal(2.5)).to_float64(), -1.0);
        assert!(decimal(1.0).subtract(&decimal(1.0)).to_float64().is_sign_positive());
        assert_eq!(decimal(1e200).multiply(&decimal(1e200)).to_float64(), f64::INFINITY);
    }

    // The answers are those of `divf` in Helm 4.3.1.
    #[test]
    fn quotients_have_sixteen_places() {
        let quotient = |a, b| decimal(a).divide(&decimal(b)).unwrap().to_float64();
        assert_eq!(quotient(1.0, 3.0), 0.333_333_333_333_333_3);
        assert_eq!(quotient(1e-10, 3.0), 3.33333e-11);
        assert_eq!(quotient(2.0, 3e10), 6.66667e-11);
        assert_eq!(quotient(-10.0, 4.0), -2.5);
        assert!(decimal(1.0).divide(&decimal(0.0)).is_none());
    }
}
