// Package money is exact amounts: int64 minor units of one currency, no floats. Rounding is half up, away from zero,
// and only where a function's name says that it rounds.
package money

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Amount is minor units of a currency. The zero value is nothing, of any currency.
type Amount struct {
	Minor    int64    `json:"minor"`
	Currency Currency `json:"currency"`
}

// Currency is an ISO 4217 code in capitals.
type Currency string

// KES is the Kenya shilling.
const KES Currency = "KES"

// decimals of the currencies that an organization may choose. Source: ISO 4217.
var decimals = map[Currency]int{
	"KES": 2, "UGX": 0, "TZS": 2, "RWF": 0, "ETB": 2, "NGN": 2, "GHS": 2, "ZAR": 2, "ZMW": 2, "MZN": 2,
	"USD": 2, "EUR": 2, "GBP": 2, "XAF": 0, "XOF": 0, "BIF": 0, "SSP": 2, "CDF": 2, "MWK": 2,
}

// Known tells whether an organization may bill in the currency.
func (c Currency) Known() bool { _, ok := decimals[c]; return ok }

// Decimals is the number of decimals of the currency, 2 when unknown.
func (c Currency) Decimals() int {
	if d, ok := decimals[c]; ok {
		return d
	}
	return 2
}

// Unit is the number of minor units in a major one.
func (c Currency) Unit() int64 { return int64(math.Pow10(c.Decimals())) }

// Of makes an amount of minor units.
func Of(minor int64, c Currency) Amount { return Amount{minor, c} }

// Major makes an amount of whole major units.
func Major(units int64, c Currency) Amount { return Amount{units * c.Unit(), c} }

// Parse reads a decimal number in major units ("1500", "-3.50"). More decimals than the currency has are an error, also
// when they are zeros past it ("1.000" KES); exponents are refused.
func Parse(text string, c Currency) (Amount, error) {
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
	if !ok || !n.IsInt64() {
		return Amount{}, fmt.Errorf("amount %q is out of range", text)
	}
	minor := n.Int64()
	if digits != text {
		minor = -minor
	}
	return Amount{minor, c}, nil
}

// allDigits tells whether a text has nothing but ASCII digits.
func allDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// Decimal is the amount in major units with all decimals: "1500.00".
func (a Amount) Decimal() string {
	unit, d := a.Currency.Unit(), a.Currency.Decimals()
	n, sign := a.Minor, ""
	if n < 0 {
		sign = "-"
	}
	whole, rest := n/unit, n%unit
	if whole < 0 {
		whole = -whole
	}
	if rest < 0 {
		rest = -rest
	}
	if d == 0 {
		return fmt.Sprintf("%s%d", sign, whole)
	}
	return fmt.Sprintf("%s%d.%0*d", sign, whole, d, rest)
}

// Number is the amount in major units as a JSON number, for the API.
func (a Amount) Number() json.Number { return json.Number(a.Decimal()) }

// String is "KES 1500.00".
func (a Amount) String() string { return string(a.Currency) + " " + a.Decimal() }

// same is the currency of two amounts; a zero amount without currency takes the other's. Mixing currencies is a
// programming error: guards at the edge keep an account to one currency.
func same(a, b Amount) Currency {
	switch {
	case a.Currency == b.Currency, b.Currency == "" && b.Minor == 0:
		return a.Currency
	case a.Currency == "" && a.Minor == 0:
		return b.Currency
	}
	panic("money: " + string(a.Currency) + " with " + string(b.Currency))
}

// Add is a + b.
func (a Amount) Add(b Amount) Amount { return Amount{a.Minor + b.Minor, same(a, b)} }

// Sub is a - b.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Minor - b.Minor, same(a, b)} }

// Neg is -a.
func (a Amount) Neg() Amount { return Amount{-a.Minor, a.Currency} }

// Times is a × n.
func (a Amount) Times(n int64) Amount { return Amount{a.Minor * n, a.Currency} }

// Min is the smaller of two.
func (a Amount) Min(b Amount) Amount {
	if c := same(a, b); b.Minor < a.Minor {
		return Amount{b.Minor, c}
	}
	return Amount{a.Minor, same(a, b)}
}

// Cmp is -1, 0 or 1.
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

// IsZero tells whether there is no money, whatever the currency.
func (a Amount) IsZero() bool { return a.Minor == 0 }

// Positive tells whether it is more than nothing.
func (a Amount) Positive() bool { return a.Minor > 0 }

// Negative tells whether it is less than nothing.
func (a Amount) Negative() bool { return a.Minor < 0 }

// MulDivRounded is a × num / den, rounded half away from zero. den must be positive.
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
	return Amount{n.Int64(), a.Currency}
}

// CeilMajor is the amount rounded up to whole major units: what a payment prompt asks for.
func (a Amount) CeilMajor() Amount {
	unit := a.Currency.Unit()
	if r := a.Minor % unit; r > 0 {
		return Amount{a.Minor - r + unit, a.Currency}
	}
	return Amount{a.Minor - a.Minor%unit, a.Currency}
}

// Split divides the amount in proportion to the weights; the parts sum to the whole, the earlier parts take the
// remainder. Weights must not be negative and must not all be zero.
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
