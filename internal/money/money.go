// Package money has exact amounts: int64 minor units of one currency, no floats. Half a unit is rounded away from zero,
// and only functions that say so round.
package money

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Amount is a number of minor units (such as cents) of a currency. The zero value is no money and fits any currency.
type Amount struct {
	Minor    int64    `json:"minor"`
	Currency Currency `json:"currency"`
}

// Currency is an ISO 4217 code in capitals.
type Currency string

// KES is the Kenya shilling, of 100 cents.
const KES Currency = "KES"

// decimals of the currencies that an organization may choose (ISO 4217).
var decimals = map[Currency]int{
	"KES": 2, "UGX": 0, "TZS": 2, "RWF": 0, "ETB": 2, "NGN": 2, "GHS": 2, "ZAR": 2, "ZMW": 2, "MZN": 2,
	"USD": 2, "EUR": 2, "GBP": 2, "XAF": 0, "XOF": 0, "BIF": 0, "SSP": 2, "CDF": 2, "MWK": 2,
}

// Known reports whether an organization may bill in the currency.
func (c Currency) Known() bool { _, ok := decimals[c]; return ok }

// Decimals is the number of decimals of the currency, or 2 for an unknown one.
func (c Currency) Decimals() int {
	if d, ok := decimals[c]; ok {
		return d
	}
	return 2
}

// Unit is the number of minor units in one major unit: 1 or 100.
func (c Currency) Unit() int64 { return int64(math.Pow10(c.Decimals())) }

// Of makes an amount from minor units: Of(150, KES) is KES 1.50.
func Of(minor int64, c Currency) Amount { return Amount{minor, c} }

// Major makes an amount from whole major units: Major(2, KES) is KES 2.00. It does not check for overflow.
func Major(units int64, c Currency) Amount { return Amount{units * c.Unit(), c} }

// MaxDigits bounds the length of a number from outside before it becomes one, in bytes: twice of what int64 needs. The
// time of converting a longer one grows with its square.
const MaxDigits = 40

// Parse reads a decimal number in major units ("1500", "-3.50"). It refuses more decimals than the currency has, even
// zeros ("1.000" KES), and exponents, signs other than "-", numbers longer than MaxDigits, and those that int64 minor
// units cannot hold.
func Parse(text string, c Currency) (Amount, error) {
	if len(text) > MaxDigits {
		return Amount{}, fmt.Errorf("amount of %d characters is out of range", len(text))
	}
	digits := strings.TrimPrefix(text, "-")
	whole, frac, dotted := strings.Cut(digits, ".")
	if whole == "" || !allDigits(whole) || dotted && (frac == "" || !allDigits(frac)) {
		return Amount{}, fmt.Errorf("amount %q is not a decimal number", text)
	}
	if len(frac) > c.Decimals() {
		return Amount{}, fmt.Errorf("amount %q has more than %d decimals", text, c.Decimals())
	}
	frac += strings.Repeat("0", c.Decimals()-len(frac))
	n, ok := new(big.Int).SetString(whole+frac, 10)
	if ok && digits != text {
		n.Neg(n)
	}
	if !ok || !n.IsInt64() {
		return Amount{}, fmt.Errorf("amount %q is out of range", text)
	}
	return Amount{n.Int64(), c}, nil
}

// allDigits reports whether a text has only ASCII digits; it is true for "".
func allDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// Decimal is the amount in major units, with all decimals of the currency and without its code: "1500.00".
func (a Amount) Decimal() string {
	unit, d := uint64(a.Currency.Unit()), a.Currency.Decimals()
	n, sign := uint64(a.Minor), "" // without the sign it holds the smallest amount, too
	if a.Minor < 0 {
		n, sign = -n, "-"
	}
	whole, rest := n/unit, n%unit
	if d == 0 {
		return fmt.Sprintf("%s%d", sign, whole)
	}
	return fmt.Sprintf("%s%d.%0*d", sign, whole, d, rest)
}

// Percent writes basis points as a decimal number of percent: 1600 is "16", 750 is "7.5".
func Percent(basisPoints int64) string {
	text := fmt.Sprintf("%d.%02d", basisPoints/100, basisPoints%100)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Number is the amount in major units as a JSON number, for the API.
func (a Amount) Number() json.Number { return json.Number(a.Decimal()) }

// String has the currency and all decimals, for people: "KES 1500.00".
func (a Amount) String() string { return string(a.Currency) + " " + a.Decimal() }

// same is the currency of two amounts. A zero amount without a currency takes that of the other. Mixing currencies is a
// programming error and panics: the commands of an account accept one currency only.
func same(a, b Amount) Currency {
	switch {
	case a.Currency == b.Currency, b.Currency == "" && b.Minor == 0:
		return a.Currency
	case a.Currency == "" && a.Minor == 0:
		return b.Currency
	}
	panic("money: " + string(a.Currency) + " with " + string(b.Currency))
}

// Add panics when the currencies differ. Overflow is not checked.
func (a Amount) Add(b Amount) Amount { return Amount{a.Minor + b.Minor, same(a, b)} }

// Sub subtracts b; the result may be negative. It panics when the currencies differ.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Minor - b.Minor, same(a, b)} }

// Neg changes the sign, as for a reversal.
func (a Amount) Neg() Amount { return Amount{-a.Minor, a.Currency} }

// Times multiplies by a whole number, which may be negative. Overflow is not checked.
func (a Amount) Times(n int64) Amount { return Amount{a.Minor * n, a.Currency} }

// Min panics when the currencies differ.
func (a Amount) Min(b Amount) Amount {
	if c := same(a, b); b.Minor < a.Minor {
		return Amount{b.Minor, c}
	}
	return Amount{a.Minor, same(a, b)}
}

// Cmp is -1, 0 or 1 when a is less than, equal to or greater than b. It panics when the currencies differ.
func (a Amount) Cmp(b Amount) int {
	same(a, b)
	switch {
	case a.Minor < b.Minor:
		return -1
	case a.Minor > b.Minor:
		return 1
	}
	return 0
}

// IsZero reports whether the amount is 0, in whatever currency.
func (a Amount) IsZero() bool { return a.Minor == 0 }

// Positive reports whether the amount is above 0.
func (a Amount) Positive() bool { return a.Minor > 0 }

// Negative reports whether the amount is below 0.
func (a Amount) Negative() bool { return a.Minor < 0 }

// MulDivRounded is a × num / den, rounded to minor units, half away from zero. den must be positive. It panics when
// int64 minor units cannot hold the result.
func (a Amount) MulDivRounded(num, den int64) Amount {
	n := new(big.Int).Mul(big.NewInt(a.Minor), big.NewInt(num))
	d := big.NewInt(den)
	neg := n.Sign() < 0
	n.Abs(n)
	n.Mul(n, big.NewInt(2)).Add(n, d)
	n.Quo(n, new(big.Int).Mul(d, big.NewInt(2)))
	if neg {
		n.Neg(n)
	}
	if !n.IsInt64() {
		panic(fmt.Sprintf("money: %s times %d by %d is out of range", a, num, den))
	}
	return Amount{n.Int64(), a.Currency}
}

// CeilMajor rounds up to whole major units, because a payment prompt has no decimals. Negative amounts go towards zero.
func (a Amount) CeilMajor() Amount {
	unit := a.Currency.Unit()
	if r := a.Minor % unit; r > 0 {
		return Amount{a.Minor - r + unit, a.Currency}
	}
	return Amount{a.Minor - a.Minor%unit, a.Currency}
}

// Split divides the amount in proportion to the weights. The parts sum to the whole; the first parts get the remainder,
// one minor unit each. A weight of 0 gets 0. Weights must not be negative, and at least one must be positive.
func (a Amount) Split(weights ...int64) []Amount {
	var total int64
	for _, w := range weights {
		total += w
	}
	parts := make([]Amount, len(weights))
	left := a.Minor
	for i, w := range weights {
		share := new(big.Int).Mul(big.NewInt(a.Minor), big.NewInt(w))
		parts[i] = Amount{share.Quo(share, big.NewInt(total)).Int64(), a.Currency}
		left -= parts[i].Minor
	}
	step := int64(1)
	if left < 0 {
		step = -1
	}
	for i := 0; left != 0; i = (i + 1) % len(parts) {
		if weights[i] > 0 {
			parts[i].Minor += step
			left -= step
		}
	}
	return parts
}
