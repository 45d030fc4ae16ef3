package money_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// FuzzParse compares with exact arithmetic: an accepted text is that amount and nothing else, and it is written as a
// text that gives it again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"0", "-0", "1500", "0.5", "-3.50", "250000.00", "92233720368547758.07", "92233720368547758.08",
		"-92233720368547758.08", "007", "1e3", "1.005", "+1", "0x1", "1_0", ".5", "5.", "\u0661",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, cents bool) {
		currency := money.KES
		if !cents {
			currency = "UGX"
		}
		got, err := money.Parse(text, currency)
		if err != nil {
			if got != (money.Amount{}) {
				t.Fatalf("%q is refused and %v", text, got)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		unit := new(big.Rat).SetInt64(currency.Unit())
		if !ok || want.Mul(want, unit).Cmp(new(big.Rat).SetInt64(got.Minor)) != 0 || got.Currency != currency {
			t.Fatalf("%q is %d minor units of %s", text, got.Minor, got.Currency)
		}
		if again, err := money.Parse(got.Decimal(), currency); err != nil || again != got {
			t.Fatalf("%q is written as %q and read as %v, %v", text, got.Decimal(), again, err)
		}
	})
}

// FuzzDecimal checks that every amount that can be stored is written exactly.
func FuzzDecimal(f *testing.F) {
	for _, seed := range []int64{0, 1, -1, 99, -100, math.MaxInt64, math.MinInt64} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, minor int64) {
		for _, currency := range []money.Currency{money.KES, "UGX"} {
			a := money.Of(minor, currency)
			if again, err := money.Parse(a.Decimal(), currency); err != nil || again != a {
				t.Fatalf("%d minor units of %s are %q, and read as %v, %v", minor, currency, a.Decimal(), again, err)
			}
		}
	})
}

// FuzzSplit checks that the parts of an amount sum to it, and that each is its share but for some minor units.
func FuzzSplit(f *testing.F) {
	f.Add(int64(100), uint32(1), uint32(1), uint32(1))
	f.Add(int64(-101), uint32(7), uint32(0), uint32(3))
	f.Add(int64(math.MaxInt64), uint32(1), uint32(math.MaxUint32), uint32(2))
	f.Fuzz(func(t *testing.T, minor int64, a, b, c uint32) {
		weights := []int64{int64(a), int64(b), int64(c)}
		total := weights[0] + weights[1] + weights[2]
		if total == 0 {
			return
		}
		sum := int64(0)
		for i, part := range money.Of(minor, money.KES).Split(weights...) {
			sum += part.Minor
			whole := new(big.Int).Mul(big.NewInt(minor), big.NewInt(weights[i]))
			off := new(big.Rat).SetFrac(whole, big.NewInt(total))
			off.Sub(off, new(big.Rat).SetInt64(part.Minor)).Abs(off)
			if off.Cmp(big.NewRat(3, 1)) >= 0 || weights[i] == 0 && !part.IsZero() {
				t.Fatalf("%d by %v: part %d is %v", minor, weights, i, part)
			}
		}
		if sum != minor {
			t.Fatalf("%d by %v: the parts sum to %d", minor, weights, sum)
		}
	})
}

// FuzzMulDivRounded compares with exact arithmetic. A result that cannot be counted is a panic, never a wrong amount.
func FuzzMulDivRounded(f *testing.F) {
	f.Add(int64(5), int64(1), int64(2))
	f.Add(int64(-150_000), int64(16), int64(116))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(1))
	f.Add(int64(math.MinInt64), int64(-1), int64(1))
	f.Fuzz(func(t *testing.T, minor, num, den int64) {
		if den <= 0 {
			return
		}
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(minor), big.NewInt(num)), big.NewInt(den))
		half := big.NewRat(1, 2)
		if exact.Sign() < 0 {
			half.Neg(half)
		}
		exact.Add(exact, half)
		want := new(big.Int).Quo(exact.Num(), exact.Denom())
		defer func() {
			if p := recover(); (p != nil) == want.IsInt64() {
				t.Fatalf("%d × %d / %d: %v", minor, num, den, p)
			}
		}()
		if got := money.Of(minor, money.KES).MulDivRounded(num, den); want.IsInt64() && got.Minor != want.Int64() {
			t.Errorf("%d × %d / %d is %v, want %s", minor, num, den, got, want)
		}
	})
}
